use controller_runtime_scheme::{ConversionError, Kind, Object, with_type};
use serde_json::Value;

/// What is sent for an object that is applied: its `apiVersion`, its `kind` and the fields that are set.
///
/// Members that are null are left out everywhere: in types with optional fields null means "not set", and applying a
/// null would claim the field. `metadata.managedFields` is left out, because the server refuses it, and so is
/// `metadata.creationTimestamp`, which is the server's.
pub(crate) fn configuration<K: Object>(kind: &Kind<K>, object: &K) -> Result<Value, ConversionError> {
    let mut value = with_type(kind, object)?;
    drop_nulls(&mut value);
    if let Some(Value::Object(metadata)) = value.get_mut("metadata") {
        metadata.remove("managedFields");
        metadata.remove("creationTimestamp");
    }
    Ok(value)
}

fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use controller_runtime_scheme::{Kind, Unstructured};
    use k8s_openapi::api::core::v1::ConfigMap;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta};
    use kube_core::{ApiResource, GroupVersionKind, discovery::Scope};
    use serde_json::json;

    use super::configuration;

    #[test]
    fn a_typed_object_is_sent_with_its_type_and_without_managed_fields() {
        let object = ConfigMap {
            metadata: ObjectMeta {
                name: Some("a".to_owned()),
                managed_fields: Some(vec![ManagedFieldsEntry::default()]),
                ..ObjectMeta::default()
            },
            ..ConfigMap::default()
        };
        assert_eq!(
            configuration(&Kind::typed(), &object).unwrap(),
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})
        );
    }

    #[test]
    fn nulls_are_not_sent() {
        let kind =
            Kind::dynamic(ApiResource::from_gvk(&GroupVersionKind::gvk("ref.dev", "v1", "App")), Scope::Namespaced);
        let mut object = Unstructured::new("a", kind.resource());
        object.types = None;
        object.data = json!({"spec": {"color": null, "list": [{"a": null, "b": 1}, null]}});
        assert_eq!(
            configuration(&kind, &object).unwrap(),
            json!({
                "apiVersion": "ref.dev/v1", "kind": "App", "metadata": {"name": "a"},
                "spec": {"list": [{"b": 1}, null]},
            })
        );
    }
}
