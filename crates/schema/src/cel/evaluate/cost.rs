//! What calls cost. The numbers are those of kube-apiserver, where they decide what may run at all.

use cel::common::ast::operators;

use crate::cel::value::{CelValue, Opaque};

/// Making a list.
pub(super) const LIST: u64 = 10;
/// Making a map.
pub(super) const MAP: u64 = 30;

/// An authorization check: two of them fit into one expression.
const CHECK: u64 = 350_000;
/// Walking over a letter.
const LETTER: f64 = 0.1;
/// A letter of a regular expression: it has an expression about every four letters.
const PATTERN_LETTER: f64 = 0.25;
/// The longest regular expression behind a named format.
const NAMED_FORMAT_PATTERN: u64 = 128;

/// What a call costs, beyond what its arguments did.
pub(super) fn of_call(function: &str, arguments: &[CelValue<'_>], result: Option<&CelValue<'_>>) -> u64 {
    let size = |index: usize| arguments.get(index).map_or(1, CelValue::size);
    let letters = |size: u64, times: f64| rounded(size, LETTER * times);
    match function {
        "check" => CHECK,
        "fieldSelector" | "labelSelector" => 10 + letters(size(1), 1.0) + rounded(rounded(size(1), 0.5), 50.0),
        "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" | "includes" => {
            arguments.first().map_or(0, traversal)
        }
        "ip" if matches!(arguments.first(), Some(CelValue::Opaque(Opaque::Cidr(_)))) => 1,
        "url" | "lowerAscii" | "upperAscii" | "substring" | "trim" | "ip" | "cidr" | "isIP" | "isCIDR" | "quantity"
        | "isQuantity" | "semver" | "isSemver" | "bytes" | "strings.quote" | "format" => letters(size(0), 1.0),
        "replace" | "split" | "ip.isCanonical" => letters(size(0), 2.0),
        "join" => letters(result.map_or(1, CelValue::size), 2.0),
        "find" | "findAll" | "matches" => {
            rounded(size(0).saturating_add(1), LETTER).saturating_mul(rounded(size(1), PATTERN_LETTER))
        }
        "containsIP" | "containsCIDR" => {
            let more = if function == "containsCIDR" { letters(size(0), 1.0) + 1 } else { 0 };
            let parsed = if matches!(arguments.get(1), Some(CelValue::String(_))) { letters(size(1), 1.0) } else { 0 };
            letters(size(0).saturating_mul(2), 1.0) + more + parsed
        }
        "validate" => {
            let pattern = rounded(NAMED_FORMAT_PATTERN, PATTERN_LETTER);
            rounded(size(1).saturating_add(1), LETTER).saturating_mul(pattern)
        }
        "startsWith" | "endsWith" => letters(size(1), 1.0),
        "string" if matches!(arguments.first(), Some(CelValue::Bytes(_))) => letters(size(0), 1.0),
        "contains" => letters(size(0), 1.0).saturating_mul(letters(size(1), 1.0)),
        operators::IN if matches!(arguments.get(1), Some(CelValue::List(_))) => size(1),
        operators::EQUALS | operators::NOT_EQUALS => match arguments.first() {
            Some(CelValue::Opaque(_)) => 1,
            _ => letters(size(0).min(size(1)), 1.0),
        },
        operators::LESS | operators::LESS_EQUALS | operators::GREATER | operators::GREATER_EQUALS => {
            match arguments.first() {
                Some(CelValue::String(_) | CelValue::Bytes(_)) => letters(size(0).min(size(1)), 1.0),
                _ => 1,
            }
        }
        operators::ADD => match arguments.first() {
            Some(CelValue::String(_) | CelValue::Bytes(_)) => letters(size(0).saturating_add(size(1)), 1.0),
            _ => 1,
        },
        _ => 1,
    }
}

/// A size times a factor, rounded up.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "sizes are those of documents in memory"
)]
fn rounded(size: u64, factor: f64) -> u64 {
    (size as f64 * factor).ceil() as u64
}

/// Walking over all of a value.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "sizes are those of documents in memory"
)]
fn traversal(value: &CelValue<'_>) -> u64 {
    match value {
        CelValue::String(text) => (text.len() as f64 * LETTER) as u64,
        CelValue::Bytes(bytes) => (bytes.len() as f64 * LETTER) as u64,
        CelValue::List(list) => list.iter().map(|value| traversal(&value)).sum(),
        CelValue::Map(map) => {
            map.keys().iter().map(|key| traversal(key) + map.get(key).map_or(0, |value| traversal(&value))).sum()
        }
        _ => 1,
    }
}
