//! Conversions between types, and sizes.

use std::sync::Arc;

use super::{Outcome, failed, gives};
use crate::cel::cel_type::CelType;
use crate::cel::library::{duration, timestamp};
use crate::cel::value::CelValue;

pub(super) fn call<'a>(function: &str, arguments: &[CelValue<'a>]) -> Outcome<'a> {
    let [value] = arguments else { return None };
    match function {
        "size" => match value {
            CelValue::String(_) | CelValue::Bytes(_) | CelValue::List(_) | CelValue::Map(_) => {
                gives(CelValue::Int(i64::try_from(value.size()).unwrap_or(i64::MAX)))
            }
            _ => None,
        },
        "dyn" => gives(value.clone()),
        "type" => gives(CelValue::Type(match value {
            CelValue::Type(_) => CelType::Type(Arc::new(CelType::Dyn)),
            other => other.type_of(),
        })),
        "bool" => to_bool(value),
        "int" => to_int(value),
        "uint" => to_uint(value),
        "double" => to_double(value),
        "string" => to_string(value),
        "bytes" => match value {
            CelValue::Bytes(_) => gives(value.clone()),
            CelValue::String(text) => gives(CelValue::Bytes(text.as_bytes().into())),
            _ => None,
        },
        "duration" => match value {
            CelValue::Duration(_) => gives(value.clone()),
            CelValue::Int(seconds) => gives(CelValue::Duration(seconds.saturating_mul(1_000_000_000))),
            CelValue::String(text) => match duration(text) {
                Some(span) => gives(CelValue::Duration(span)),
                None => failed(format!("time: invalid duration {text:?}")),
            },
            _ => None,
        },
        "timestamp" => match value {
            CelValue::Timestamp(_) => gives(value.clone()),
            CelValue::Int(seconds) => match jiff::Timestamp::from_second(*seconds) {
                Ok(time) => gives(CelValue::Timestamp(time)),
                Err(_) => failed("timestamp overflow"),
            },
            CelValue::String(text) => match timestamp(text) {
                Some(time) => gives(CelValue::Timestamp(time)),
                None => failed(format!(
                    "parsing time {text:?} as \"2006-01-02T15:04:05Z07:00\": cannot parse {text:?} as \"2006\""
                )),
            },
            _ => None,
        },
        _ => None,
    }
}

fn to_bool<'a>(value: &CelValue<'a>) -> Outcome<'a> {
    match value {
        CelValue::Bool(_) => gives(value.clone()),
        CelValue::String(text) => match text.as_ref() {
            "true" | "TRUE" | "True" | "t" | "1" => gives(CelValue::Bool(true)),
            "false" | "FALSE" | "False" | "f" | "0" => gives(CelValue::Bool(false)),
            other => failed(format!("strconv.ParseBool: parsing {other:?}: invalid syntax")),
        },
        _ => None,
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "the bounds are checked first")]
fn to_int<'a>(value: &CelValue<'a>) -> Outcome<'a> {
    match value {
        CelValue::Int(_) => gives(value.clone()),
        CelValue::Uint(number) => match i64::try_from(*number) {
            Ok(number) => gives(CelValue::Int(number)),
            Err(_) => failed("integer overflow"),
        },
        CelValue::Double(number) if number.is_finite() && *number > i64::MIN as f64 && *number < i64::MAX as f64 => {
            gives(CelValue::Int(number.trunc() as i64))
        }
        CelValue::Double(_) => failed("integer overflow"),
        CelValue::Duration(span) => gives(CelValue::Int(*span)),
        CelValue::Timestamp(time) => gives(CelValue::Int(time.as_second())),
        CelValue::String(text) => match text.parse::<i64>() {
            Ok(number) => gives(CelValue::Int(number)),
            Err(_) => failed(format!("strconv.ParseInt: parsing {text:?}: invalid syntax")),
        },
        _ => None,
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the bounds are checked first"
)]
fn to_uint<'a>(value: &CelValue<'a>) -> Outcome<'a> {
    match value {
        CelValue::Uint(_) => gives(value.clone()),
        CelValue::Int(number) => match u64::try_from(*number) {
            Ok(number) => gives(CelValue::Uint(number)),
            Err(_) => failed("unsigned integer overflow"),
        },
        CelValue::Double(number) if *number >= 0.0 && *number < u64::MAX as f64 => {
            gives(CelValue::Uint(number.trunc() as u64))
        }
        CelValue::Double(_) => failed("unsigned integer overflow"),
        CelValue::String(text) => match text.parse::<u64>() {
            Ok(number) => gives(CelValue::Uint(number)),
            Err(_) => failed(format!("strconv.ParseUint: parsing {text:?}: invalid syntax")),
        },
        _ => None,
    }
}

#[allow(clippy::cast_precision_loss, reason = "that is what the conversion does")]
fn to_double<'a>(value: &CelValue<'a>) -> Outcome<'a> {
    match value {
        CelValue::Double(_) => gives(value.clone()),
        CelValue::Int(number) => gives(CelValue::Double(*number as f64)),
        CelValue::Uint(number) => gives(CelValue::Double(*number as f64)),
        CelValue::String(text) => match text.parse::<f64>() {
            Ok(number) => gives(CelValue::Double(number)),
            Err(_) => failed(format!("strconv.ParseFloat: parsing {text:?}: invalid syntax")),
        },
        _ => None,
    }
}

fn to_string<'a>(value: &CelValue<'a>) -> Outcome<'a> {
    if let CelValue::Bytes(bytes) = value {
        return match std::str::from_utf8(bytes) {
            Ok(text) => gives(CelValue::text(text.to_owned())),
            Err(_) => failed("invalid UTF-8 in bytes, cannot convert to string"),
        };
    }
    plain_text(value).map(|text| Ok(CelValue::text(text)))
}

/// What `string()` gives for scalars and values of libraries.
pub(super) fn plain_text(value: &CelValue<'_>) -> Option<String> {
    use crate::cel::value::Opaque;

    Some(match value {
        CelValue::String(text) => text.to_string(),
        CelValue::Bool(truth) => truth.to_string(),
        CelValue::Int(number) => number.to_string(),
        CelValue::Uint(number) => number.to_string(),
        CelValue::Double(number) => double_text(*number),
        CelValue::Duration(span) => super::time::duration_text(*span),
        CelValue::Timestamp(time) => super::time::timestamp_text(*time),
        CelValue::Opaque(Opaque::Ip(ip)) => ip.to_string(),
        CelValue::Opaque(Opaque::Cidr(cidr)) => cidr.to_string(),
        _ => return None,
    })
}

/// A number in the shortest form, as Go's `%g` writes it.
pub(super) fn double_text(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let magnitude = number.abs();
    if magnitude != 0.0 && !(1e-4..1e21).contains(&magnitude) {
        let text = format!("{number:e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
        return format!("{mantissa}e{sign}{digits:0>2}");
    }
    number.to_string()
}
