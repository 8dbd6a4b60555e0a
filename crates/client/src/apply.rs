use controller_runtime_scheme::{ConversionError, Kind, Object, with_type};
use serde_json::Value;

use crate::set_fields::set_fields;

/// What is sent for an object that is applied: its `apiVersion`, its `kind` and the fields that are set.
///
/// A field that is `None` is left out, also where its type would serialise it as a null: applying a null would claim the
/// field. A null inside free JSON, as in an unstructured object, is what somebody wrote, and stays.
/// `metadata.managedFields` is left out, because the server refuses it, and so is `metadata.creationTimestamp`, which
/// is the server's.
pub(crate) fn configuration<K: Object>(kind: &Kind<K>, object: &K) -> Result<Value, ConversionError> {
    let Ok(Value::Object(mut fields)) = set_fields(object) else {
        // It does not serialise, and this says why.
        return with_type(kind, object);
    };
    fields.insert("apiVersion".to_owned(), kind.resource().api_version.clone().into());
    fields.insert("kind".to_owned(), kind.name().into());
    if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
        metadata.remove("managedFields");
        metadata.remove("creationTimestamp");
    }
    Ok(Value::Object(fields))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use controller_runtime_scheme::{Kind, Unstructured};
    use k8s_openapi::api::core::v1::ConfigMap;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta};
    use kube_core::discovery::Scope;
    use kube_core::{ApiResource, DynamicResourceScope, GroupVersionKind, Resource};
    use serde::{Deserialize, Serialize};
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
    fn an_unset_field_is_not_sent_and_a_written_null_is() {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("ref.dev", "v1", "App"));
        let kind = Kind::dynamic(resource, Scope::Namespaced);
        let mut object = Unstructured::new("a", kind.resource());
        object.types = None;
        object.data = json!({"spec": {"color": null, "list": [{"a": null, "b": 1}, null]}});
        let sent = json!({
            "apiVersion": "ref.dev/v1", "kind": "App", "metadata": {"name": "a"},
            "spec": {"color": null, "list": [{"a": null, "b": 1}, null]},
        });
        assert_eq!(configuration(&kind, &object).unwrap(), sent);

        let kind = Kind::<App>::new(kind.resource().clone(), Scope::Namespaced);
        let app = App { metadata: object.metadata, spec: AppSpec { color: None, size: Some(1) } };
        let sent = json!({
            "apiVersion": "ref.dev/v1", "kind": "App", "metadata": {"name": "a"}, "spec": {"size": 1},
        });
        assert_eq!(configuration(&kind, &app).unwrap(), sent);
    }

    /// As a type derived for a custom resource, whose options serialise to nulls.
    #[derive(Clone, Debug, Serialize, Deserialize)]
    struct App {
        metadata: ObjectMeta,
        spec: AppSpec,
    }

    #[derive(Clone, Debug, Serialize, Deserialize)]
    struct AppSpec {
        color: Option<String>,
        size: Option<u32>,
    }

    impl Resource for App {
        type DynamicType = ApiResource;
        type Scope = DynamicResourceScope;

        fn kind(resource: &ApiResource) -> Cow<'_, str> {
            (&resource.kind).into()
        }
        fn group(resource: &ApiResource) -> Cow<'_, str> {
            (&resource.group).into()
        }
        fn version(resource: &ApiResource) -> Cow<'_, str> {
            (&resource.version).into()
        }
        fn plural(resource: &ApiResource) -> Cow<'_, str> {
            (&resource.plural).into()
        }
        fn meta(&self) -> &ObjectMeta {
            &self.metadata
        }
        fn meta_mut(&mut self) -> &mut ObjectMeta {
            &mut self.metadata
        }
    }
}
