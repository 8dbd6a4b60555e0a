use serde_json::{Value, json};

/// Query parameters of requests that write.
pub(super) const WRITE: &[(&str, &str)] =
    &[("dryRun", "string"), ("fieldManager", "string"), ("fieldValidation", "string")];

/// Query parameters of patches.
pub(super) const PATCH: &[(&str, &str)] =
    &[("dryRun", "string"), ("fieldManager", "string"), ("fieldValidation", "string"), ("force", "boolean")];

/// Query parameters of deletes.
pub(super) const DELETE: &[(&str, &str)] = &[
    ("dryRun", "string"),
    ("gracePeriodSeconds", "integer"),
    ("orphanDependents", "boolean"),
    ("propagationPolicy", "string"),
];

/// Query parameters of lists.
pub(super) const LIST: &[(&str, &str)] = &[
    ("allowWatchBookmarks", "boolean"),
    ("continue", "string"),
    ("fieldSelector", "string"),
    ("labelSelector", "string"),
    ("limit", "integer"),
    ("resourceVersion", "string"),
    ("resourceVersionMatch", "string"),
    ("sendInitialEvents", "boolean"),
    ("timeoutSeconds", "integer"),
    ("watch", "boolean"),
];

/// Query parameters as OpenAPI describes them.
pub(super) fn query(parameters: &[(&str, &str)]) -> Vec<Value> {
    let described = |(name, value_type): &(&str, &str)| json!({"name": name, "in": "query", "schema": {"type": value_type, "uniqueItems": true}});
    parameters.iter().map(described).collect()
}

/// Parameters that are parts of the path, and `pretty`, which every path has.
pub(super) fn path(names: &[&str]) -> Vec<Value> {
    let mut parameters: Vec<Value> = names
        .iter()
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string", "uniqueItems": true}}))
        .collect();
    parameters.extend(query(&[("pretty", "string")]));
    parameters
}
