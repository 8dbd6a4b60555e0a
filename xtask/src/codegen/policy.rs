//! `policy.json`: the roles and bindings that kube-apiserver creates by itself, one object a line.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::documents::Documents;

/// What a server sets on every object that it stores.
const SET_BY_SERVER: [&str; 4] = ["creationTimestamp", "managedFields", "resourceVersion", "uid"];

pub(super) fn generate(documents: &Documents) -> Result<String> {
    let lines = documents.policy.iter().map(described).collect::<Result<Vec<_>>>()?;
    Ok(format!("{{\"generatedBy\":\"cargo xtask codegen\",\n\"objects\":[\n{}\n]}}\n", lines.join(",\n")))
}

fn described(object: &Value) -> Result<String> {
    let mut object = object.clone();
    let metadata = object.pointer_mut("/metadata").and_then(Value::as_object_mut).context("a role has no metadata")?;
    for field in SET_BY_SERVER {
        metadata.remove(field);
    }
    // The rules of roles that aggregate others are another controller's.
    if object.get("aggregationRule").is_some() {
        object["rules"] = json!(null);
    }
    Ok(object.to_string())
}
