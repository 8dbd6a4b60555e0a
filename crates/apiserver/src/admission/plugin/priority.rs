//! `Priority`: a pod gets the priority of its class, or of the class that is the default.

use serde_json::{Map, Value, json};

use super::{Operation, Write, spec};
use crate::status::ApiError;
use crate::strategy::fields::{at, number, text};

const CLASSES: &str = "priorityclasses.scheduling.k8s.io";

/// A class by its name.
type Class = (String, Value);

pub(super) fn mutate(write: Write<'_>, object: &mut Value) -> Result<(), ApiError> {
    if !write.is_of("", "pods") {
        return Ok(());
    }
    let Some(fields) = spec(object) else { return Ok(()) };
    if let Some(old) = write.old {
        keep(fields, old);
        return Ok(());
    }
    prioritize(write, fields).map_err(|why| write.forbidden(object, &why))
}

/// What was computed once stays.
fn keep(spec: &mut Map<String, Value>, old: &Value) {
    for key in ["priority", "preemptionPolicy"] {
        let before = at(old, "spec").get(key);
        if let Some(before) = before.filter(|_| spec.get(key).is_none_or(Value::is_null)) {
            spec.insert(key.to_owned(), before.clone());
        }
    }
}

fn prioritize(write: Write<'_>, spec: &mut Map<String, Value>) -> Result<(), String> {
    let name = spec.get("priorityClassName").and_then(Value::as_str).unwrap_or_default().to_owned();
    let class = if name.is_empty() { default_class(write) } else { class(write, &name) };
    if class.is_none() && !name.is_empty() {
        return Err(format!("no PriorityClass with name {name} was found"));
    }
    if let Some((name, _)) = &class {
        spec.insert("priorityClassName".to_owned(), json!(name));
    }
    let class = class.map(|(_, class)| class);
    let computed = class.as_ref().and_then(|class| number(class, "value")).unwrap_or_default();
    let given = spec.get("priority").and_then(Value::as_i64);
    if let Some(given) = given.filter(|given| *given != computed) {
        return Err(format!(
            "the integer value of priority ({given}) must not be provided in pod spec; priority admission controller \
             computed {computed} from the given PriorityClass name"
        ));
    }
    spec.insert("priority".to_owned(), json!(computed));
    let policy = class.as_ref().map(|class| text(class, "preemptionPolicy")).filter(|policy| !policy.is_empty());
    let policy = policy.unwrap_or("PreemptLowerPriority");
    let given = spec.get("preemptionPolicy").and_then(Value::as_str);
    if let Some(given) = given.filter(|given| *given != policy) {
        return Err(format!(
            "the string value of PreemptionPolicy ({given}) must not be provided in pod spec; priority admission \
             controller computed {policy} from the given PriorityClass name"
        ));
    }
    spec.insert("preemptionPolicy".to_owned(), json!(policy));
    Ok(())
}

/// Only one class is the default.
pub(super) fn validate(write: Write<'_>, object: &Value) -> Result<(), ApiError> {
    if !write.is_of("scheduling.k8s.io", "priorityclasses") || at(object, "globalDefault") != &json!(true) {
        return Ok(());
    }
    match default_class(write) {
        Some((name, _)) if write.operation == Operation::Create || name != text(object, "metadata.name") => {
            let why = format!("PriorityClass {name} is already marked as default. Only one default can exist");
            Err(write.forbidden(object, &why))
        }
        _ => Ok(()),
    }
}

fn class(write: Write<'_>, name: &str) -> Option<Class> {
    write.find(CLASSES, name).map(|class| (name.to_owned(), class.value().clone()))
}

/// The least of the classes that are the default for all.
fn default_class(write: Write<'_>) -> Option<Class> {
    write
        .all(CLASSES, None)
        .iter()
        .filter(|class| at(class.value(), "globalDefault") == &json!(true))
        .min_by_key(|class| number(class.value(), "value"))
        .map(|class| (class.key.name.clone(), class.value().clone()))
}
