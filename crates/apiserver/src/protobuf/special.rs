//! Types that write their JSON themselves, both ways.

use jiff::Timestamp;
use serde_json::{Number, Value, json};

use super::decode::Decoder;
use super::encode::Encoder;
use super::error::WireError;
use super::table::{Message, Special, ValueKind};
use super::wire::{Reader, WireValue, put_bytes, put_nested, put_number};

/// Appends the fields of a message.
pub(super) fn put(
    encoder: Encoder<'_>,
    out: &mut Vec<u8>,
    special: Special,
    message: &Message,
    value: &Value,
    depth: usize,
) {
    match special {
        Special::Quantity => match value {
            Value::String(text) => put_bytes(out, 1, text.as_bytes()),
            Value::Number(number) => put_bytes(out, 1, number.to_string().as_bytes()),
            _ => put_bytes(out, 1, b"0"),
        },
        Special::IntOrString => {
            let text = value.as_str();
            put_number(out, 1, u64::from(text.is_some()));
            put_signed(out, 2, value.as_i64().unwrap_or_default());
            put_bytes(out, 3, text.unwrap_or_default().as_bytes());
        }
        Special::Time | Special::MicroTime => {
            let Some(time) = value.as_str().and_then(|text| text.parse::<Timestamp>().ok()) else { return };
            let nanoseconds = time.as_nanosecond();
            let seconds = i64::try_from(nanoseconds.div_euclid(1_000_000_000)).unwrap_or_default();
            put_signed(out, 1, seconds);
            let fraction = i64::try_from(nanoseconds.rem_euclid(1_000_000_000)).unwrap_or_default();
            put_signed(out, 2, if special == Special::MicroTime { fraction / 1000 * 1000 } else { 0 });
        }
        Special::Raw => {
            if !value.is_null() {
                put_bytes(out, 1, value.to_string().as_bytes());
            }
        }
        Special::SchemaOrArray | Special::SchemaOrNames => match value {
            Value::Array(_) => put_fields(encoder, out, message, 2, value, depth),
            Value::Object(_) => put_fields(encoder, out, message, 1, value, depth),
            _ => {}
        },
        Special::SchemaOrBool => {
            put_number(out, 1, u64::from(value.is_object() || value.as_bool().unwrap_or_default()));
            if value.is_object() {
                put_fields(encoder, out, message, 2, value, depth);
            }
        }
    }
}

fn put_fields(encoder: Encoder<'_>, out: &mut Vec<u8>, message: &Message, number: u32, value: &Value, depth: usize) {
    if let Some(field) = message.fields.iter().find(|field| field.number == number) {
        encoder.field(out, field, Some(value), depth + 1);
    }
}

#[expect(clippy::cast_sign_loss, reason = "negative numbers are written as the 64 bits that they are")]
fn put_signed(out: &mut Vec<u8>, field: u32, value: i64) {
    put_number(out, field, value as u64);
}

/// An event's or envelope's part, which is a message with one text.
pub(super) fn put_texts(out: &mut Vec<u8>, number: u32, texts: &[&str]) {
    put_nested(out, number, |out| {
        for (field, text) in (1..).zip(texts) {
            put_bytes(out, field, text.as_bytes());
        }
    });
}

/// Decodes a message; the second value says whether it is zero in Go.
pub(super) fn read(
    decoder: &mut Decoder<'_>,
    special: Special,
    message: &Message,
    bytes: &[u8],
    depth: usize,
) -> Result<(Value, bool), WireError> {
    match special {
        Special::Quantity => {
            let text = last_bytes(message, bytes, 1)?.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
            let text = text.filter(|text| !text.is_empty()).unwrap_or_else(|| "0".to_owned());
            Ok((Value::String(text), false))
        }
        Special::IntOrString => int_or_string(message, bytes),
        Special::Time => time(message, bytes, "%Y-%m-%dT%H:%M:%SZ", false),
        Special::MicroTime => time(message, bytes, "%Y-%m-%dT%H:%M:%S%.6fZ", true),
        Special::Raw => match last_bytes(message, bytes, 1)? {
            None | Some([]) => Ok((Value::Null, true)),
            Some(raw) => decoder.raw(raw).map(|value| (value, false)),
        },
        Special::SchemaOrArray | Special::SchemaOrNames => {
            let list = decoder.fields_of(message, bytes, 2, depth)?;
            let schema = decoder.fields_of(message, bytes, 1, depth)?;
            Ok((list.or(schema).unwrap_or_default(), false))
        }
        Special::SchemaOrBool => {
            let schema = decoder.fields_of(message, bytes, 2, depth)?;
            let allows = last_varint(message, bytes, 1)? != 0;
            Ok((schema.unwrap_or(Value::Bool(allows)), false))
        }
    }
}

fn int_or_string(message: &Message, bytes: &[u8]) -> Result<(Value, bool), WireError> {
    if last_varint(message, bytes, 1)? == 0 {
        let number = wrapped(last_varint(message, bytes, 2)?, ValueKind::Int32);
        return Ok((json!(number), false));
    }
    let text = last_bytes(message, bytes, 3)?.unwrap_or_default();
    Ok((json!(String::from_utf8_lossy(text)), false))
}

fn time(message: &Message, bytes: &[u8], form: &str, fractions: bool) -> Result<(Value, bool), WireError> {
    /// The beginning of the year 1, which is Go's zero time.
    const ZERO: i64 = -62_135_596_800;
    if bytes.is_empty() {
        return Ok((Value::Null, true));
    }
    let seconds = wrapped(last_varint(message, bytes, 1)?, ValueKind::Int64);
    let nanoseconds = if fractions { wrapped(last_varint(message, bytes, 2)?, ValueKind::Int32) } else { 0 };
    if seconds == ZERO && nanoseconds == 0 {
        return Ok((Value::Null, true));
    }
    let nanoseconds = i32::try_from(nanoseconds / 1000 * 1000).unwrap_or_default();
    let time = Timestamp::new(seconds, nanoseconds).map_err(|_| WireError::Malformed("time"))?;
    Ok((Value::String(time.strftime(form).to_string()), false))
}

/// The value of a field of bytes that stands last; `None` without one.
fn last_bytes<'b>(message: &Message, bytes: &'b [u8], number: u32) -> Result<Option<&'b [u8]>, WireError> {
    let mut reader = Reader::new(bytes, message.short_name());
    let mut found = None;
    while let Some((field, value)) = reader.next()? {
        match value {
            WireValue::Delimited(bytes) if field == number => found = Some(bytes),
            other if field == number => return Err(wrong(message, other)),
            _ => {}
        }
    }
    Ok(found)
}

fn last_varint(message: &Message, bytes: &[u8], number: u32) -> Result<u64, WireError> {
    let mut reader = Reader::new(bytes, message.short_name());
    let mut found = 0;
    while let Some((field, value)) = reader.next()? {
        match value {
            WireValue::Varint(value) if field == number => found = value,
            other if field == number => return Err(wrong(message, other)),
            _ => {}
        }
    }
    Ok(found)
}

fn wrong(message: &Message, value: WireValue<'_>) -> WireError {
    WireError::WrongType { wire_type: value.wire_type(), field: message.short_name().to_owned() }
}

/// A number as Go's type of that size takes it: what is too large wraps around.
#[expect(clippy::cast_possible_wrap, clippy::cast_possible_truncation, reason = "as Go's decoder does")]
pub(super) fn wrapped(value: u64, kind: ValueKind) -> i64 {
    if kind == ValueKind::Int32 { i64::from(value as i32) } else { value as i64 }
}

/// A float as Go writes it: without a fraction where there is none.
#[expect(clippy::cast_possible_truncation, reason = "only whole numbers in range are cast")]
pub(super) fn float(bits: u64) -> Result<Value, WireError> {
    /// Whole numbers up to this are exact.
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
    let value = f64::from_bits(bits);
    if value.fract() == 0.0 && value.abs() <= MAX_EXACT {
        return Ok(json!(value as i64));
    }
    Number::from_f64(value).map(Value::Number).ok_or(WireError::Malformed("number"))
}
