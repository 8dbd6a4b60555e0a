//! Managed fields seen through the scale subresource.

use std::collections::BTreeMap;

use crate::field::{FieldPath, FieldSet};

use super::entry::ManagedField;
use super::managers::Managers;

const SCALE_VERSION: &str = "autoscaling/v1";

/// Where a resource keeps the replicas that its scale subresource shows, by the resource's apiVersion.
pub type ScaleFields = BTreeMap<String, FieldPath>;

/// The managed fields of a Scale: those managers of the resource that own its replicas.
pub fn scale_fields_of(parent: Vec<ManagedField>, replicas: &ScaleFields) -> Vec<ManagedField> {
    let mut managers = Managers::from_entries(parent);
    managers.0.retain(|_, owned| replicas.get(&owned.api_version).is_some_and(|path| owned.fields.has(path)));
    for owned in managers.0.values_mut() {
        owned.fields = [replicas_of_scale()].into_iter().collect();
        SCALE_VERSION.clone_into(&mut owned.api_version);
    }
    managers.into_entries()
}

/// The managed fields of a resource after its Scale was written: who no longer owns the replicas there loses them here,
/// and whoever took them gets an entry in `api_version`.
///
/// Entries of a version that `replicas` doesn't know are dropped.
pub fn with_scale_fields(
    parent: Vec<ManagedField>,
    scale: Vec<ManagedField>,
    api_version: &str,
    replicas: &ScaleFields,
) -> Vec<ManagedField> {
    let mut managers = Managers::from_entries(parent);
    let mut scale = Managers::from_entries(scale);
    managers.0.retain(|id, owned| {
        let Some(path) = replicas.get(&owned.api_version) else { return false };
        if owned.fields.has(path) && scale.0.remove(id).is_none() {
            let taken: FieldSet = [path.clone()].into_iter().collect();
            owned.fields = owned.fields.difference(&taken);
            return !owned.fields.is_empty();
        }
        true
    });
    for (id, mut owned) in scale.0 {
        if let Some(path) = replicas.get(api_version).filter(|_| owned.fields.has(&replicas_of_scale())) {
            owned.fields = [path.clone()].into_iter().collect();
            api_version.clone_into(&mut owned.api_version);
            managers.0.insert(id, owned);
        }
    }
    managers.into_entries()
}

fn replicas_of_scale() -> FieldPath {
    FieldPath::fields(["spec", "replicas"])
}
