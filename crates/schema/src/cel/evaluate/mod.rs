//! Evaluation, metered: what each step costs is what kube-apiserver counts for it.

mod constant;
mod cost;
mod operator;
mod walk;

use std::collections::BTreeMap;

use self::walk::Evaluation;
use super::check::Checked;
use super::depth::walk;
use super::value::CelValue;

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluationError {
    /// A step can't be done, such as a division by zero; the text is cel-go's.
    #[error("{0}")]
    Failed(String),
    /// It costs more than it may.
    #[error("operation cancelled: actual cost limit exceeded")]
    TooExpensive,
}

/// What evaluating an expression gave, and what it cost.
#[derive(Clone, Debug)]
pub(crate) struct Evaluated<'a> {
    pub(crate) result: Result<CelValue<'a>, EvaluationError>,
    pub(crate) cost: u64,
}

/// Evaluates an expression whose variables have these values, as long as it doesn't cost more than `limit`.
pub(crate) fn evaluate<'a>(checked: &Checked, variables: &BTreeMap<&str, CelValue<'a>>, limit: u64) -> Evaluated<'a> {
    let mut evaluation = Evaluation::new(checked, variables, limit);
    let result = walk(checked.depth, || evaluation.value(&checked.expression));
    Evaluated { result, cost: evaluation.cost() }
}
