use std::collections::BTreeMap;

use super::cel_type::CelType;
use super::check::{Checked, check};
use super::evaluate::{EvaluationError, evaluate};
use super::value::CelValue;

/// The variables that expressions may read, beside the functions of Kubernetes' environment.
///
/// ```
/// use std::collections::BTreeMap;
/// use controller_runtime_schema::cel::{CelType, CelValue, Environment};
///
/// let environment = Environment::default().variable("name", CelType::String);
/// let program = environment.compile("name.size() > 3 && name.startsWith('a')").unwrap();
/// let (result, cost) = program.evaluate(&BTreeMap::from([("name", CelValue::text("abcd"))]), 1_000_000);
/// assert!(matches!(result, Ok(CelValue::Bool(true))));
/// assert_eq!(cost, 5);
///
/// let wrong = environment.compile("name + 1").unwrap_err();
/// assert!(wrong.starts_with("ERROR: <input>:1:6: found no matching overload for '_+_' applied to '(string, int)'"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<String, CelType>,
}

impl Environment {
    /// One variable more.
    #[must_use]
    pub fn variable(mut self, name: impl Into<String>, of: CelType) -> Self {
        self.variables.insert(name.into(), of);
        self
    }

    /// Parses an expression and checks its types. The error has a paragraph for each issue, in the words of cel-go.
    pub fn compile(&self, expression: &str) -> Result<Program, String> {
        check(expression, &self.variables).map(|checked| Program { checked })
    }
}

/// An expression whose types fit.
#[derive(Clone, Debug)]
pub struct Program {
    checked: Checked,
}

impl Program {
    /// The type of its value.
    pub fn output(&self) -> &CelType {
        self.checked.output()
    }

    /// Whether it reads a variable.
    pub fn reads(&self, variable: &str) -> bool {
        self.checked.variables.contains(variable)
    }

    /// Its value where variables have these values, and what finding it cost. It stops when it costs more than `limit`.
    pub fn evaluate<'a>(
        &self,
        variables: &BTreeMap<&str, CelValue<'a>>,
        limit: u64,
    ) -> (Result<CelValue<'a>, EvaluationError>, u64) {
        let evaluated = evaluate(&self.checked, variables, limit);
        (evaluated.result, evaluated.cost)
    }

    /// What the checker found out, for estimates of costs.
    #[allow(dead_code, reason = "the estimate of costs reads it")]
    pub(crate) fn checked(&self) -> &Checked {
        &self.checked
    }
}
