use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::key::ObjectKey;
use crate::kind::Kind;
use crate::object::{Object, Unstructured};

/// An object does not fit its Rust type, or the type does not serialise to an object.
///
/// Retrying cannot help: the object, its custom resource definition or the type must change.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {kind} {key}{}: {source}", at(path))]
pub struct ConversionError {
    action: Action,
    kind: String,
    key: ObjectKey,
    path: String,
    source: serde_json::Error,
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Decode,
    Encode,
}

impl std::fmt::Display for Action {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Decode => "decode",
            Self::Encode => "encode",
        })
    }
}

fn at(path: &str) -> String {
    if path.is_empty() || path == "." { String::new() } else { format!(" at {path}") }
}

impl ConversionError {
    /// The kind's name, as the caller gave it.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The object's namespace and name, as far as they could be read.
    pub fn key(&self) -> &ObjectKey {
        &self.key
    }

    /// The JSON path of the field that did not fit, for example `spec.replicas`; empty where none is known.
    pub fn path(&self) -> &str {
        &self.path
    }
}

/// An object from its JSON text. `kind` is for the error's message.
pub fn decode<K: DeserializeOwned>(kind: &str, json: &[u8]) -> Result<K, ConversionError> {
    // The plain parse is the fast way. Only a failure pays for finding out where it was.
    serde_json::from_slice(json).map_err(|source| {
        let path = serde_path_to_error::deserialize::<_, K>(&mut serde_json::Deserializer::from_slice(json))
            .err()
            .map(|error| error.path().to_string())
            .unwrap_or_default();
        ConversionError { action: Action::Decode, kind: kind.to_owned(), key: key_in(json), path, source }
    })
}

/// Just enough of an object to name it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Named {
    metadata: NamedMeta,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct NamedMeta {
    namespace: Option<String>,
    name: String,
}

fn key_in(json: &[u8]) -> ObjectKey {
    let named: Named = serde_json::from_slice(json).unwrap_or_default();
    ObjectKey { namespace: named.metadata.namespace, name: named.metadata.name }
}

/// A typed object as an unstructured one, with its `apiVersion` and `kind`.
pub fn to_unstructured<K: Object>(kind: &Kind<K>, object: &K) -> Result<Unstructured, ConversionError> {
    let value = with_type(kind, object)?;
    Unstructured::deserialize(value).map_err(|source| ConversionError {
        action: Action::Encode,
        kind: kind.name().to_owned(),
        key: ObjectKey::of(object),
        path: String::new(),
        source,
    })
}

/// An unstructured object as a typed one.
pub fn from_unstructured<K: Object>(kind: &Kind<K>, object: Unstructured) -> Result<K, ConversionError> {
    let key = ObjectKey::of(&object);
    let failed = |path: String, source| ConversionError {
        action: Action::Decode,
        kind: kind.name().to_owned(),
        key: key.clone(),
        path,
        source,
    };
    let value = serde_json::to_value(object).map_err(|source| failed(String::new(), source))?;
    serde_path_to_error::deserialize(value).map_err(|error| failed(error.path().to_string(), error.into_inner()))
}

/// An object as JSON with its `apiVersion` and `kind`, which types of their own may leave out.
pub fn with_type<K: Object>(kind: &Kind<K>, object: &K) -> Result<Value, ConversionError> {
    let failed = |source| ConversionError {
        action: Action::Encode,
        kind: kind.name().to_owned(),
        key: ObjectKey::of(object),
        path: String::new(),
        source,
    };
    let mut value = serde_json::to_value(object).map_err(failed)?;
    if let Value::Object(fields) = &mut value {
        fields.insert("apiVersion".to_owned(), kind.resource().api_version.clone().into());
        fields.insert("kind".to_owned(), kind.name().into());
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::apps::v1::Deployment;
    use serde_json::json;

    use super::{decode, from_unstructured, to_unstructured};
    use crate::{Kind, ObjectKey, Unstructured};

    #[test]
    fn typed_and_unstructured_are_the_same_object() {
        let kind = Kind::<Deployment>::typed();
        let json = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"namespace": "ns", "name": "web"},
            "spec": {"replicas": 3, "selector": {}, "template": {}},
        });
        let typed: Deployment = serde_json::from_value(json.clone()).unwrap();
        let unstructured = to_unstructured(&kind, &typed).unwrap();
        assert_eq!(serde_json::to_value(&unstructured).unwrap(), json);
        assert_eq!(from_unstructured(&kind, unstructured).unwrap(), typed);
    }

    #[test]
    fn an_error_names_the_object_and_the_path() {
        let json = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"namespace": "ns", "name": "web"},
            "spec": {"replicas": "three", "selector": {}, "template": {}},
        });
        let from_text = decode::<Deployment>("Deployment", json.to_string().as_bytes()).unwrap_err();
        assert_eq!((from_text.path(), from_text.key()), ("spec.replicas", &ObjectKey::namespaced("ns", "web")));

        let object: Unstructured = serde_json::from_value(json).unwrap();
        let error = from_unstructured(&Kind::<Deployment>::typed(), object).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot decode Deployment ns/web at spec.replicas: invalid type: string \"three\", expected i32"
        );
    }
}
