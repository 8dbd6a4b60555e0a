//! Quantities of resources, as in `500m` or `1Gi`.

use std::cmp::Ordering;

use super::{Outcome, failed, gives};
use crate::cel::value::{CelValue, Opaque};

const NANO: i128 = 1_000_000_000;
/// Powers of 1000 from a nano upwards.
const DECIMAL: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
/// Powers of 1024 from 1 upwards.
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// A quantity, to a nano.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantity(i128);

impl Quantity {
    /// Reads a quantity; `None` when it isn't one. What is finer than a nano is rounded up.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let end = text.find(|letter: char| !letter.is_ascii_digit() && !matches!(letter, '.' | '+' | '-'));
        let (number, suffix) = text.split_at(end.unwrap_or(text.len()));
        let (negative, digits) = match number.as_bytes().first()? {
            b'-' => (true, number.get(1..)?),
            b'+' => (false, number.get(1..)?),
            _ => (false, number),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all_digits = whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit());
        if (whole.is_empty() && fraction.is_empty()) || !all_digits {
            return None;
        }
        let mantissa: i128 = format!("0{whole}{fraction}").parse().ok()?;
        let divisor = 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
        let nanos = mantissa.checked_mul(unit(suffix)?)?.checked_add(divisor - 1)? / divisor;
        Some(Self(if negative { -nanos } else { nanos }))
    }

    fn integer(self) -> Option<i64> {
        if self.0 % NANO == 0 { i64::try_from(self.0 / NANO).ok() } else { None }
    }
}

fn unit(suffix: &str) -> Option<i128> {
    if let Some(power) = BINARY.iter().position(|known| !suffix.is_empty() && *known == suffix) {
        return Some(NANO * 1024_i128.pow(u32::try_from(power).ok()?));
    }
    if let Some(power) = DECIMAL.iter().position(|known| *known == suffix) {
        return Some(1000_i128.pow(u32::try_from(power).ok()?));
    }
    let exponent: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    10_i128.checked_pow(u32::try_from(exponent.checked_add(9)?).ok()?)
}

pub(super) fn call<'a>(function: &str, arguments: &[CelValue<'a>]) -> Outcome<'a> {
    match (function, arguments) {
        ("quantity", [CelValue::String(text)]) => match Quantity::parse(text) {
            Some(quantity) => gives(value(quantity)),
            None => {
                failed("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
            }
        },
        ("isQuantity", [CelValue::String(text)]) => gives(CelValue::Bool(Quantity::parse(text).is_some())),
        (_, [CelValue::Opaque(Opaque::Quantity(quantity))]) => alone(function, *quantity),
        (_, [CelValue::Opaque(Opaque::Quantity(one)), CelValue::Opaque(Opaque::Quantity(other))]) => {
            together(function, *one, *other)
        }
        ("add" | "sub", [CelValue::Opaque(Opaque::Quantity(one)), CelValue::Int(other)]) => {
            together(function, *one, Quantity(i128::from(*other) * NANO))
        }
        _ => None,
    }
}

fn value<'a>(quantity: Quantity) -> CelValue<'a> {
    CelValue::Opaque(Opaque::Quantity(quantity))
}

#[allow(clippy::cast_precision_loss, reason = "an approximation is what is asked for")]
fn alone<'a>(function: &str, quantity: Quantity) -> Outcome<'a> {
    gives(match function {
        "sign" => CelValue::Int(i64::try_from(quantity.0.signum()).unwrap_or_default()),
        "isInteger" => CelValue::Bool(quantity.integer().is_some()),
        "asInteger" => match quantity.integer() {
            Some(number) => CelValue::Int(number),
            None => return failed("cannot convert value to integer"),
        },
        "asApproximateFloat" => CelValue::Double(quantity.0 as f64 / NANO as f64),
        _ => return None,
    })
}

fn together<'a>(function: &str, one: Quantity, other: Quantity) -> Outcome<'a> {
    gives(match function {
        "isGreaterThan" => CelValue::Bool(one > other),
        "isLessThan" => CelValue::Bool(one < other),
        "compareTo" => CelValue::Int(match one.cmp(&other) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }),
        "add" => value(Quantity(one.0.saturating_add(other.0))),
        "sub" => value(Quantity(one.0.saturating_sub(other.0))),
        _ => return None,
    })
}
