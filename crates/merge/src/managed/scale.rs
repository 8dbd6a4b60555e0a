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
/// and whoever took them gets an entry in `api_version`. As in kube-apiserver, such an entry has no time unless it had
/// one before.
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
    for (id, owned) in &mut scale.0 {
        owned.time = managers.0.get(id).and_then(|before| before.time.clone());
    }
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ScaleFields, scale_fields_of, with_scale_fields};
    use crate::field::FieldPath;
    use crate::managed::entry::ManagedField;

    fn entry(manager: &str, operation: &str, fields: &Value, subresource: Option<&str>) -> Value {
        let mut entry = json!({
            "manager": manager, "operation": operation, "apiVersion": "ref.dev/v1", "fieldsType": "FieldsV1",
            "fieldsV1": {"f:spec": fields},
        });
        if let Some(subresource) = subresource {
            entry["subresource"] = json!(subresource);
        }
        entry
    }

    fn of_scale(mut entry: Value) -> Value {
        entry["apiVersion"] = json!("autoscaling/v1");
        entry
    }

    fn decode(entries: &[Value]) -> Vec<ManagedField> {
        ManagedField::all_from_json(&json!(entries)).unwrap()
    }

    #[test]
    fn ownership_moves_between_a_resource_and_its_scale() {
        let count = || json!({"f:count": {}});
        let replicas = || json!({"f:replicas": {}});
        let both = || json!({"f:color": {}, "f:count": {}});
        let color = || json!({"f:color": {}});
        let paths = ScaleFields::from([("ref.dev/v1".to_owned(), FieldPath::fields(["spec", "count"]))]);
        let creator = entry("c1", "Update", &both(), None);
        let applier = entry("m1", "Apply", &count(), None);
        let scaler = entry("s1", "Update", &count(), Some("scale"));

        let seen = scale_fields_of(decode(&[applier.clone(), creator.clone()]), &paths);
        let applier_of_scale = of_scale(entry("m1", "Apply", &replicas(), None));
        let creator_of_scale = of_scale(entry("c1", "Update", &replicas(), None));
        assert_eq!(seen, decode(&[applier_of_scale.clone(), creator_of_scale.clone()]));

        let scaler_of_scale = of_scale(entry("s1", "Update", &replicas(), Some("scale")));
        let cases = [
            // The scaler takes the replicas from everybody.
            (vec![scaler_of_scale.clone()], vec![scaler.clone(), entry("c1", "Update", &color(), None)]),
            // The applier of the resource keeps them.
            (
                vec![applier_of_scale, scaler_of_scale],
                vec![applier.clone(), entry("c1", "Update", &color(), None), scaler],
            ),
            // Nobody has them any more.
            (vec![], vec![entry("c1", "Update", &color(), None)]),
        ];
        for (scale, expected) in cases {
            let parent = decode(&[applier.clone(), creator.clone()]);
            let mut result = with_scale_fields(parent, decode(&scale), "ref.dev/v1", &paths);
            let mut expected = decode(&expected);
            result.sort_by(|left, right| left.manager.cmp(&right.manager));
            expected.sort_by(|left, right| left.manager.cmp(&right.manager));
            assert_eq!(result, expected, "{scale:?}");
        }
    }
}
