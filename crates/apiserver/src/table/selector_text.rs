use serde_json::Value;

use super::cell::NONE;
use super::column::{at, items_at, text_at};

/// Labels as text, as in `a=b,c=d`.
pub(super) fn labels_text(labels: &Value) -> String {
    let labels = pairs(labels);
    if labels.is_empty() { NONE.to_owned() } else { labels.join(",") }
}

fn pairs(labels: &Value) -> Vec<String> {
    let labels = labels.as_object().into_iter().flatten();
    labels.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default())).collect()
}

/// A `LabelSelector` as text, as in `a=b,c in (d,e)`; empty when it says nothing.
pub(super) fn selector_text(selector: &Value) -> String {
    let mut parts: Vec<(String, String)> = pairs(at(selector, "matchLabels"))
        .into_iter()
        .map(|pair| (pair.split('=').next().unwrap_or_default().to_owned(), pair))
        .collect();
    for requirement in items_at(selector, "matchExpressions") {
        let key = text_at(requirement, "key");
        let mut values: Vec<&str> = items_at(requirement, "values").iter().filter_map(Value::as_str).collect();
        values.sort_unstable();
        let values = values.join(",");
        let text = match text_at(requirement, "operator") {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "Exists" => key.to_owned(),
            _ => format!("!{key}"),
        };
        parts.push((key.to_owned(), text));
    }
    parts.sort();
    let texts: Vec<String> = parts.into_iter().map(|(_, text)| text).collect();
    texts.join(",")
}
