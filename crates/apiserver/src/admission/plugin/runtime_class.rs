//! `RuntimeClass`: a pod gets the overhead of its runtime, and where that runs.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{Write, spec};
use crate::status::{ApiError, quote};
use crate::store::Object;
use crate::strategy::Quantity;
use crate::strategy::fields::{at, is_given, items, number, text};

const MISMATCH: &str = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

pub(super) fn mutate(write: Write<'_>, object: &mut Value) -> Result<(), ApiError> {
    let Some(class) = class(write, object)? else { return Ok(()) };
    let overhead = at(class.value(), "overhead.podFixed");
    if is_given(object, "spec.overhead") && !overhead.is_null() && !same(at(object, "spec.overhead"), overhead) {
        return Err(write.forbidden(object, MISMATCH));
    }
    let Some(fields) = spec(object) else { return Ok(()) };
    if !overhead.is_null() {
        fields.insert("overhead".to_owned(), overhead.clone());
    }
    let scheduling = at(class.value(), "scheduling");
    if scheduling.is_null() {
        return Ok(());
    }
    select_nodes(fields, at(scheduling, "nodeSelector")).map_err(|why| write.forbidden(object, &why))?;
    if let Some(fields) = spec(object) {
        let given = fields.get("tolerations").and_then(Value::as_array).cloned().unwrap_or_default();
        let merged = merge_tolerations(&given.iter().chain(items(scheduling, "tolerations")).collect::<Vec<_>>());
        fields.insert("tolerations".to_owned(), Value::Array(merged));
    }
    Ok(())
}

pub(super) fn validate(write: Write<'_>, object: &Value) -> Result<(), ApiError> {
    if !write.is_create_of("", "pods") {
        return Ok(());
    }
    let class = class(write, object)?;
    let defined = class.as_ref().map_or(&Value::Null, |class| at(class.value(), "overhead"));
    let given = at(object, "spec.overhead");
    if defined.is_null() && is_given(object, "spec.overhead") {
        let why = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
        return Err(write.forbidden(object, why));
    }
    if !defined.is_null() && !same(given, at(defined, "podFixed")) {
        return Err(write.forbidden(object, MISMATCH));
    }
    Ok(())
}

/// The class that a new pod names, if it names one.
fn class(write: Write<'_>, object: &Value) -> Result<Option<Arc<Object>>, ApiError> {
    let Some(name) = at(object, "spec.runtimeClassName").as_str().filter(|_| write.is_create_of("", "pods")) else {
        return Ok(None);
    };
    let class = write.find("runtimeclasses.node.k8s.io", name);
    let why = || format!("pod rejected: RuntimeClass {} not found", quote(name));
    class.map(Some).ok_or_else(|| write.forbidden(object, &why()))
}

/// Whether amounts of resources are the same, however they are written.
fn same(one: &Value, other: &Value) -> bool {
    let amounts = |list: &Value| -> Map<String, Value> {
        let nanos = |amount: &Value| amount.as_str().and_then(Quantity::parse).map(|amount| amount.nanos().to_string());
        let fields = list.as_object().into_iter().flatten();
        fields.map(|(name, amount)| (name.clone(), json!(nanos(amount)))).collect()
    };
    amounts(one) == amounts(other)
}

fn select_nodes(spec: &mut Map<String, Value>, wanted: &Value) -> Result<(), String> {
    let Some(wanted) = wanted.as_object().filter(|wanted| !wanted.is_empty()) else { return Ok(()) };
    let mut selector = spec.get("nodeSelector").and_then(Value::as_object).cloned().unwrap_or_default();
    for (key, value) in wanted {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        if let Some(own) = selector.get(key).filter(|own| *own != value) {
            return Err(format!(
                "conflict: runtimeClass.scheduling.nodeSelector[{key}] = {}; pod.spec.nodeSelector[{key}] = {}",
                text(value),
                text(own)
            ));
        }
        selector.insert(key.clone(), value.clone());
    }
    spec.insert("nodeSelector".to_owned(), Value::Object(selector));
    Ok(())
}

/// All tolerations but those that another one holds; of equal ones the first stays.
fn merge_tolerations(all: &[&Value]) -> Vec<Value> {
    let mut merged: Vec<Value> = Vec::new();
    for (index, toleration) in all.iter().enumerate() {
        let held = merged.iter().any(|other| holds(other, toleration));
        let rest = all.iter().skip(index + 1);
        if !held && !rest.into_iter().any(|other| other != toleration && holds(other, toleration)) {
            merged.push((*toleration).clone());
        }
    }
    merged
}

/// Whether what one toleration tolerates, the other does too.
fn holds(wider: &Value, toleration: &Value) -> bool {
    if wider == toleration {
        return true;
    }
    let exists = text(wider, "operator") == "Exists";
    let all_keys = text(wider, "key").is_empty() && exists;
    let effect = text(wider, "effect");
    let shorter = number(wider, "tolerationSeconds").is_some_and(|most| {
        effect == "NoExecute" && number(toleration, "tolerationSeconds").is_none_or(|seconds| seconds > most)
    });
    if text(toleration, "key") != text(wider, "key") && !all_keys
        || text(toleration, "effect") != effect && !effect.is_empty()
        || shorter
    {
        return false;
    }
    exists || text(toleration, "operator") == "Equal" && text(toleration, "value") == text(wider, "value")
}
