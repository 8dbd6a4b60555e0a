//! Regular expressions, in the syntax of Go.

use super::{Outcome, failed, gives};
use crate::cel::value::CelValue;
use crate::pattern::{Pattern, PatternError};

/// Compiles a pattern.
pub(crate) fn pattern(text: &str) -> Result<regex::Regex, PatternError> {
    Pattern::new(text).compiled()
}

pub(super) fn call<'a>(function: &str, arguments: &[CelValue<'a>]) -> Outcome<'a> {
    let (CelValue::String(text), CelValue::String(expression)) = (arguments.first()?, arguments.get(1)?) else {
        return None;
    };
    if !matches!(function, "matches" | "find" | "findAll") {
        return None;
    }
    let expression = match pattern(expression) {
        Ok(expression) => expression,
        Err(error) if function == "matches" => return failed(error.to_string()),
        Err(error) => return failed(format!("Illegal regex: {error}")),
    };
    let found = || expression.find_iter(text).map(|found| CelValue::text(found.as_str().to_owned()));
    match (function, arguments.get(2)) {
        ("matches", None) => gives(CelValue::Bool(expression.is_match(text))),
        ("find", None) => gives(found().next().unwrap_or_else(|| CelValue::text(""))),
        ("findAll", None) => gives(CelValue::list(found().collect())),
        ("findAll", Some(CelValue::Int(most))) => {
            let most = usize::try_from(*most).unwrap_or(usize::MAX);
            gives(CelValue::list(found().take(most).collect()))
        }
        _ => None,
    }
}
