use serde_json::Value;

use super::{Outcome, Trail, Validator};
use crate::go_format::quote;
use crate::schema::Schema;

impl Validator<'_> {
    /// anyOf, oneOf, allOf and not. What is inside an unchanged value is forgiven there too, but not the value itself,
    /// which is judged as a whole by the caller.
    pub(super) fn combined(
        &self,
        value: &Value,
        old: Option<&Value>,
        schema: &Schema,
        trail: Trail<'_>,
        outcome: &mut Outcome,
    ) {
        self.any_of(value, old, &schema.validation.any_of, trail, outcome);
        self.one_of(value, old, &schema.validation.one_of, trail, outcome);
        self.all_of(value, old, &schema.validation.all_of, trail, outcome);
        if let Some(not) = &schema.validation.not
            && self.fresh(value, old, not, trail).is_valid()
        {
            outcome.add(self.general(format!("{} must not validate the schema (not)", quote(&trail.to_string()))));
        }
        outcome.matches += 1;
    }

    fn any_of(&self, value: &Value, old: Option<&Value>, schemas: &[Schema], trail: Trail<'_>, outcome: &mut Outcome) {
        let mut best: Option<Outcome> = None;
        for schema in schemas {
            let result = self.fresh(value, old, schema, trail);
            if result.is_valid() {
                outcome.merge(result);
                return;
            }
            if best.as_ref().is_none_or(|best| result.matches > best.matches) {
                best = Some(result);
            }
        }
        if let Some(best) = best {
            let name = quote(&trail.to_string());
            outcome.add(self.general(format!("{name} must validate at least one schema (anyOf)")));
            outcome.merge(best);
        }
    }

    fn one_of(&self, value: &Value, old: Option<&Value>, schemas: &[Schema], trail: Trail<'_>, outcome: &mut Outcome) {
        let mut valid: Vec<Outcome> = Vec::new();
        let mut best: Option<Outcome> = None;
        for schema in schemas {
            let result = self.fresh(value, old, schema, trail);
            if result.is_valid() {
                valid.push(result);
                best = None;
            } else if valid.is_empty() && best.as_ref().is_none_or(|best| result.matches > best.matches) {
                best = Some(result);
            }
        }
        if schemas.is_empty() {
            return;
        }
        let found = match valid.len() {
            0 => "Found none valid".to_owned(),
            1 => return valid.into_iter().fold((), |(), only| outcome.merge(only)),
            count => format!("Found {count} valid alternatives"),
        };
        let name = quote(&trail.to_string());
        outcome.add(self.general(format!("{name} must validate one and only one schema (oneOf). {found}")));
        if let Some(best) = best {
            outcome.merge(best);
        }
    }

    fn all_of(&self, value: &Value, old: Option<&Value>, schemas: &[Schema], trail: Trail<'_>, outcome: &mut Outcome) {
        let mut valid = 0;
        for schema in schemas {
            let result = self.fresh(value, old, schema, trail);
            valid += usize::from(result.is_valid());
            outcome.merge(result);
        }
        if valid != schemas.len() {
            let none = if valid == 0 { ". None validated" } else { "" };
            let name = quote(&trail.to_string());
            outcome.add(self.general(format!("{name} must validate all the schemas (allOf){none}")));
        }
    }
}
