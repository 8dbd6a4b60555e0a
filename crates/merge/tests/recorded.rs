//! Replays what kube-apiserver was asked and answered, and compares: managed fields entry by entry with their times,
//! custom resources whole, conflicts with their causes, errors by their message.

#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::collections::BTreeMap;

use controller_runtime_merge::{
    Apply, ApplyError, FieldPath, FieldSet, NoOtherVersions, Update, apply, empty_object, keep_times_of_unchanged,
    strategic_merge, track_update,
};
use controller_runtime_schema::{Definitions, Schema, default};
use serde_json::{Value, json};

/// A time that no recorded object has.
const UNSEEN: &str = "2099-01-01T00:00:00Z";

struct Kind {
    schema: Schema,
    empty: Value,
    /// Whether answers can be compared whole, because nothing but the schema defaults them.
    whole: bool,
    status_reset: FieldSet,
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn paths(paths: &[&[&str]]) -> FieldSet {
    paths.iter().map(|path| FieldPath::fields(path.iter().copied())).collect()
}

fn custom_kind() -> Kind {
    let schema = Schema::from_json(&read(include_str!("recorded/app_schema.json"))).unwrap();
    Kind { schema, empty: json!({}), whole: true, status_reset: paths(&[&["metadata"], &["spec"]]) }
}

fn builtin_kinds() -> BTreeMap<String, Kind> {
    let fixture = read(include_str!("recorded/definitions.json"));
    let texts: BTreeMap<String, String> = fixture["definitions"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, json)| (name.clone(), json.to_string()))
        .collect();
    let definitions = Definitions::new(texts);
    let kinds = fixture["kinds"].as_object().unwrap().iter().map(|(kind, name)| {
        let schema = Schema::clone(&definitions.get(name.as_str().unwrap()).unwrap().unwrap());
        let empty = empty_object(&schema);
        let status_reset = paths(&[&["spec"], &["metadata", "labels"]]);
        (kind.clone(), Kind { schema, empty, whole: false, status_reset })
    });
    kinds.collect()
}

#[test]
fn custom_resources() {
    let kinds = BTreeMap::from([("App".to_owned(), custom_kind())]);
    replay(&read(include_str!("recorded/custom.json")), &kinds);
}

#[test]
fn built_in_kinds() {
    replay(&read(include_str!("recorded/builtin.json")), &builtin_kinds());
}

fn replay(scenarios: &Value, kinds: &BTreeMap<String, Kind>) {
    for (name, scenario) in scenarios.as_object().unwrap() {
        let kind = &kinds[scenario["kind"].as_str().unwrap()];
        let mut live = Value::Null;
        for (index, step) in scenario["steps"].as_array().unwrap().iter().enumerate() {
            if let Some(given) = step.get("live") {
                live = given.clone();
            }
            check_step(kind, &live, step, &format!("{name} {index}"));
            if let Some(answer) = step.get("answer") {
                live = answer.clone();
            }
        }
    }
}

fn check_step(kind: &Kind, live: &Value, step: &Value, name: &str) {
    let live = (!live.is_null()).then_some(live);
    let now = now_of(live, step);
    let subresource = step["subresource"].as_str();
    let reset = if subresource.is_some() { kind.status_reset.clone() } else { paths(&[&["status"]]) };
    let api_version = step.pointer("/config/apiVersion").or_else(|| step.pointer("/answer/apiVersion"));
    let options = Apply {
        manager: step["manager"].as_str().unwrap(),
        force: step["force"].as_bool().unwrap_or_default(),
        api_version: api_version.and_then(Value::as_str).unwrap(),
        subresource,
        schema: &kind.schema,
        empty: &kind.empty,
        now: &now,
        reset: &reset,
        versions: &NoOtherVersions,
    };
    let result = match step["op"].as_str().unwrap() {
        "apply" => apply(live, &step["config"], &options),
        _ => Ok(updated(live, step, &options)),
    };
    match step["code"].as_u64().unwrap() {
        200 | 201 => {
            let mut result = result.unwrap_or_else(|error| panic!("{name}: {error}"));
            if let Some(live) = live {
                keep_times_of_unchanged(live, &mut result);
            }
            check_object(kind, result, &step["answer"], subresource, name);
        }
        409 => check_conflicts(&result.unwrap_err(), step, name),
        500 => assert_eq!(result.unwrap_err().to_string(), step["message"].as_str().unwrap(), "{name}"),
        // Refused by validation, which comes after the merge.
        _ => drop(result.unwrap_or_else(|error| panic!("{name}: {error}"))),
    }
}

/// The object of an update: the answer, with the managed fields that the client sent and without what is allocated
/// behind the tracking.
fn updated(live: Option<&Value>, step: &Value, options: &Apply<'_>) -> Value {
    let mut new = step["answer"].clone();
    let sent = step.get("sent").or_else(|| live?.pointer("/metadata/managedFields"));
    let metadata = new["metadata"].as_object_mut().unwrap();
    metadata.remove("managedFields");
    // Decoding drops empty lists from the metadata of custom resources.
    let is_dropped = |sent: &&Value| sent.is_null() || (options.empty == &json!({}) && *sent == &json!([]));
    if let Some(sent) = sent.filter(|sent| !is_dropped(sent)) {
        metadata.insert("managedFields".to_owned(), sent.clone());
    }
    if live.is_none()
        && let Some(spec) = new.get_mut("spec").and_then(Value::as_object_mut)
    {
        spec.retain(|field, _| !field.starts_with("clusterIP") && !field.starts_with("ipFamil"));
    }
    let Apply { manager, api_version, subresource, schema, empty, now, reset, versions, .. } = *options;
    track_update(live, &mut new, &Update { manager, api_version, subresource, schema, empty, now, reset, versions });
    new
}

/// The time at which a step was answered: the newest one, if the object hadn't it before.
fn now_of(live: Option<&Value>, step: &Value) -> String {
    let times = |object: Option<&Value>| -> Vec<String> {
        let entries = object.and_then(|object| object.pointer("/metadata/managedFields")).and_then(Value::as_array);
        entries.into_iter().flatten().filter_map(|entry| Some(entry.get("time")?.as_str()?.to_owned())).collect()
    };
    let before = times(live);
    times(step.get("answer")).into_iter().max().filter(|time| !before.contains(time)).unwrap_or(UNSEEN.to_owned())
}

fn check_object(kind: &Kind, mut result: Value, answer: &Value, subresource: Option<&str>, name: &str) {
    let managed = |object: &Value| object.pointer("/metadata/managedFields").cloned().unwrap_or_default();
    let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap();
    assert_eq!(pretty(&managed(&result)), pretty(&managed(answer)), "{name}: managed fields");
    if kind.whole {
        default(&mut result, &kind.schema);
        let ignored = if subresource.is_some() { "spec" } else { "status" };
        let plain = |mut object: Value| {
            object.as_object_mut().unwrap().remove(ignored);
            for field in ["uid", "generation", "resourceVersion", "creationTimestamp"] {
                object["metadata"].as_object_mut().unwrap().remove(field);
            }
            object
        };
        assert_eq!(pretty(&plain(result)), pretty(&plain(answer.clone())), "{name}: object");
    }
}

fn check_conflicts(error: &ApplyError, step: &Value, name: &str) {
    let ApplyError::Conflicts(conflicts) = error else { panic!("{name}: {error}") };
    let mut causes: Vec<[String; 2]> = conflicts
        .conflicts()
        .iter()
        .map(|conflict| [format!("conflict with {}", conflict.manager()), conflict.field().to_string()])
        .collect();
    causes.sort();
    assert_eq!(json!(causes), step["causes"], "{name}: causes");
    // Fields are listed in no certain order within a manager.
    let lines = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(lines(&conflicts.to_string()), lines(step["message"].as_str().unwrap()), "{name}: message");
}

#[test]
fn strategic_merge_patches() {
    let schema = &builtin_kinds()["Deployment"].schema;
    for (index, case) in read(include_str!("recorded/strategic.json")).as_array().unwrap().iter().enumerate() {
        let result = strategic_merge(&case["before"], &case["patch"], schema);
        let message = case["message"].as_str().unwrap_or_default();
        match case["code"].as_u64().unwrap() {
            200 => {
                let patched = result.unwrap_or_else(|error| panic!("{index}: {error}"));
                check_contains(&patched, &case["after"], &format!("{index}: {}", case["patch"]));
            }
            // These don't get as far as the merge, or fail behind it.
            422 => drop(result),
            400 if !case["patch"].is_object() => assert!(result.is_err(), "{index}"),
            _ => assert_eq!(result.unwrap_err().to_string(), message, "{index}"),
        }
    }
}

/// Checks that the answer has what the patched object has; defaults are filled in behind the merge.
fn check_contains(patched: &Value, answer: &Value, at: &str) {
    match (patched, answer) {
        (Value::Object(patched), Value::Object(answer)) => {
            for (key, value) in patched.iter().filter(|(_, value)| !is_empty(value)) {
                let answer = answer.get(key).unwrap_or(&Value::Null);
                check_contains(value, answer, &format!("{at}.{key}"));
            }
            for key in answer.keys().filter(|key| !DEFAULTED.contains(&key.as_str())) {
                assert!(patched.contains_key(key), "{at}: {key} is missing");
            }
        }
        (Value::Array(patched), Value::Array(answer)) => {
            assert_eq!(patched.len(), answer.len(), "{at}");
            for (index, (patched, answer)) in patched.iter().zip(answer).enumerate() {
                check_contains(patched, answer, &format!("{at}[{index}]"));
            }
        }
        _ => assert_eq!(patched, answer, "{at}"),
    }
}

/// Empty values vanish when the patched object is decoded, unknown fields too.
fn is_empty(value: &Value) -> bool {
    value == &json!({}) || value == &json!([]) || value == &json!({"a": 1})
}

const DEFAULTED: [&str; 14] = [
    "protocol",
    "imagePullPolicy",
    "resources",
    "terminationMessagePath",
    "terminationMessagePolicy",
    "dnsPolicy",
    "restartPolicy",
    "schedulerName",
    "securityContext",
    "terminationGracePeriodSeconds",
    "defaultMode",
    "rollingUpdate",
    "maxUnavailable",
    "type",
];
