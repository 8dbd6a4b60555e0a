use controller_runtime_schema::FieldError;
use serde_json::{Value, json};

use super::definition::Definition;
use super::definition_strategy::{DefinitionStrategy, note_stored_version};
use super::validate;
use crate::strategy::Strategy;

/// What kube-apiserver 1.37 answered to definitions, most of them wrong in one way.
const RECORDED: &str = include_str!("recorded/definitions.json");

#[test]
fn wrong_definitions_get_the_errors_of_kube_apiserver() {
    let recorded: Vec<Value> = serde_json::from_str(RECORDED).unwrap();
    assert!(recorded.len() > 30, "the recording is there");
    for case in recorded {
        let mut definition = case["definition"].clone();
        DefinitionStrategy.default(&mut definition);
        note_stored_version(&mut definition);
        let errors = validate::validate_create(Definition::new(&definition));
        let causes: Vec<_> = errors.iter().map(cause).collect();
        assert_eq!(Value::from(causes), case["causes"], "{}", case["case"]);
    }
}

#[test]
fn replicas_are_not_too_deep_to_be_walked() {
    for (levels, fits) in [(100, true), (101, false), (1_000_000, false)] {
        let scale =
            json!({"specReplicasPath": format!(".spec{}", ".a".repeat(levels - 2)), "statusReplicasPath": ".status.r"});
        let definition = json!({"spec": {"versions": [
            {"name": "v1", "served": true, "storage": true, "subresources": {"scale": scale}},
        ]}});
        let errors = validate::validate_create(Definition::new(&definition));
        let is_too_deep = |error: &FieldError| error.body().ends_with("must not be deeper than 100 levels");
        assert_eq!(!errors.iter().any(is_too_deep), fits, "{levels}");
    }
}

fn cause(error: &FieldError) -> Value {
    json!({"field": error.field, "reason": error.reason(), "message": error.body()})
}
