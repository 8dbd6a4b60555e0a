mod registry;

use kube_core::Resource;

pub(crate) use registry::Outcome;
pub use registry::{Finalization, FinalizeError, Finalized, FinalizerError, Finalizers};

/// Whether the object has the finalizer.
pub fn has_finalizer<K: Resource>(object: &K, finalizer: &str) -> bool {
    object.meta().finalizers.iter().flatten().any(|present| present == finalizer)
}

/// Adds the finalizer to the object in memory. Says whether that changed it.
pub fn add_finalizer<K: Resource>(object: &mut K, finalizer: &str) -> bool {
    if has_finalizer(object, finalizer) {
        return false;
    }
    object.meta_mut().finalizers.get_or_insert_default().push(finalizer.to_owned());
    true
}

/// Removes the finalizer from the object in memory. Says whether that changed it.
pub fn remove_finalizer<K: Resource>(object: &mut K, finalizer: &str) -> bool {
    if !has_finalizer(object, finalizer) {
        return false;
    }
    if let Some(finalizers) = &mut object.meta_mut().finalizers {
        finalizers.retain(|present| present != finalizer);
    }
    true
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::{add_finalizer, has_finalizer, remove_finalizer};

    #[test]
    fn finalizers_come_once_and_go() {
        let mut object = ConfigMap::default();
        assert!(!has_finalizer(&object, "ref.dev/a"));
        assert!(!remove_finalizer(&mut object, "ref.dev/a"));
        assert!(add_finalizer(&mut object, "ref.dev/a"));
        assert!(!add_finalizer(&mut object, "ref.dev/a"));
        assert!(add_finalizer(&mut object, "ref.dev/b"));
        assert!(remove_finalizer(&mut object, "ref.dev/a"));
        assert_eq!(object.metadata.finalizers.unwrap(), ["ref.dev/b"]);
    }
}
