use serde_json::{Number, Value};

use super::value_type::is_whole;
use super::{Outcome, Trail, Validator};
use crate::go_format::float;
use crate::schema::{Schema, ValueType};

/// A number as kube-apiserver holds it.
#[derive(Clone, Copy)]
enum Native {
    Integer(i64),
    Float(f64),
}

impl Native {
    fn as_f64(self) -> f64 {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "kube-apiserver compares as floats as well")]
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    fn show(self) -> String {
        match self {
            Self::Integer(value) => value.to_string(),
            Self::Float(value) => float(value),
        }
    }

    /// A bound in the representation in which it is compared with this number.
    fn bound(self, bound: f64) -> Self {
        match self {
            #[expect(clippy::cast_possible_truncation, reason = "bounds of whole numbers are truncated")]
            Self::Integer(_) => Self::Integer(bound as i64),
            Self::Float(_) => Self::Float(bound),
        }
    }

    fn below(self, other: Self) -> bool {
        match (self, other) {
            (Self::Integer(one), Self::Integer(other)) => one < other,
            _ => self.as_f64() < other.as_f64(),
        }
    }

    fn json(self) -> Value {
        match self {
            Self::Integer(value) => value.into(),
            Self::Float(value) => value.into(),
        }
    }
}

/// Whether a number fits the schema's type and format.
fn fits(number: Native, schema: &Schema) -> bool {
    let integer = |number: Native| match number {
        Native::Integer(value) => Some(value),
        #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and small enough")]
        Native::Float(value) if value.fract() == 0.0 && value.abs() < 9.3e18 => Some(value as i64),
        Native::Float(_) => None,
    };
    match (typed(schema), schema.checked_format()) {
        (Some(ValueType::Integer), Some("int32")) => integer(number).is_some_and(|value| i32::try_from(value).is_ok()),
        (Some(ValueType::Integer), _) => integer(number).is_some(),
        (Some(ValueType::Number), Some("float")) => number.as_f64().abs() <= f64::from(f32::MAX),
        _ => true,
    }
}

/// The one type of a number, if the schema says one.
fn typed(schema: &Schema) -> Option<ValueType> {
    schema.value_type.filter(|_| !schema.int_or_string)
}

fn misfit(schema: &Schema, what: &str, trail: &Trail<'_>) -> String {
    let name = typed(schema).map_or("", ValueType::as_str);
    match schema.checked_format() {
        Some(format) => format!("{what} value must be of type {name} with format {format} in {trail}"),
        None => format!("{what} value must be of type {name} (default format) in {trail}"),
    }
}

impl Validator<'_> {
    pub(super) fn number(&self, number: &Number, schema: &Schema, trail: Trail<'_>, outcome: &mut Outcome) {
        let number = match number.as_i64() {
            Some(value) => Native::Integer(value),
            None => Native::Float(number.as_f64().unwrap_or_default()),
        };
        if !fits(number, schema) {
            outcome.add(self.general(misfit(schema, "Checked", &trail)));
        }
        let rules = &schema.validation;
        if let Some(factor) = rules.multiple_of {
            let number = self.comparable(number, factor, schema, "MultipleOf", trail, outcome);
            self.multiple(number, factor, trail, outcome);
        }
        if let Some(least) = rules.minimum {
            let number = self.comparable(number, least, schema, "Minimum boundary", trail, outcome);
            let bound = number.bound(least);
            if number.below(bound) || (rules.exclusive_minimum && !bound.below(number)) {
                let relation = if rules.exclusive_minimum { "greater than" } else { "greater than or equal to" };
                let message = format!("{trail} in body should be {relation} {}", bound.show());
                outcome.add(self.invalid(&trail, number.json(), message));
            }
        }
        if let Some(most) = rules.maximum {
            let number = self.comparable(number, most, schema, "Maximum boundary", trail, outcome);
            let bound = number.bound(most);
            if bound.below(number) || (rules.exclusive_maximum && !number.below(bound)) {
                let relation = if rules.exclusive_maximum { "less than" } else { "less than or equal to" };
                let message = format!("{trail} in body should be {relation} {}", bound.show());
                outcome.add(self.invalid(&trail, number.json(), message));
            }
        }
    }

    /// The number as it is compared with a bound: as a float where the bound isn't of the schema's own type.
    fn comparable(
        &self,
        number: Native,
        bound: f64,
        schema: &Schema,
        what: &str,
        trail: Trail<'_>,
        outcome: &mut Outcome,
    ) -> Native {
        if fits(Native::Float(bound), schema) {
            return number;
        }
        outcome.add(self.general(misfit(schema, what, &trail)));
        Native::Float(number.as_f64())
    }

    fn multiple(&self, number: Native, factor: f64, trail: Trail<'_>, outcome: &mut Outcome) {
        let factor = number.bound(factor);
        if factor.as_f64() <= 0.0 {
            let message = format!("factor MultipleOf declared for {trail} must be positive: {}", factor.show());
            outcome.add(self.invalid(&trail, factor.json(), message));
            return;
        }
        let holds = match (number, factor) {
            (Native::Integer(number), Native::Integer(factor)) => number % factor == 0,
            (number, factor) if factor.as_f64() < 1.0 => is_whole(1.0 / factor.as_f64() * number.as_f64()),
            (number, factor) => is_whole(number.as_f64() / factor.as_f64()),
        };
        if !holds {
            let message = format!("{trail} in body should be a multiple of {}", factor.show());
            outcome.add(self.invalid(&trail, number.json(), message));
        }
    }
}
