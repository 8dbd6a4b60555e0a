use jiff::Timestamp;
use serde_json::{Value, json};

use super::age;

/// A column of a built-in kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct BuiltInColumn {
    pub(super) name: &'static str,
    pub(super) value_type: &'static str,
    pub(super) format: &'static str,
    /// 0 is always shown, 1 only in wide output.
    pub(super) priority: i32,
    pub(super) content: Content,
}

/// Where a cell's value comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Content {
    /// The text at a path.
    Text(&'static str),
    /// The number at a path, else 0.
    Count(&'static str),
    /// Whether the flag at a path is set.
    Flag(&'static str),
    /// How long ago the time at a path is.
    Age(&'static str),
    /// Something that must be worked out.
    Of(fn(&Value) -> Value),
    /// Something that must be worked out and depends on the time.
    At(fn(&Value, Timestamp) -> Value),
}

/// The name, which is the first column of nearly every kind.
pub(super) const NAME: BuiltInColumn = BuiltInColumn {
    name: "Name",
    value_type: "string",
    format: "name",
    priority: 0,
    content: Content::Text("metadata.name"),
};

/// How old the object is.
pub(super) const AGE: BuiltInColumn = text("Age", Content::Age("metadata.creationTimestamp"));

/// When the object was made, for kinds without columns of their own.
pub(super) const CREATED_AT: BuiltInColumn = date("Created At", Content::Text("metadata.creationTimestamp"));

pub(super) const fn text(name: &'static str, content: Content) -> BuiltInColumn {
    BuiltInColumn { name, value_type: "string", format: "", priority: 0, content }
}

pub(super) const fn date(name: &'static str, content: Content) -> BuiltInColumn {
    BuiltInColumn { value_type: "date", ..text(name, content) }
}

pub(super) const fn boolean(name: &'static str, content: Content) -> BuiltInColumn {
    BuiltInColumn { value_type: "boolean", ..text(name, content) }
}

pub(super) const fn integer(name: &'static str, content: Content) -> BuiltInColumn {
    BuiltInColumn { value_type: "integer", ..text(name, content) }
}

pub(super) const fn wide(column: BuiltInColumn) -> BuiltInColumn {
    BuiltInColumn { priority: 1, ..column }
}

impl BuiltInColumn {
    pub(super) fn definition(&self) -> Value {
        json!({
            "name": self.name,
            "type": self.value_type,
            "format": self.format,
            "description": "",
            "priority": self.priority,
        })
    }

    pub(super) fn cell(&self, object: &Value, now: Timestamp) -> Value {
        match self.content {
            Content::Text(path) => json!(at(object, path).as_str().unwrap_or_default()),
            Content::Count(path) => json!(at(object, path).as_i64().unwrap_or_default()),
            Content::Flag(path) => json!(at(object, path).as_bool().unwrap_or_default()),
            Content::Age(path) => age_cell(at(object, path), now),
            Content::Of(work_out) => work_out(object),
            Content::At(work_out) => work_out(object, now),
        }
    }
}

/// The age of a time; times that aren't there are unknown.
pub(super) fn age_cell(time: &Value, now: Timestamp) -> Value {
    json!(time.as_str().map_or_else(|| "<unknown>".to_owned(), |time| age::since(time, now)))
}

/// The value at a dotted path; null when there is none.
pub(super) fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
    static NULL: Value = Value::Null;
    path.split('.').try_fold(value, |value, key| value.get(key)).unwrap_or(&NULL)
}

/// The text at a dotted path; empty when there is none.
pub(super) fn text_at<'a>(value: &'a Value, path: &str) -> &'a str {
    at(value, path).as_str().unwrap_or_default()
}

/// The number at a dotted path, else 0.
pub(super) fn count_at(value: &Value, path: &str) -> i64 {
    at(value, path).as_i64().unwrap_or_default()
}

/// The items of the list at a dotted path.
pub(super) fn items_at<'a>(value: &'a Value, path: &str) -> &'a [Value] {
    at(value, path).as_array().map_or(&[], Vec::as_slice)
}
