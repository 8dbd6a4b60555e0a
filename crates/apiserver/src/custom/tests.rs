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

fn cause(error: &FieldError) -> Value {
    json!({"field": error.field, "reason": error.reason(), "message": error.body()})
}
