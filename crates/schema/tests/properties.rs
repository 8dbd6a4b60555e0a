//! What holds for any schema and any value.

use controller_runtime_schema::{FieldPath, Schema, default, prune, validate, validate_update};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const NAMES: [&str; 4] = ["a", "b", "metadata", "kind"];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3..3_i64).prop_map(Value::from),
        "[a-c]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(prop::sample::select(&NAMES[..]), inner, 0..4).prop_map(object),
        ]
    })
}

fn object(fields: std::collections::BTreeMap<&str, Value>) -> Value {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>().into()
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "integer", "default": 1, "minimum": 0})),
        Just(json!({"type": "string", "nullable": true, "maxLength": 1})),
        Just(json!({"type": "boolean"})),
        Just(json!({"x-kubernetes-preserve-unknown-fields": true})),
        Just(json!({"type": "object"})),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            inner.clone().prop_map(|values| json!({"type": "object", "additionalProperties": values})),
            prop::collection::btree_map(prop::sample::select(&NAMES[..]), inner, 0..4)
                .prop_map(|fields| json!({"type": "object", "default": {}, "properties": object(fields)})),
        ]
    })
}

proptest! {
    #[test]
    fn pruning_twice_is_pruning_once(mut value in value(), schema in schema(), root: bool) {
        let schema = Schema::from_json(&schema).unwrap();
        prune(&mut value, &schema, root);
        let once = value.clone();
        prop_assert!(prune(&mut value, &schema, root).is_empty());
        prop_assert_eq!(value, once);
    }

    #[test]
    fn defaulting_twice_is_defaulting_once(mut value in value(), schema in schema()) {
        let schema = Schema::from_json(&schema).unwrap();
        default(&mut value, &schema);
        let once = value.clone();
        default(&mut value, &schema);
        prop_assert_eq!(value, once);
    }

    #[test]
    fn defaults_survive_pruning(mut value in value(), schema in schema()) {
        let schema = Schema::from_json(&schema).unwrap();
        prune(&mut value, &schema, false);
        default(&mut value, &schema);
        let filled = value.clone();
        prune(&mut value, &schema, false);
        prop_assert_eq!(value, filled);
    }

    #[test]
    fn an_unchanged_value_is_never_refused(value in value(), schema in schema()) {
        let schema = Schema::from_json(&schema).unwrap();
        prop_assert!(validate_update(&value, &value, &schema, &FieldPath::root()).is_empty());
    }

    #[test]
    fn validation_is_the_same_each_time(value in value(), schema in schema()) {
        let schema = Schema::from_json(&schema).unwrap();
        prop_assert_eq!(validate(&value, &schema, &FieldPath::root()), validate(&value, &schema, &FieldPath::root()));
    }
}
