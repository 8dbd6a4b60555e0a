use std::fmt;

use kube_core::{ObjectMeta, Resource};

/// An object's namespace and name: what tells it from the other objects of its kind.
///
/// Prints as `namespace/name`, or as `name` for an object of a cluster-scoped kind. Sorts by namespace, then name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// The namespace; none for objects of cluster-scoped kinds.
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

impl ObjectKey {
    /// The key of an object in a namespace.
    pub fn namespaced(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self { namespace: Some(namespace.into()), name: name.into() }
    }

    /// The key of an object of a cluster-scoped kind.
    pub fn cluster(name: impl Into<String>) -> Self {
        Self { namespace: None, name: name.into() }
    }

    /// The key in an object's metadata. The name is empty where the object has none yet.
    pub fn of<K: Resource>(object: &K) -> Self {
        Self::from_meta(object.meta())
    }

    pub(crate) fn from_meta(meta: &ObjectMeta) -> Self {
        Self {
            namespace: meta.namespace.clone().filter(|namespace| !namespace.is_empty()),
            name: meta.name.clone().unwrap_or_default(),
        }
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{namespace}/{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl From<&ObjectKey> for ObjectKey {
    fn from(key: &ObjectKey) -> Self {
        key.clone()
    }
}

/// Namespace and name of an object of a namespaced kind.
impl From<(&str, &str)> for ObjectKey {
    fn from((namespace, name): (&str, &str)) -> Self {
        Self::namespaced(namespace, name)
    }
}

#[cfg(test)]
mod tests {
    use super::ObjectKey;

    #[test]
    fn keys_sort_by_namespace_then_name() {
        let mut keys = [ObjectKey::namespaced("b", "a"), ObjectKey::namespaced("a", "z"), ObjectKey::cluster("m")];
        keys.sort();
        assert_eq!(keys.map(|key| key.to_string()), ["m", "a/z", "b/a"]);
    }
}
