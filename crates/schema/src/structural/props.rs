use serde_json::{Map, Value};

/// A schema as it was written, where what is empty, false or null counts as not given (as in Go).
#[derive(Clone, Copy)]
pub(super) struct Props<'a>(Option<&'a Map<String, Value>>);

/// What `additionalProperties` says.
pub(super) enum Additional<'a> {
    Any(bool),
    Schema(Props<'a>),
}

impl<'a> Props<'a> {
    pub(super) fn new(json: &'a Value) -> Self {
        Self(json.as_object())
    }

    /// The schema as it was written.
    pub(super) fn json(self) -> Value {
        Value::Object(self.0.cloned().unwrap_or_default())
    }

    pub(super) fn get(self, key: &str) -> Option<&'a Value> {
        self.0?.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn text(self, key: &str) -> &'a str {
        self.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn kind(self) -> &'a str {
        self.text("type")
    }

    pub(super) fn flag(self, key: &str) -> bool {
        self.get(key).and_then(Value::as_bool).unwrap_or_default()
    }

    pub(super) fn list(self, key: &str) -> &'a [Value] {
        self.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// The schemas in a list, such as allOf.
    pub(super) fn schemas(self, key: &str) -> impl Iterator<Item = (usize, Self)> + use<'a> {
        self.list(key).iter().map(Props::new).enumerate()
    }

    /// The schema under a keyword.
    pub(super) fn schema(self, key: &str) -> Option<Self> {
        self.get(key).filter(|value| value.is_object()).map(Props::new)
    }

    /// The schemas in a map, by name.
    pub(super) fn map(self, key: &str) -> impl Iterator<Item = (&'a str, Self)> + use<'a> {
        let mut entries: Vec<_> = self.get(key).and_then(Value::as_object).into_iter().flatten().collect();
        entries.sort_by_key(|(name, _)| *name);
        entries.into_iter().map(|(name, json)| (name.as_str(), Props::new(json)))
    }

    pub(super) fn properties(self) -> impl Iterator<Item = (&'a str, Self)> + use<'a> {
        self.map("properties")
    }

    pub(super) fn property(self, name: &str) -> Option<Self> {
        self.get("properties")?.get(name).map(Props::new)
    }

    pub(super) fn has_properties(self) -> bool {
        self.get("properties").and_then(Value::as_object).is_some_and(|map| !map.is_empty())
    }

    pub(super) fn additional(self) -> Option<Additional<'a>> {
        match self.get("additionalProperties")? {
            Value::Bool(any) => Some(Additional::Any(*any)),
            json => Some(Additional::Schema(Props::new(json))),
        }
    }

    /// Whether a keyword says something.
    pub(super) fn says(self, key: &str) -> bool {
        self.0.and_then(|map| map.get(key)).is_some_and(|value| says_something(key, value))
    }

    /// The keywords that say something, in the order of their names.
    pub(super) fn given(self) -> impl Iterator<Item = &'a str> + use<'a> {
        let mut keys: Vec<_> = self
            .0
            .into_iter()
            .flatten()
            .filter(|(key, value)| says_something(key, value))
            .map(|(key, _)| key.as_str())
            .collect();
        keys.sort_unstable();
        keys.into_iter()
    }
}

fn says_something(key: &str, value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag || key == "default" || key == "additionalProperties",
        Value::String(text) => !text.is_empty() || key == "default",
        Value::Array(items) => !items.is_empty() || key == "default",
        _ => true,
    }
}
