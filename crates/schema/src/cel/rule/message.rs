use super::Rule;
use super::evaluation::{Evaluation, Variables, evaluation};
use crate::cel::check::Checked;
use crate::cel::value::CelValue;

/// The longest message that an expression may make, in bytes.
const MAX_MESSAGE: usize = 5 * 1024;

/// What is told of a value that breaks a rule.
pub(super) enum Message {
    Text(String),
    /// No other rule may run: the budget is used up.
    Exhausted(String),
}

impl Message {
    /// What the message expression of a rule makes, else the message or the rule itself.
    pub(super) fn of(rule: &Rule, expression: Option<&Checked>, variables: &Variables<'_>, budget: &mut u64) -> Self {
        let Some(expression) = expression else { return Self::Text(rule.default_message()) };
        match evaluation(expression, variables, budget) {
            Evaluation::OverBudget => {
                let text = "messageExpression evaluation failed due to running out of cost budget, no further \
                            validation rules will be run";
                Self::Exhausted(text.to_owned())
            }
            Evaluation::OverLimit(_) => {
                let what = "no further validation rules will be run due to call cost exceeds limit for \
                            messageExpression:";
                let source = crate::go_format::quote(&rule.message_expression);
                Self::Exhausted(format!("{what} {source}"))
            }
            Evaluation::Value(CelValue::String(text)) if is_message(text.trim()) => Self::Text(text.trim().to_owned()),
            Evaluation::Value(_) | Evaluation::Error(_) => Self::Text(rule.default_message()),
        }
    }
}

fn is_message(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_MESSAGE && !text.contains('\n')
}
