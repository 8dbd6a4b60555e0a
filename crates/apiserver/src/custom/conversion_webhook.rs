//! Conversion of objects by a webhook: what is asked, and what an answer must be (`apiextensions.k8s.io` `ConversionReview`).

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::definition::Definition;
use crate::admission::{Endpoint, call_webhook};
use crate::core::Core;
use crate::metadata::{fields, validate};
use crate::pipeline::decode;
use crate::status::quote;

const TIMEOUT: Duration = Duration::from_secs(30);
/// Objects that one review has at most.
const BATCH: usize = 100;

/// Who converts the objects of a definition.
#[derive(Debug)]
pub(crate) struct ConversionWebhook {
    endpoint: Endpoint,
    /// The version of the reviews it is sent: the first one that this server knows too.
    review: Option<&'static str>,
}

/// Why objects could not be converted, as kube-apiserver tells it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ConversionError(String);

impl ConversionWebhook {
    pub(super) fn of(definition: Definition<'_>) -> Option<Self> {
        let conversion = definition.conversion()?;
        if conversion.get("strategy").and_then(Value::as_str) != Some("Webhook") {
            return None;
        }
        let webhook = conversion.get("webhook")?;
        let reviews = webhook.get("conversionReviewVersions").and_then(Value::as_array).into_iter().flatten();
        let review = reviews.filter_map(Value::as_str).find_map(|version| match version {
            "v1" => Some("v1"),
            "v1beta1" => Some("v1beta1"),
            _ => None,
        });
        Some(Self { endpoint: Endpoint::of(webhook.get("clientConfig").unwrap_or(&Value::Null), TIMEOUT), review })
    }

    /// Converts objects to a version; their order stays. Those that have it already aren't sent.
    pub(crate) async fn convert(
        &self,
        core: &Core,
        mut objects: Vec<Value>,
        api_version: &str,
    ) -> Result<Vec<Value>, ConversionError> {
        let waiting: Vec<usize> = objects
            .iter()
            .enumerate()
            .filter(|(_, object)| text(object, "apiVersion") != api_version)
            .map(|(index, _)| index)
            .collect();
        for batch in waiting.chunks(BATCH) {
            let originals: Vec<&Value> = batch.iter().filter_map(|index| objects.get(*index)).collect();
            let converted = self.ask(core, &originals, api_version).await?;
            for (index, converted) in batch.iter().zip(converted) {
                if let Some(place) = objects.get_mut(*index) {
                    *place = converted;
                }
            }
        }
        Ok(objects)
    }

    async fn ask(&self, core: &Core, originals: &[&Value], api_version: &str) -> Result<Vec<Value>, ConversionError> {
        let Some(review) = self.review else {
            return Err(ConversionError("no supported conversion review versions".to_owned()));
        };
        let whom = originals.first().map(|first| described(first)).unwrap_or_default();
        let failed = |why: &str| ConversionError(format!("conversion webhook for {whom} failed: {why}"));
        let uid = core.ambient.uuid();
        let request = json!({
            "kind": "ConversionReview", "apiVersion": format!("apiextensions.k8s.io/{review}"),
            "request": {"uid": uid, "desiredAPIVersion": api_version, "objects": originals},
        });
        let answer = Box::pin(call_webhook(&core.webhook_services, &self.endpoint, &request)).await;
        let answer = answer.map_err(|error| failed(error.why()))?;
        let converted = converted_objects(answer, review, &uid).map_err(|why| failed(&why))?;
        if converted.len() != originals.len() {
            let (got, wanted) = (converted.len(), originals.len());
            return Err(ConversionError(format!(
                "conversion webhook for {whom} returned {got} objects, expected {wanted}"
            )));
        }
        let checked = originals.iter().zip(converted).map(|(original, converted)| {
            if text(&converted, "kind").is_empty() {
                return Err(ConversionError(format!("Object 'Kind' is missing in '{converted}'")));
            }
            check(original, converted, api_version)
                .map_err(|why| ConversionError(format!("conversion webhook for {whom} returned invalid {why}")))
        });
        checked.collect()
    }
}

fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Group, version and kind as Go prints them.
fn described(object: &Value) -> String {
    let version = text(object, "apiVersion");
    let slash = if version.contains('/') { "" } else { "/" };
    format!("{slash}{version}, Kind={}", text(object, "kind"))
}

/// The objects of an answer that says it succeeded.
fn converted_objects(mut answer: Value, review: &str, uid: &str) -> Result<Vec<Value>, String> {
    let wanted = format!("apiextensions.k8s.io/{review}");
    if review == "v1" && (text(&answer, "apiVersion") != wanted || text(&answer, "kind") != "ConversionReview") {
        if text(&answer, "kind") == "ConversionReview" && text(&answer, "apiVersion") == "apiextensions.k8s.io/v1beta1"
        {
            return Err("converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion".to_owned());
        }
        if text(&answer, "kind") != "ConversionReview" && !text(&answer, "kind").is_empty() {
            let (kind, version) = (quote(text(&answer, "kind")), quote(text(&answer, "apiVersion")));
            return Err(format!("no kind {kind} is registered for version {version} {}", decode::SCHEME));
        }
        let got = described(&answer);
        return Err(format!("expected webhook response of {wanted}, Kind=ConversionReview, got {got}"));
    }
    let Some(response) = answer.get_mut("response").filter(|response| response.is_object()) else {
        return Err("no response provided".to_owned());
    };
    let given = text(response, "uid");
    if review == "v1" && given != uid {
        return Err(format!("expected response.uid={uid:?}, got {given:?}"));
    }
    let result = response.get("result").unwrap_or(&Value::Null);
    let (status, message) = (text(result, "status"), text(result, "message"));
    if status != "Success" {
        return Err(match message {
            "" => format!("response.result.status was '{status}', not 'Success'"),
            message => message.to_owned(),
        });
    }
    Ok(match response.get_mut("convertedObjects").map(Value::take) {
        Some(Value::Array(objects)) => objects,
        _ => Vec::new(),
    })
}

/// A converted object with all metadata but labels and annotations of the original. Errors: what it must not have changed.
fn check(original: &Value, mut converted: Value, api_version: &str) -> Result<Value, String> {
    let version = text(&converted, "apiVersion");
    if version != api_version {
        return Err(format!("object at index 0: invalid groupVersion (expected {api_version}, received {version})"));
    }
    let (expected, got) = (text(original, "kind"), text(&converted, "kind"));
    if expected != got {
        return Err(format!("object at index 0: invalid kind (expected {expected}, received {got})"));
    }
    for (field, name) in [("name", "name"), ("namespace", "namespace"), ("uid", "UID")] {
        let (expected, got) = (fields::text(original, field), fields::text(&converted, field));
        if expected != got {
            return Err(format!("object: must have the same {name}: {expected} != {got}"));
        }
    }
    let metadata = match converted.get("metadata") {
        None => Err("missing metadata in converted object".to_owned()),
        Some(Value::Object(metadata)) => restored(original, metadata),
        Some(other) => Err(format!("invalid metadata of type {} in converted object", go_type(other))),
    };
    let metadata = metadata.map_err(|why| format!("metadata: {why}"))?;
    if let Some(members) = converted.as_object_mut() {
        members.insert("metadata".to_owned(), Value::Object(metadata));
    }
    Ok(converted)
}

/// The original's metadata with the labels and annotations that came back.
fn restored(original: &Value, answered: &Map<String, Value>) -> Result<Map<String, Value>, String> {
    let mut metadata = original.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
    for field in ["labels", "annotations"] {
        let texts = match answered.get(field) {
            None | Some(Value::Null) => {
                metadata.remove(field);
                continue;
            }
            Some(Value::Object(texts)) if texts.is_empty() => {
                metadata.remove(field);
                continue;
            }
            Some(Value::Object(texts)) => texts,
            Some(other) => {
                return Err(format!("invalid metadata.{field} of type {} in converted object", go_type(other)));
            }
        };
        if let Some((key, value)) = texts.iter().find(|(_, value)| !value.is_string()) {
            let found = go_type(value);
            return Err(format!("metadata.{field}[{key}] must be a string, but is {found} in converted object"));
        }
        if metadata.get(field).and_then(Value::as_object) != Some(texts) {
            validate::converted(field, texts)?;
        }
        metadata.insert(field.to_owned(), Value::Object(texts.clone()));
    }
    Ok(metadata)
}

fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}
