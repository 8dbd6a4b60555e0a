//! Conditions in CEL under which a webhook is asked (KEP-3716).

use controller_runtime_schema::cel::{CelType, CelValue, Program};

use super::expression::{Subject, environment};

/// What all conditions of a webhook may cost together.
const BUDGET: u64 = 2_500_000;
/// What one may cost.
const EXPRESSION_LIMIT: u64 = 1_000_000;
const TOO_EXPENSIVE: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// Reads a condition. The error says what is wrong with it, in the reference's words.
pub(crate) fn compile(expression: &str) -> Result<Program, String> {
    let program = environment().compile(expression).map_err(|issues| format!("compilation failed: {issues}"))?;
    match program.output() {
        CelType::Bool => Ok(program),
        other => Err(format!("must evaluate to bool but got {other}")),
    }
}

/// Whether all conditions hold. One that doesn't hold counts more than others that fail; the error says why those did.
pub(super) fn hold(conditions: &[String], subject: &Subject<'_>) -> Result<bool, String> {
    let variables = subject.variables();
    let mut budget = BUDGET;
    let mut holds = true;
    let mut errors = Vec::new();
    for expression in conditions {
        let why = match compile(expression) {
            Err(why) => format!("compilation error: {why}"),
            Ok(program) => {
                let (result, cost) = program.evaluate(&variables, EXPRESSION_LIMIT);
                budget = budget.checked_sub(cost).ok_or(TOO_EXPENSIVE)?;
                match result {
                    Err(error) => format!("expression '{expression}' resulted in error: {error}"),
                    Ok(value) => {
                        holds &= !matches!(value, CelValue::Bool(false));
                        continue;
                    }
                }
            }
        };
        if !errors.contains(&why) {
            errors.push(why);
        }
    }
    if !holds {
        return Ok(false);
    }
    match errors.as_slice() {
        [] => Ok(true),
        [only] => Err(only.clone()),
        many => Err(format!("[{}]", many.join(", "))),
    }
}
