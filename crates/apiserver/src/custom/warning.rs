//! What people should know about what they wrote, though it is allowed.

use std::collections::BTreeSet;

use controller_runtime_schema::is_checked_format;
use serde_json::Value;

use super::definition::Definition;
use crate::metadata::names;

/// Warnings about a new or changed definition; what was so before isn't told again.
pub(super) fn of_definition(new: Definition<'_>, old: Option<Definition<'_>>) -> Vec<String> {
    let known: Vec<String> = old.map(all).unwrap_or_default();
    all(new).into_iter().filter(|warning| !known.contains(warning)).collect()
}

fn all(definition: Definition<'_>) -> Vec<String> {
    let mut formats = Vec::new();
    let mut sets = BTreeSet::new();
    for version in definition.versions() {
        if let Some(schema) = version.schema() {
            visit(schema, &mut formats, &mut sets);
        }
    }
    formats.extend(sets);
    formats
}

fn visit(schema: &Value, formats: &mut Vec<String>, sets: &mut BTreeSet<String>) {
    let text = |schema: &Value, key: &str| schema.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let format = text(schema, "format");
    if !format.is_empty() && !is_checked_format(&text(schema, "type"), &format) {
        formats.push(format!("unrecognized format \"{format}\""));
    }
    if text(schema, "x-kubernetes-list-type") == "set"
        && let Some(items) = schema.get("items")
        && matches!(text(items, "type").as_str(), "object" | "array")
    {
        sets.insert(format!(
            "x-kubernetes-list-type: set for items of type \"{}\" is not supported by server-side apply or CEL \
             validation rules",
            text(items, "type")
        ));
    }
    let single = ["items", "not", "additionalProperties"].into_iter().filter_map(|key| schema.get(key));
    let lists = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flat_map(|map| map.values());
    for child in single.chain(lists).chain(properties).filter(|child| child.is_object()) {
        visit(child, formats, sets);
    }
}

/// Warnings about a finalizer that was added to a custom object.
pub(super) fn of_finalizer(finalizer: &str) -> Vec<String> {
    let quoted = format!("metadata.finalizers: {}", Value::from(finalizer));
    let mut warnings: Vec<_> =
        names::qualified_name(finalizer).into_iter().map(|problem| format!("{quoted}: {problem}")).collect();
    let is_standard = matches!(finalizer, "orphan" | "foregroundDeletion" | "kubernetes");
    if !finalizer.contains('/') && !is_standard {
        let path = if finalizer.contains('.') { " including a path (/)" } else { "" };
        warnings.push(format!(
            "{quoted}: prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other finalizer \
             writers"
        ));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Definition, of_definition, of_finalizer};

    #[test]
    fn unknown_formats_are_told_once() {
        let with = |format: &str| {
            json!({"spec": {"versions": [{"schema": {"openAPIV3Schema": {"type": "object", "properties": {
                "f": {"type": "string", "format": format},
                "s": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "object"}},
                "n": {"type": "integer", "format": "int32"},
            }}}}]}})
        };
        let (old, new) = (with("date-time"), with("foo"));
        let set = "x-kubernetes-list-type: set for items of type \"object\" is not supported by server-side apply or CEL \
                   validation rules";
        assert_eq!(of_definition(Definition::new(&new), None), ["unrecognized format \"foo\"", set]);
        assert_eq!(of_definition(Definition::new(&new), Some(Definition::new(&old))), ["unrecognized format \"foo\""]);
    }

    #[test]
    fn finalizers_should_have_a_domain() {
        assert!(of_finalizer("example.com/cleanup").is_empty());
        assert!(of_finalizer("orphan").is_empty());
        assert_eq!(of_finalizer("cleanup").len(), 1);
        assert!(of_finalizer("example.com")[0].contains("including a path (/)"));
    }
}
