//! Laws that hold for any field set and any object.

#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use controller_runtime_merge::{
    Apply, FieldPath, FieldSet, ManagedField, NoOtherVersions, PathElement, Update, apply, json_merge, strategic_merge,
    track_update,
};
use controller_runtime_schema::Schema;
use proptest::option::of;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::from),
        (-3i64..3).prop_map(Value::from),
        "[a-c\"\\\\/: é]{0,3}".prop_map(Value::from),
        Just(json!(1.5)),
    ]
}

fn element() -> impl Strategy<Value = PathElement> {
    prop_oneof![
        4 => "[a-d:.]{1,2}".prop_map(PathElement::field),
        1 => proptest::collection::btree_map("[a-c]", scalar(), 1..3).prop_map(PathElement::key),
        1 => scalar().prop_map(PathElement::Value),
        1 => (0i64..4).prop_map(PathElement::Index),
    ]
}

fn field_set() -> impl Strategy<Value = FieldSet> {
    let path = proptest::collection::vec(element(), 1..4).prop_map(FieldPath::from);
    proptest::collection::vec(path, 0..12).prop_map(|paths| paths.into_iter().collect())
}

fn any_json() -> impl Strategy<Value = Value> {
    prop_oneof![Just(Value::Null), scalar()].prop_recursive(4, 32, 4, |inner| {
        let key = prop_oneof![
            Just("$patch".to_owned()),
            Just("$setElementOrder/tags".to_owned()),
            Just("$deleteFromPrimitiveList/tags".to_owned()),
            Just("$retainKeys".to_owned()),
            field_name(),
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(key, inner, 0..4).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

const NAMES: [&str; 12] =
    ["metadata", "labels", "managedFields", "spec", "tags", "ports", "port", "atom", "free", "map", "a", "b"];

fn field_name() -> impl Strategy<Value = String> {
    proptest::sample::select(&NAMES[..]).prop_map(str::to_owned)
}

/// Objects that fit the schema below.
fn object() -> impl Strategy<Value = Value> {
    let tags = proptest::collection::btree_set("[a-d]", 0..4).prop_map(|tags| json!(tags));
    let port = (of(0i64..9), of("[a-b]"));
    let ports = proptest::collection::btree_map(1i64..5, port, 0..4).prop_map(|ports| {
        let ports = ports.into_iter().map(|(port, (weight, name))| {
            with_present(vec![
                ("port", Some(json!(port))),
                ("weight", weight.map(Value::from)),
                ("name", name.map(Value::from)),
            ])
        });
        Value::from(ports.collect::<Vec<_>>())
    });
    let map = proptest::collection::btree_map("[a-c]", "[x-z]", 0..3).prop_map(|map| json!(map));
    let atom = proptest::collection::btree_map("[a-b]", 0i64..3, 0..3).prop_map(|map| json!(map));
    (of(tags), of(ports), of(map), of(atom), of(0i64..3)).prop_map(|(tags, ports, map, atom, replicas)| {
        let replicas = replicas.map(Value::from);
        let fields = vec![("tags", tags), ("ports", ports), ("map", map), ("atom", atom), ("replicas", replicas)];
        json!({"apiVersion": "ref.dev/v1", "kind": "App", "metadata": {"name": "a"}, "spec": with_present(fields)})
    })
}

fn with_present(fields: Vec<(&str, Option<Value>)>) -> Value {
    let present = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(present.collect::<Map<String, Value>>())
}

fn schema() -> Schema {
    Schema::from_json(&json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "replicas": {"type": "integer"},
        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port"],
            "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "port",
            "items": {"type": "object", "properties": {
                "port": {"type": "integer"}, "weight": {"type": "integer"}, "name": {"type": "string"}}}},
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
        "atom": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": {"type": "integer"}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    }}}}))
    .unwrap()
}

struct Server {
    schema: Schema,
    empty: Value,
    reset: FieldSet,
}

impl Server {
    fn new() -> Server {
        Server { schema: schema(), empty: json!({}), reset: FieldSet::new() }
    }

    fn apply(&self, live: Option<&Value>, config: &Value, manager: &str, now: &str) -> Value {
        apply(live, config, &self.options(manager, now)).unwrap()
    }

    fn options<'a>(&'a self, manager: &'a str, now: &'a str) -> Apply<'a> {
        Apply {
            manager,
            force: true,
            api_version: "ref.dev/v1",
            subresource: None,
            schema: &self.schema,
            empty: &self.empty,
            now,
            reset: &self.reset,
            versions: &NoOtherVersions,
        }
    }

    fn update<'a>(&'a self, manager: &'a str, now: &'a str) -> Update<'a> {
        let Apply { api_version, subresource, schema, empty, reset, versions, .. } = self.options(manager, now);
        Update { manager, api_version, subresource, schema, empty, now, reset, versions }
    }
}

proptest! {
    #[test]
    fn field_sets_survive_their_json_form(set in field_set()) {
        prop_assert_eq!(FieldSet::from_json(&set.to_json()).unwrap(), set);
    }

    #[test]
    fn field_sets_are_sets(a in field_set(), b in field_set(), c in field_set()) {
        prop_assert_eq!(a.union(&b), b.union(&a));
        prop_assert_eq!(a.union(&b).union(&c), a.union(&b.union(&c)));
        prop_assert_eq!(a.intersection(&b), b.intersection(&a));
        prop_assert_eq!(a.difference(&b).union(&a.intersection(&b)), a.clone());
        prop_assert!(a.difference(&b).intersection(&b).is_empty());
        prop_assert_eq!(a.difference(&b.union(&c)), a.difference(&b).difference(&c));
        prop_assert_eq!(a.len() + b.len(), a.union(&b).len() + a.intersection(&b).len());
        prop_assert!(a.paths().iter().all(|path| a.has(path)));
        prop_assert_eq!(a.paths().len(), a.len());
    }

    #[test]
    fn applying_twice_changes_nothing(live in object(), config in object()) {
        let server = Server::new();
        let live = server.apply(None, &live, "first", "2026-01-01T00:00:00Z");
        let once = server.apply(Some(&live), &config, "second", "2026-01-02T00:00:00Z");
        let twice = server.apply(Some(&once), &config, "second", "2026-01-03T00:00:00Z");
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn an_applier_alone_gets_what_it_applies(first in object(), second in object()) {
        let server = Server::new();
        let live = server.apply(None, &first, "only", "2026-01-01T00:00:00Z");
        let mut result = server.apply(Some(&live), &second, "only", "2026-01-02T00:00:00Z");
        result["metadata"].as_object_mut().unwrap().remove("managedFields");
        // Parts of which nothing is left stay as null where their parent was applied as well.
        prop_assert_eq!(settled(result), settled(second));
    }

    #[test]
    fn managed_fields_survive_their_json_form(first in object(), second in object()) {
        let server = Server::new();
        let live = server.apply(None, &first, "first", "2026-01-01T00:00:00Z");
        let mut new = second;
        track_update(Some(&live), &mut new, &server.update("second", "2026-01-02T00:00:00Z"));
        let entries = ManagedField::all_of(&new).unwrap();
        let json: Vec<Value> = entries.iter().map(ManagedField::to_json).collect();
        prop_assert_eq!(ManagedField::all_from_json(&Value::from(json)).unwrap(), entries);
    }

    #[test]
    fn nothing_panics(live in any_json(), other in any_json()) {
        let server = Server::new();
        let whole = |part: &Value| json!({"apiVersion": "ref.dev/v1", "kind": "App", "metadata": part, "spec": part});
        for (live, other) in [(live.clone(), other.clone()), (whole(&live), whole(&other))] {
            let mut merged = live.clone();
            json_merge(&mut merged, &other);
            drop(strategic_merge(&live, &other, &server.schema));
            drop(apply(Some(&live), &other, &server.options("kubectl", "2026-01-01T00:00:00Z")));
            let mut new = other;
            track_update(Some(&live), &mut new, &server.update("m", "2026-01-01T00:00:00Z"));
            drop(FieldSet::from_json(&live));
        }
    }
}

/// A value without nulls and empty parts.
fn settled(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, value)| (name, settled(value)));
            fields.filter(|(_, value)| !matches!(value, Value::Null)).collect::<Map<_, _>>().into_or_null()
        }
        Value::Array(items) if items.is_empty() => Value::Null,
        other => other,
    }
}

trait IntoOrNull {
    fn into_or_null(self) -> Value;
}

impl IntoOrNull for Map<String, Value> {
    fn into_or_null(self) -> Value {
        if self.is_empty() { Value::Null } else { Value::Object(self) }
    }
}
