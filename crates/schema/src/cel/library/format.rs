//! Text with values in it: `'%s is %d'.format([a, b])`.

use super::conversion::{double_text, plain_text};
use super::{Outcome, failed, gives};
use crate::cel::value::{CelList, CelValue, Opaque};

/// The longest text that `format` makes.
const LONGEST: usize = 1_000_000;

pub(super) fn call<'a>(function: &str, arguments: &[CelValue<'a>]) -> Outcome<'a> {
    let ("format", [CelValue::String(text), CelValue::List(values)]) = (function, arguments) else { return None };
    match formatted(text, values) {
        Ok(text) => gives(CelValue::text(text)),
        Err(message) => failed(message),
    }
}

fn formatted(text: &str, values: &CelList<'_>) -> Result<String, String> {
    let mut made = String::new();
    let mut letters = text.chars().peekable();
    let mut next = 0;
    while let Some(letter) = letters.next() {
        if letter != '%' {
            made.push(letter);
            continue;
        }
        if letters.next_if_eq(&'%').is_some() {
            made.push('%');
            continue;
        }
        let mut precision = None;
        if letters.next_if_eq(&'.').is_some() {
            let mut digits = String::new();
            while let Some(digit) = letters.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            precision = Some(digits.parse::<usize>().map_err(|_| "error while parsing precision".to_owned())?);
        }
        let Some(clause) = letters.next() else { return Err("unexpected end of format string".to_owned()) };
        let value = values.get(next).ok_or_else(|| format!("index {next} out of range"))?;
        next += 1;
        made.push_str(&one(clause, &value, precision.unwrap_or(6).min(100))?);
        if made.len() > LONGEST {
            return Err("format string is too long".to_owned());
        }
    }
    Ok(made)
}

fn one(clause: char, value: &CelValue<'_>, precision: usize) -> Result<String, String> {
    let wrong = |wanted: &str| Err(format!("error during formatting: {wanted}, was given {}", value.type_of()));
    match clause {
        's' => shown(value).map_or_else(
            || wrong("string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"),
            Ok,
        ),
        'd' => match value {
            CelValue::Int(number) => Ok(number.to_string()),
            CelValue::Uint(number) => Ok(number.to_string()),
            CelValue::Double(number) if !number.is_finite() => Ok(double_text(*number)),
            _ => wrong("decimal clause can only be used on integers"),
        },
        'f' | 'e' => {
            let number = match value {
                CelValue::Double(number) => *number,
                #[allow(clippy::cast_precision_loss, reason = "that is what the clause does")]
                CelValue::Int(number) => *number as f64,
                #[allow(clippy::cast_precision_loss, reason = "that is what the clause does")]
                CelValue::Uint(number) => *number as f64,
                _ if clause == 'f' => return wrong("fixed-point clause can only be used on doubles"),
                _ => return wrong("scientific clause can only be used on doubles"),
            };
            if !number.is_finite() {
                return Ok(double_text(number));
            }
            Ok(if clause == 'f' { format!("{number:.precision$}") } else { scientific(number, precision) })
        }
        'b' => match value {
            CelValue::Int(number) => Ok(signed(*number, |magnitude| format!("{magnitude:b}"))),
            CelValue::Uint(number) => Ok(format!("{number:b}")),
            CelValue::Bool(truth) => Ok(u8::from(*truth).to_string()),
            _ => wrong("only integers and bools can be formatted as binary"),
        },
        'o' => match value {
            CelValue::Int(number) => Ok(signed(*number, |magnitude| format!("{magnitude:o}"))),
            CelValue::Uint(number) => Ok(format!("{number:o}")),
            _ => wrong("octal clause can only be used on integers"),
        },
        'x' | 'X' => {
            let text = match value {
                CelValue::Int(number) => signed(*number, |magnitude| format!("{magnitude:x}")),
                CelValue::Uint(number) => format!("{number:x}"),
                CelValue::String(text) => hex(text.as_bytes()),
                CelValue::Bytes(bytes) => hex(bytes),
                _ => return wrong("only integers, byte buffers, and strings can be formatted as hex"),
            };
            Ok(if clause == 'X' { text.to_ascii_uppercase() } else { text })
        }
        other => Err(format!("could not parse formatting clause: unrecognized formatting clause \"{other}\"")),
    }
}

fn signed(number: i64, digits: impl Fn(u64) -> String) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", digits(number.unsigned_abs()))
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;

    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn scientific(number: f64, precision: usize) -> String {
    let text = format!("{number:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    format!("{mantissa}e{sign}{digits:0>2}")
}

/// A value as `%s` writes it.
fn shown(value: &CelValue<'_>) -> Option<String> {
    Some(match value {
        CelValue::Null => "null".to_owned(),
        CelValue::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        CelValue::Type(of) => of.to_string(),
        CelValue::List(list) => {
            let items: Option<Vec<String>> = list.iter().map(|value| shown(&value)).collect();
            format!("[{}]", items?.join(", "))
        }
        CelValue::Map(map) => {
            let mut entries = Vec::new();
            for key in map.keys() {
                entries.push((shown(&key)?, shown(&map.get(&key)?)?));
            }
            entries.sort();
            let entries: Vec<String> = entries.into_iter().map(|(key, value)| format!("{key}: {value}")).collect();
            format!("{{{}}}", entries.join(", "))
        }
        CelValue::Opaque(Opaque::Ip(_) | Opaque::Cidr(_)) | CelValue::Optional(_) => return None,
        other => plain_text(other)?,
    })
}
