use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};

/// What a webhook of a transcript answers; without anything it allows, and converts by naming the desired version.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Behaviour {
    /// Refuses with this status.
    deny: Option<Value>,
    /// Changes by this JSON patch.
    patch: Option<Value>,
    /// Warns.
    warnings: Vec<String>,
    /// Fields of the response, besides those above.
    response: Option<Value>,
    /// What a conversion moves: by version, JSON pointers and where their values go.
    convert: BTreeMap<String, BTreeMap<String, String>>,
    /// The whole answer, whatever was asked; the text `UID` in it becomes the request's uid.
    raw: Option<Value>,
    /// The HTTP code of the answer.
    status: Option<u16>,
    /// Seconds until it answers.
    delay: u64,
}

impl Behaviour {
    pub(crate) fn delay(&self) -> Duration {
        Duration::from_secs(self.delay)
    }

    /// The answer to a review.
    pub(crate) fn answer(&self, review: &Value) -> (u16, Value) {
        let body = if let Some(raw) = &self.raw {
            with_uid(raw, &review["request"]["uid"])
        } else {
            let response = if review["kind"] == "ConversionReview" { self.converted(review) } else { self.admitted() };
            let mut response = with(response, self.response.as_ref());
            response["uid"] = review["request"]["uid"].clone();
            json!({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response})
        };
        (self.status.unwrap_or(200), body)
    }

    fn admitted(&self) -> Value {
        let mut response = json!({"allowed": self.deny.is_none()});
        if let Some(status) = &self.deny {
            response["status"] = status.clone();
        }
        if let Some(patch) = &self.patch {
            response["patchType"] = json!("JSONPatch");
            response["patch"] = json!(STANDARD.encode(patch.to_string()));
        }
        if !self.warnings.is_empty() {
            response["warnings"] = json!(self.warnings);
        }
        response
    }

    fn converted(&self, review: &Value) -> Value {
        let desired = &review["request"]["desiredAPIVersion"];
        let version = desired.as_str().and_then(|desired| desired.rsplit('/').next()).unwrap_or_default();
        let mut objects = review["request"]["objects"].clone();
        for object in objects.as_array_mut().into_iter().flatten() {
            object["apiVersion"] = desired.clone();
            for (from, to) in self.convert.get(version).into_iter().flatten() {
                let Some(value) = remove(object, from) else { continue };
                insert(object, to, value);
            }
        }
        json!({"convertedObjects": objects, "result": {"status": "Success"}})
    }
}

fn with(mut response: Value, more: Option<&Value>) -> Value {
    for (key, value) in more.and_then(Value::as_object).into_iter().flatten() {
        response[key] = value.clone();
    }
    response
}

fn with_uid(raw: &Value, uid: &Value) -> Value {
    match raw {
        Value::String(text) if text == "UID" => uid.clone(),
        Value::Array(items) => items.iter().map(|item| with_uid(item, uid)).collect(),
        Value::Object(fields) => fields.iter().map(|(key, field)| (key.clone(), with_uid(field, uid))).collect(),
        other => other.clone(),
    }
}

fn remove(object: &mut Value, pointer: &str) -> Option<Value> {
    let (parent, key) = pointer.rsplit_once('/')?;
    object.pointer_mut(parent)?.as_object_mut()?.remove(key)
}

fn insert(object: &mut Value, pointer: &str, value: Value) {
    let mut place = object;
    for key in pointer.split('/').skip(1) {
        place = &mut place[key];
    }
    *place = value;
}
