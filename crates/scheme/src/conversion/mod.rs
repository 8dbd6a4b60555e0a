mod error;
mod mismatch;
mod node;
mod path;
mod required;
mod zero;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::key::ObjectKey;
use crate::kind::Kind;
use crate::object::{Object, Unstructured};
pub use error::ConversionError;
use error::{Action, Cause, Details};
use mismatch::{Difference, Mismatch};
use node::{Node, Rules};
use path::Path;
pub(crate) use required::RequiredField;

/// So many missing fields are filled at most, and none in an object that is so deep: only a type that contains itself
/// has more.
const MAX_FILLED: usize = 1000;
const MAX_DEPTH: usize = 64;

/// What a conversion to a typed object lets pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// A field that the type doesn't know is dropped, and one that it requires and the object lacks gets its zero value: 0,
    /// "", false, an empty list or map, an object of zero values. What has the wrong type is an error all the same, and
    /// so is a missing enum or time, which have no zero value.
    Lenient,
    /// Unknown and missing fields are errors too. Which fields are required, the type's `Deserialize` says, and the list
    /// that was given to [`Scheme::require`](crate::Scheme::require): the types of k8s-openapi require none by
    /// themselves. A type with flattened fields knows all fields.
    Strict,
}

/// An object from its JSON text, as the type's `Deserialize` does it. `kind` is for the error's message.
pub fn decode<K: DeserializeOwned>(kind: &str, json: &[u8]) -> Result<K, ConversionError> {
    // The plain parse is the fast way. Only a failure pays for finding out where it was.
    serde_json::from_slice(json).map_err(|source| {
        let located = serde_json::from_slice::<Value>(json).ok().and_then(|value| {
            K::deserialize(Node { value: &value, path: &Path::Root, rules: &Rules::default() }).err()
        });
        let cause = located.map_or(Cause::Json(source), Cause::Mismatch);
        failed(Action::Decode, kind, key_in(json), cause)
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

fn failed(action: Action, kind: &str, key: ObjectKey, cause: Cause) -> ConversionError {
    let path = match &cause {
        Cause::Mismatch(mismatch) | Cause::Kind(mismatch) => mismatch.path.clone().unwrap_or_default(),
        Cause::Json(_) => String::new(),
    };
    ConversionError::new(Details { action, kind: kind.to_owned(), key, path, cause })
}

/// A typed object as an unstructured one, with its `apiVersion` and `kind`.
pub fn to_unstructured<K: Object>(kind: &Kind<K>, object: &K) -> Result<Unstructured, ConversionError> {
    let value = with_type(kind, object)?;
    Unstructured::deserialize(Node { value: &value, path: &Path::Root, rules: &Rules::default() })
        .map_err(|mismatch| failed(Action::Encode, kind.name(), ObjectKey::of(object), mismatch.into()))
}

/// An unstructured object as a typed one, lenient or strict. The object's `apiVersion` and `kind` must be the type's;
/// only a lenient conversion takes an object that has none.
///
/// Which fields a strict conversion requires, the type alone decides here: a [`Scheme`](crate::Scheme) knows more.
pub fn from_unstructured<K: Object>(
    kind: &Kind<K>,
    object: &Unstructured,
    strictness: Strictness,
) -> Result<K, ConversionError> {
    convert(kind, object, strictness, &[])
}

/// [`from_unstructured`] with a list of fields that a strict conversion requires.
pub(crate) fn convert<K: Object>(
    kind: &Kind<K>,
    object: &Unstructured,
    strictness: Strictness,
    required: &[RequiredField],
) -> Result<K, ConversionError> {
    let failed = |cause| failed(Action::Decode, kind.name(), ObjectKey::of(object), cause);
    check_kind(kind, object, strictness).map_err(|mismatch| failed(Cause::Kind(mismatch)))?;
    let value = serde_json::to_value(object).map_err(|source| failed(source.into()))?;
    let converted = match strictness {
        Strictness::Lenient => lenient(&value),
        Strictness::Strict => strict(&value).and_then(|converted| {
            required.iter().try_for_each(|field| field.check(&value))?;
            Ok(converted)
        }),
    };
    converted.map_err(|mismatch| failed(mismatch.into()))
}

fn check_kind<K: Object>(kind: &Kind<K>, object: &Unstructured, strictness: Strictness) -> Result<(), Mismatch> {
    let Some(types) = &object.types else {
        return match strictness {
            Strictness::Lenient => Ok(()),
            Strictness::Strict => Err(Mismatch::missing(&Path::Root, "kind")),
        };
    };
    let pairs = [
        ("apiVersion", &kind.resource().api_version, &types.api_version),
        ("kind", &kind.resource().kind, &types.kind),
    ];
    pairs.into_iter().try_for_each(|(field, expected, found)| {
        if expected == found {
            return Ok(());
        }
        let what = Difference::Value { expected: format!("{expected:?}"), found: format!("string {found:?}") };
        Err(Mismatch { path: Some(field.to_owned()), what })
    })
}

fn strict<K: DeserializeOwned>(value: &Value) -> Result<K, Mismatch> {
    K::deserialize(Node { value, path: &Path::Root, rules: &Rules { refuse_unknown: true, ..Rules::default() } })
}

/// Converts again with a zero value in the place of the field that is missing, until none is.
fn lenient<K: DeserializeOwned>(value: &Value) -> Result<K, Mismatch> {
    let mut rules = Rules::default();
    for _ in 0..MAX_FILLED {
        let mismatch = match K::deserialize(Node { value, path: &Path::Root, rules: &rules }) {
            Ok(converted) => return Ok(converted),
            Err(mismatch) => mismatch,
        };
        let Some(parent) = mismatch.parent() else { return Err(mismatch) };
        let Difference::Missing { field } = &mismatch.what else { return Err(mismatch) };
        let too_deep = parent.matches('.').count() >= MAX_DEPTH;
        let fields = rules.fill.entry(parent).or_default();
        if fields.contains(field) || too_deep {
            // It has no zero value.
            return Err(mismatch);
        }
        fields.push(field.clone());
    }
    K::deserialize(Node { value, path: &Path::Root, rules: &rules })
}

/// An object as JSON with its `apiVersion` and `kind`, which types of their own may leave out.
pub fn with_type<K: Object>(kind: &Kind<K>, object: &K) -> Result<Value, ConversionError> {
    let mut value = serde_json::to_value(object)
        .map_err(|source| failed(Action::Encode, kind.name(), ObjectKey::of(object), source.into()))?;
    if let Value::Object(fields) = &mut value {
        fields.insert("apiVersion".to_owned(), kind.resource().api_version.clone().into());
        fields.insert("kind".to_owned(), kind.name().into());
    }
    Ok(value)
}
