//! `x-kubernetes-validations`: rules in CEL for the values of a schema.

mod compile;
mod correlation;
mod definition;
mod evaluation;
mod field_path;
mod message;
mod ratchet;
mod validate;

use serde_json::Value;

pub use self::definition::EarlierRules;
pub(crate) use self::definition::{RuleCheck, RuleScope};
pub(crate) use self::field_path::resolve as resolve_field_path;
pub use self::validate::{RuleFindings, RuleValidator};
use crate::go_format;

/// The variable with the value that a rule is about.
const SELF: &str = "self";
/// The variable with what the value was before.
const OLD_SELF: &str = "oldSelf";
/// What one evaluation of one expression may cost.
const CALL_LIMIT: u64 = 1_000_000;

/// A rule, as a schema writes it.
#[derive(Clone, Debug, Default)]
struct Rule {
    expression: String,
    message: String,
    message_expression: String,
    reason: Option<String>,
    field_path: String,
    optional_old_self: Option<bool>,
}

impl Rule {
    fn read(json: &Value) -> Self {
        let text = |key: &str| json.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        Self {
            expression: text("rule"),
            message: text("message"),
            message_expression: text("messageExpression"),
            reason: json.get("reason").and_then(Value::as_str).map(str::to_owned),
            field_path: text("fieldPath"),
            optional_old_self: json.get("optionalOldSelf").and_then(Value::as_bool),
        }
    }

    /// The rule as kube-apiserver shows it, in Go's order and names.
    fn shown(&self) -> String {
        let text = |text: &str| go_format::json(&Value::from(text));
        format!(
            r#"{{"Rule":{},"Message":{},"MessageExpression":{},"Reason":{},"FieldPath":{},"OptionalOldSelf":{}}}"#,
            text(&self.expression),
            text(&self.message),
            text(&self.message_expression),
            self.reason.as_deref().map_or("null".to_owned(), text),
            text(&self.field_path),
            self.optional_old_self.map_or("null".to_owned(), |given| given.to_string()),
        )
    }

    /// What errors call the rule.
    fn name(&self) -> &str {
        if self.message.is_empty() { self.expression.trim() } else { self.message.trim() }
    }

    /// What is told when the value breaks it and nothing else is said.
    fn default_message(&self) -> String {
        if self.message.is_empty() { format!("failed rule: {}", self.name()) } else { self.message.trim().to_owned() }
    }
}
