use std::collections::BTreeMap;

use controller_runtime_scheme::ObjectKey;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The part of an object that can be read even when the rest doesn't fit its type. What is odd itself is left out,
/// and only that.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Sketch {
    /// None when the object has no readable name.
    pub(super) key: Option<ObjectKey>,
    /// Empty when the object has none.
    pub(super) version: String,
    /// Whether it is the bookmark after the last initial event of a streaming list (KEP-3157).
    pub(super) ends_initial_events: bool,
}

/// The annotation of the bookmark after the last initial event.
pub(super) const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// Fields by name, each unread. A field that stands twice counts as it does the second time.
type Fields<'a> = BTreeMap<String, &'a RawValue>;

impl Sketch {
    pub(super) fn of(json: &[u8]) -> Self {
        let object: Fields<'_> = serde_json::from_slice(json).unwrap_or_default();
        let metadata: Fields<'_> = read(&object, "metadata").unwrap_or_default();
        let text = |field: &str| read::<String>(&metadata, field).filter(|text| !text.is_empty());
        let annotations: Fields<'_> = read(&metadata, "annotations").unwrap_or_default();
        Self {
            key: text("name").map(|name| ObjectKey { namespace: text("namespace"), name }),
            version: text("resourceVersion").unwrap_or_default(),
            ends_initial_events: read::<String>(&annotations, INITIAL_EVENTS_END).as_deref() == Some("true"),
        }
    }
}

fn read<'a, T: Deserialize<'a>>(fields: &Fields<'a>, name: &str) -> Option<T> {
    serde_json::from_str(fields.get(name)?.get()).ok()
}

#[cfg(test)]
mod tests {
    use super::Sketch;

    fn check(json: &str, key: &str, version: &str, ends_initial_events: bool) {
        let sketch = Sketch::of(json.as_bytes());
        let seen = sketch.key.map(|key| key.to_string()).unwrap_or_default();
        assert_eq!((seen.as_str(), sketch.version.as_str()), (key, version), "{json}");
        assert_eq!(sketch.ends_initial_events, ends_initial_events, "{json}");
    }

    #[test]
    fn what_is_odd_is_left_out_and_only_that() {
        check(r#"{"metadata":{"namespace":"ns","name":"a","resourceVersion":"7"}}"#, "ns/a", "7", false);
        check(r#"{"metadata":{"namespace":"ns","name":"a","resourceVersion":7}}"#, "ns/a", "", false);
        check(r#"{"metadata":{"namespace":null,"name":"a","labels":3,"annotations":[]}}"#, "a", "", false);
        check(r#"{"metadata":{"namespace":"","name":"a","generation":1e999}}"#, "a", "", false);
        check(r#"{"spec":{},"spec":[],"metadata":{"name":"b","name":"a"}}"#, "a", "", false);
        check(r#"{"metadata":{"n\u0061me":"a"}}"#, "a", "", false);
        for unnamed in ["7", "{}", r#"{"metadata":[]}"#, r#"{"metadata":{"name":7}}"#, r#"{"metadata":{"name":""}}"#] {
            check(unnamed, "", "", false);
        }
    }

    #[test]
    fn the_bookmark_after_the_initial_events_is_known() {
        let bookmark = |value: &str| {
            format!(r#"{{"metadata":{{"resourceVersion":"9","annotations":{{"k8s.io/initial-events-end":{value}}}}}}}"#)
        };
        check(&bookmark(r#""true""#), "", "9", true);
        check(&bookmark(r#""false""#), "", "9", false);
        check(&bookmark("true"), "", "9", false);
    }
}
