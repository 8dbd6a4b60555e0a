use std::collections::BTreeMap;

use serde_json::Value;

use super::{CALL_LIMIT, OLD_SELF, SELF};
use crate::cel::check::Checked;
use crate::cel::evaluate::{EvaluationError, evaluate};
use crate::cel::value::CelValue;
use crate::schema::Schema;

/// The variables of the rules of one value.
#[derive(Clone, Debug)]
pub(super) struct Variables<'a> {
    value: CelValue<'a>,
    old: Option<CelValue<'a>>,
}

impl<'a> Variables<'a> {
    pub(super) fn new(schema: &'a Schema, value: &'a Value, old: Option<&'a Value>) -> Self {
        Self { value: CelValue::with_schema(value, schema), old: old.map(|old| CelValue::with_schema(old, schema)) }
    }

    pub(super) fn has_old(&self) -> bool {
        self.old.is_some()
    }

    /// The same for a rule for which the old value is optional.
    pub(super) fn optional(&self) -> Self {
        let old = self.old.clone().map_or(CelValue::Optional(None), CelValue::some);
        Self { value: self.value.clone(), old: Some(old) }
    }

    fn by_name(&self) -> BTreeMap<&'static str, CelValue<'a>> {
        let old = self.old.clone().map(|old| (OLD_SELF, old));
        [(SELF, self.value.clone())].into_iter().chain(old).collect()
    }
}

/// How evaluating an expression ends.
pub(super) enum Evaluation<'a> {
    Value(CelValue<'a>),
    Error(String),
    /// One expression cost too much.
    OverLimit(String),
    /// All together cost too much.
    OverBudget,
}

/// Evaluates an expression and takes what it costs from the budget.
pub(super) fn evaluation<'a>(program: &Checked, variables: &Variables<'a>, budget: &mut u64) -> Evaluation<'a> {
    let evaluated = evaluate(program, &variables.by_name(), CALL_LIMIT);
    let Some(left) = budget.checked_sub(evaluated.cost) else { return Evaluation::OverBudget };
    *budget = left;
    match evaluated.result {
        Ok(value) => Evaluation::Value(value),
        Err(error @ EvaluationError::TooExpensive) => Evaluation::OverLimit(error.to_string()),
        Err(error) => Evaluation::Error(error.to_string()),
    }
}
