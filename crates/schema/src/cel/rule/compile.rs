use std::collections::BTreeMap;

use super::{OLD_SELF, Rule, SELF, field_path};
use crate::cel::cel_type::CelType;
use crate::cel::check::{Checked, check};
use crate::cel::estimate::estimate_cost;
use crate::cel::schema_type::SchemaType;
use crate::field_path::FieldPath;
use crate::schema::Schema;

/// What objects with fields are called in errors about types.
const TYPE_NAME: &str = "selfType";

/// A rule, ready to be evaluated; or why it isn't.
#[derive(Clone, Debug)]
pub(super) struct Compiled {
    pub(super) rule: Rule,
    /// `None` for a rule without text.
    pub(super) program: Option<Result<Checked, String>>,
    pub(super) uses_old_self: bool,
    /// What one evaluation costs at most.
    pub(super) max_cost: u64,
    pub(super) message: Option<Result<Checked, String>>,
    /// What one evaluation of the message costs at most.
    pub(super) message_cost: u64,
    /// The field that errors are about, below the one of the rule.
    pub(super) field: Option<FieldPath>,
}

/// The variables of the rules of one schema.
struct Variables {
    plain: BTreeMap<String, CelType>,
    /// The same, where there may be no old value.
    optional: BTreeMap<String, CelType>,
}

impl Variables {
    fn new(schema_type: &SchemaType) -> Self {
        let value = schema_type.cel_type(TYPE_NAME);
        let with = |old: CelType| BTreeMap::from([(SELF.to_owned(), value.clone()), (OLD_SELF.to_owned(), old)]);
        Self { plain: with(value.clone()), optional: with(CelType::optional(value.clone())) }
    }

    fn of(&self, rule: &Rule) -> &BTreeMap<String, CelType> {
        if rule.optional_old_self == Some(true) { &self.optional } else { &self.plain }
    }
}

/// Compiles the rules of a schema whose values have a type.
pub(super) fn compile(schema: &Schema, rules: &[serde_json::Value], schema_type: &SchemaType) -> Vec<Compiled> {
    if rules.is_empty() {
        return Vec::new();
    }
    let variables = Variables::new(schema_type);
    rules.iter().map(|json| one(schema, Rule::read(json), schema_type, &variables)).collect()
}

fn one(schema: &Schema, rule: Rule, schema_type: &SchemaType, variables: &Variables) -> Compiled {
    let variables = variables.of(&rule);
    let mut compiled = Compiled {
        program: None,
        uses_old_self: false,
        max_cost: 0,
        message: None,
        message_cost: 0,
        field: None,
        rule,
    };
    let rule = &compiled.rule;
    if rule.expression.trim().is_empty() {
        return compiled;
    }
    let program = expression(&rule.expression, variables, &CelType::Bool, "", "cel expression must evaluate to a bool");
    if let Ok(checked) = &program {
        compiled.uses_old_self = checked.variables.contains(OLD_SELF);
        compiled.max_cost = estimate_cost(checked, Some(schema_type)).max;
        if !rule.message_expression.is_empty() {
            let wrong = "messageExpression must evaluate to a string";
            let message =
                expression(&rule.message_expression, variables, &CelType::String, "messageExpression ", wrong);
            if let Ok(checked) = &message {
                compiled.message_cost = estimate_cost(checked, Some(schema_type)).max;
            }
            compiled.message = Some(message);
        }
        if !matches!(compiled.message, Some(Err(_))) && !rule.field_path.is_empty() {
            compiled.field = field_path::resolve(&rule.field_path, schema);
        }
    }
    compiled.program = Some(program);
    compiled
}

fn expression(
    text: &str,
    variables: &BTreeMap<String, CelType>,
    wanted: &CelType,
    what: &str,
    wrong_type: &str,
) -> Result<Checked, String> {
    let checked = check(text, variables).map_err(|issues| format!("{what}compilation failed: {issues}"))?;
    if checked.output() == wanted { Ok(checked) } else { Err(wrong_type.to_owned()) }
}
