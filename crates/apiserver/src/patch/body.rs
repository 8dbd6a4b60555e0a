//! Patches as requests bring them.

use controller_runtime_merge::{StrategicError, json_merge, strategic_merge};
use controller_runtime_schema::Schema;
use serde_json::{Map, Value};
use serde_saphyr::DuplicateKeyPolicy;

use crate::pipeline::parse::{self, on_large_stack};
use crate::status::{ApiError, quote};

use super::PatchType;
use super::json_patch::JsonPatch;

/// A decoded patch.
#[derive(Clone, Debug)]
pub(crate) enum Patch {
    /// Operations.
    Json(JsonPatch),
    /// A partial object.
    Merge(Value),
    /// A partial object with directives.
    Strategic(Value),
    /// A configuration to apply.
    Apply(Value),
}

impl Patch {
    /// Decodes the body of a request. Errors: 400 when it isn't JSON (YAML for apply) or not of the right shape, 413
    /// when there are too many operations.
    pub(crate) fn decode(patch_type: PatchType, body: &[u8]) -> Result<Patch, ApiError> {
        if patch_type.is_apply() {
            return decode_config(body).map(Patch::Apply);
        }
        let json: Value = serde_json::from_slice(body).map_err(|_| ApiError::bad_request("invalid JSON patch"))?;
        match patch_type {
            PatchType::Json => JsonPatch::from_json(json).map(Patch::Json),
            PatchType::Merge => match json {
                Value::Null => Err(ApiError::bad_request("Invalid JSON Patch")),
                json => into_object(json, "error decoding patch: ").map(Patch::Merge),
            },
            PatchType::Strategic | PatchType::Apply => into_object(json, "").map(Patch::Strategic),
        }
    }

    /// What the patch makes of an object of a schema.
    ///
    /// Errors: 422 when an operation can't be applied, 400, 422 or 500 when a strategic merge patch can't; 500 for a
    /// configuration, which can't be applied without knowing who applies it.
    pub(crate) fn patched(&self, current: &Value, schema: &Schema) -> Result<Value, ApiError> {
        match self {
            Patch::Json(operations) => operations.patched(current),
            Patch::Merge(change) => {
                let mut patched = current.clone();
                json_merge(&mut patched, change);
                Ok(patched)
            }
            Patch::Strategic(change) => {
                strategic_merge(current, change, schema).map_err(|error| strategic_error(&error))
            }
            Patch::Apply(_) => Err(ApiError::internal("a configuration is applied, not patched in")),
        }
    }

    /// What messages show when the patched object is none of its kind: the object, or a strategic merge patch itself.
    pub(crate) fn shown(&self, patched: &Value) -> String {
        match self {
            Patch::Strategic(change) => go_plain(change),
            _ => patched.to_string(),
        }
    }
}

/// A JSON object; null is an empty one.
fn into_object(json: Value, prefix: &str) -> Result<Value, ApiError> {
    match json {
        Value::Null => Ok(Value::Object(Map::new())),
        Value::Object(_) => Ok(json),
        other => {
            let found = go_kind(&other);
            Err(ApiError::bad_request(format!(
                "{prefix}json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
            )))
        }
    }
}

/// The first document of a YAML body; nothing at all is an empty object. As in JSON, the last of equal keys counts.
fn decode_config(body: &[u8]) -> Result<Value, ApiError> {
    if let Ok(json @ Value::Object(_)) = serde_json::from_slice(body) {
        return Ok(json);
    }
    let first = first_document(body, DuplicateKeyPolicy::LastWins)
        .map_err(|problem| ApiError::bad_request(format!("error decoding patch: {problem}")))?;
    into_object(first, "error decoding patch: error unmarshaling JSON: while decoding JSON: ")
}

/// Why a configuration is refused in strict validation: a key stands twice in a map.
pub(crate) fn repeated_key(body: &[u8]) -> Option<String> {
    let repeated = |line: u64, key: &str| {
        format!(
            "error converting YAML to JSON: yaml: unmarshal errors:\n  line {line}: key {} already set in map",
            quote(key)
        )
    };
    let text = std::str::from_utf8(body).ok()?;
    let options = serde_saphyr::options! { duplicate_keys: DuplicateKeyPolicy::Error };
    let read: Result<Vec<Value>, _> = on_large_stack(|| serde_saphyr::from_multiple_with_options(text, options));
    let error = read.err()?;
    let line = error.location().map_or(1, |location| location.line());
    // JSON is YAML, and tells which key it is.
    let path = parse::json(body).ok().and_then(|document| document.duplicates.into_iter().next());
    if let Some(path) = path {
        return Some(repeated(line, path.rsplit('.').next().unwrap_or_default()));
    }
    first_document(body, DuplicateKeyPolicy::Error).err()
}

fn first_document(body: &[u8], duplicate_keys: DuplicateKeyPolicy) -> Result<Value, String> {
    let text = std::str::from_utf8(body).map_err(|error| format!("error converting YAML to JSON: yaml: {error}"))?;
    let options = serde_saphyr::options! { duplicate_keys: duplicate_keys };
    let documents = on_large_stack(|| serde_saphyr::from_multiple_with_options(text, options)).map_err(|error| {
        let error = error.to_string();
        let line = error.lines().next().unwrap_or_default();
        format!("error converting YAML to JSON: yaml: {}", line.trim_start_matches("error: "))
    })?;
    Ok(documents.into_iter().next().unwrap_or_default())
}

/// What Go's JSON decoder calls a kind of value.
pub(crate) fn go_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn strategic_error(error: &StrategicError) -> ApiError {
    let message = error.to_string();
    match error {
        StrategicError::Document
        | StrategicError::PrimitiveList
        | StrategicError::RetainKeys
        | StrategicError::SetElementOrder => ApiError::bad_request(message),
        StrategicError::ListOfLists => {
            ApiError::unprocessable("the server rejected our request due to an error in our request")
        }
        _ => ApiError::unclassified(message),
    }
}

/// A value in the form of Go's `%v`.
fn go_plain(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(go_plain).collect::<Vec<_>>().join(" ")),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| format!("{key}:{}", go_plain(value)));
            format!("map[{}]", fields.collect::<Vec<_>>().join(" "))
        }
        scalar => scalar.to_string(),
    }
}
