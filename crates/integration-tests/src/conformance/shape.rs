use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::transcript::Transcript;

/// What a transcript is about without the names in it: two with the same shape show the same.
pub(crate) fn shape(transcript: &Transcript, answers: &[Value]) -> String {
    let steps: Vec<Value> = transcript
        .steps
        .iter()
        .flat_map(|step| std::iter::once(step).chain(&step.meanwhile))
        .map(|step| json!([step.send, step.headers, step.body, step.text, step.bytes, step.asked]))
        .collect();
    let mut names = BTreeSet::new();
    for step in &transcript.steps {
        step.body.iter().for_each(|body| names_in(body, &mut names));
    }
    let mut text = json!([steps, answers]).to_string();
    for name in names.iter().rev().filter(|name| !name.is_empty()) {
        for (before, after) in [("\"", "\""), ("/", "\""), ("/", "/"), ("/", "?"), ("\\\"", "\\\"")] {
            text = text.replace(&format!("{before}{name}{after}"), &format!("{before}NAME{after}"));
        }
    }
    text
}

fn names_in<'a>(value: &'a Value, names: &mut BTreeSet<&'a str>) {
    match value {
        Value::Object(fields) => {
            let name = fields.get("metadata").and_then(|metadata| metadata["name"].as_str());
            names.extend(name.filter(|name| is_any_name(name)));
            fields.values().for_each(|field| names_in(field, names));
        }
        Value::Array(items) => items.iter().for_each(|item| names_in(item, names)),
        _ => {}
    }
}

/// Whether a name says nothing; others are there for how they are written.
fn is_any_name(name: &str) -> bool {
    name.len() < 20 && name.bytes().all(|letter| letter.is_ascii_lowercase())
}
