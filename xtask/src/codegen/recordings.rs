//! Recordings: what the reference answers to requests, for tests that give the embedded server the same requests.
//!
//! A recording is a list of steps. A person writes a step's `request`, this module its `answer`. What differs from run to
//! run (uids, times, versions, addresses) is replaced by words.

mod proxy;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use self::proxy::Proxy;

/// Where the recordings stand, from the workspace's root.
pub(super) const FOLDER: &str = "crates/apiserver/tests/recorded";

/// One recording as it should be: its file name and its text.
pub(super) struct Recording {
    pub(super) name: String,
    pub(super) text: String,
}

/// Asks the control plane the requests of all recordings in `folder`.
pub(super) fn record(folder: &Path, kubectl: &Path, kubeconfig: &Path) -> Result<Vec<Recording>> {
    let proxy = Proxy::start(kubectl, kubeconfig)?;
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry.with_context(|| format!("reading {}", folder.display()))?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            names.extend(path.file_name().and_then(|name| name.to_str()).map(str::to_owned));
        }
    }
    names.sort();
    names.into_iter().map(|name| record_one(folder, name, &proxy)).collect()
}

fn record_one(folder: &Path, name: String, proxy: &Proxy) -> Result<Recording> {
    let path = folder.join(&name);
    let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let mut steps: Vec<Value> = serde_json::from_str(&text).with_context(|| format!("decoding {}", path.display()))?;
    let namespace = format!("recorded-{}", name.trim_end_matches(".json").replace('_', "-"));
    let made = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
    let (code, answer) = proxy.ask("POST", "/api/v1/namespaces", "application/json", &made.to_string())?;
    if code != 201 {
        bail!("making namespace {namespace}: {answer}");
    }
    for step in &mut steps {
        let request = &step["request"];
        let part = |key: &str| request[key].as_str().unwrap_or_default().to_owned();
        let media_type = request["contentType"].as_str().unwrap_or("application/json");
        let body = if request["body"].is_null() { String::new() } else { request["body"].to_string() };
        let target = part("path").replace("{namespace}", &namespace);
        let (code, mut answer) = proxy.ask(&part("method"), &target, media_type, &body)?;
        blank(&mut answer, &namespace);
        sort_causes(&mut answer, step["texts"] == "differ");
        step["answer"] = json!({"code": code, "body": answer});
    }
    proxy.ask("DELETE", &format!("/api/v1/namespaces/{namespace}"), "application/json", "")?;
    let steps: Result<Vec<String>, _> = steps.iter().map(serde_json::to_string_pretty).collect();
    Ok(Recording { name, text: format!("[\n{}\n]\n", steps?.join(",\n")) })
}

/// Brings the causes of an error into one order, since the reference tells those of maps in any; the message repeats
/// them. Texts that print Go structs or changes (`forget`) are left out.
fn sort_causes(answer: &mut Value, forget: bool) {
    let Some(causes) = answer.pointer_mut("/details/causes").and_then(Value::as_array_mut) else { return };
    if forget {
        for cause in causes.iter_mut() {
            cause["message"] = json!("(text)");
        }
    }
    causes.sort_by_key(ToString::to_string);
    if forget || causes.len() > 1 {
        answer["message"] = json!("(causes)");
    }
}

/// Replaces what differs from run to run. The tests that read recordings do the same with their answers.
fn blank(value: &mut Value, namespace: &str) {
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                match key.as_str() {
                    "uid" | "batch.kubernetes.io/controller-uid" | "controller-uid" => *field = json!("UID"),
                    "resourceVersion" => *field = json!("VERSION"),
                    "creationTimestamp" | "deletionTimestamp" | "time" if field.is_string() => *field = json!("TIME"),
                    "clusterIP" if field.as_str().is_some_and(|ip| ip.starts_with("10.")) => *field = json!("IP"),
                    "clusterIPs" if field[0].as_str().is_some_and(|ip| ip.starts_with("10.")) => *field = json!(["IP"]),
                    "nodePort" => *field = json!("PORT"),
                    _ => blank(field, namespace),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| blank(item, namespace)),
        Value::String(text) => *text = text.replace(namespace, "{namespace}"),
        _ => {}
    }
}
