//! Protocol buffers to JSON values, as Go would write the decoded object.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::error::WireError;
use super::special;
use super::table::{Field, Message, Shape, Table, ValueKind, Zero};
use super::wire::{Reader, WireValue};

/// Messages within messages.
const MAX_DEPTH: usize = 100;

/// Values of one object. A byte of input can become a value of some hundred bytes, so their number is bounded too.
const MAX_VALUES: usize = 500_000;

/// Decodes the fields of one object.
pub(super) fn read_message(table: &Table, message: &Message, bytes: &[u8]) -> Result<Value, WireError> {
    let mut decoder = Decoder { table, values: MAX_VALUES };
    decoder.message(message, bytes, 0).map(|(value, _)| value)
}

pub(super) struct Decoder<'t> {
    table: &'t Table,
    /// How many more values there may be.
    values: usize,
}

/// What stands in a message's bytes for one field, in order.
type Found<'b> = BTreeMap<u32, Vec<WireValue<'b>>>;

impl Decoder<'_> {
    /// The message as JSON, and whether it is zero in Go.
    fn message(&mut self, message: &Message, bytes: &[u8], depth: usize) -> Result<(Value, bool), WireError> {
        if depth > MAX_DEPTH {
            return Err(WireError::TooDeep);
        }
        if let Some(special) = message.special {
            self.count(1)?;
            return special::read(self, special, message, bytes, depth);
        }
        let found = find(message, bytes)?;
        if message.is_list {
            let items = message.fields.first().map(|field| self.field(field, &found, depth)).transpose()?;
            return Ok((items.flatten().unwrap_or_else(|| json!([])), false));
        }
        let mut members = Map::new();
        let is_zero = self.members(message, &found, &mut members, depth)?;
        Ok((Value::Object(members), is_zero))
    }

    /// Adds the fields of a message to an object; says whether all of them are zero.
    fn members(
        &mut self,
        message: &Message,
        found: &Found<'_>,
        members: &mut Map<String, Value>,
        depth: usize,
    ) -> Result<bool, WireError> {
        let mut is_zero = true;
        for field in &message.fields {
            if let (true, ValueKind::Message(place)) = (field.is_inlined, field.value) {
                let Some(inlined) = self.table.at(place) else { continue };
                let bytes = joined(field, found)?.unwrap_or_default();
                let found = find(inlined, &bytes)?;
                if depth >= MAX_DEPTH {
                    return Err(WireError::TooDeep);
                }
                is_zero &= self.members(inlined, &found, members, depth + 1)?;
                continue;
            }
            let given = self.field(field, found, depth)?;
            is_zero &= given.is_none();
            let written = match given {
                Some(value) => Some(value),
                None => self.zero(field, depth)?,
            };
            if let Some(value) = written {
                self.count(1)?;
                members.insert(field.json.to_owned(), value);
            }
        }
        Ok(is_zero)
    }

    /// What JSON has for a field that is zero; `None` when it isn't written.
    fn zero(&mut self, field: &Field, depth: usize) -> Result<Option<Value>, WireError> {
        let message = match field.value {
            ValueKind::Message(place) if field.shape == Shape::One && !field.is_pointer => self.table.at(place),
            _ => None,
        };
        let is_nil = field.is_pointer || field.shape != Shape::One || field.value == ValueKind::Bytes;
        Ok(match (field.zero, message) {
            (Zero::Omitted, _) | (Zero::Usual, None) => None,
            (Zero::Written, _) if is_nil => Some(Value::Null),
            (zero, Some(message)) if message.is_list => (zero == Zero::Written).then_some(Value::Null),
            (_, Some(message)) => Some(self.message(message, &[], depth + 1)?.0),
            (Zero::Written, None) => Some(match field.value {
                ValueKind::Text => json!(""),
                ValueKind::Bool => json!(false),
                _ => json!(0),
            }),
        })
    }

    /// A field's value; `None` when it is absent, or zero and not a pointer.
    fn field(&mut self, field: &Field, found: &Found<'_>, depth: usize) -> Result<Option<Value>, WireError> {
        let Some(values) = found.get(&field.number) else { return Ok(None) };
        match (field.shape, field.value) {
            (Shape::Repeated, kind) => self.repeated(field, kind, values, depth).map(Some),
            (Shape::Map, kind) => self.map(field, kind, values, depth).map(Some),
            (Shape::One, ValueKind::Message(place)) => {
                let Some(message) = self.table.at(place) else { return Ok(None) };
                let bytes = joined(field, found)?.unwrap_or_default();
                let (value, is_zero) = self.message(message, &bytes, depth + 1)?;
                Ok((field.is_pointer || !is_zero).then_some(value))
            }
            (Shape::One, kind) => {
                let Some(last) = values.last() else { return Ok(None) };
                let value = scalar(field, kind, *last)?;
                let is_zero = match &value {
                    Value::String(text) => text.is_empty() && kind == ValueKind::Text,
                    Value::Bool(value) => !value,
                    Value::Number(number) => number.as_f64() == Some(0.0),
                    _ => false,
                };
                Ok((field.is_pointer || !is_zero).then_some(value))
            }
        }
    }

    fn repeated(
        &mut self,
        field: &Field,
        kind: ValueKind,
        values: &[WireValue<'_>],
        depth: usize,
    ) -> Result<Value, WireError> {
        let mut items = Vec::new();
        for value in values {
            self.count(1)?;
            match (kind, *value) {
                (ValueKind::Message(_), value) => items.push(self.item(field, kind, value, depth)?),
                // Numbers may stand packed.
                (ValueKind::Int32 | ValueKind::Int64 | ValueKind::Bool, WireValue::Delimited(bytes)) => {
                    let mut reader = Reader::new(bytes, "");
                    while !reader.is_empty() {
                        self.count(1)?;
                        items.push(scalar(field, kind, WireValue::Varint(reader.varint()?))?);
                    }
                }
                (_, value) => items.push(scalar(field, kind, value)?),
            }
        }
        Ok(Value::Array(items))
    }

    fn map(
        &mut self,
        field: &Field,
        kind: ValueKind,
        values: &[WireValue<'_>],
        depth: usize,
    ) -> Result<Value, WireError> {
        let mut members = Map::new();
        for value in values {
            self.count(1)?;
            let WireValue::Delimited(entry) = *value else { return Err(wrong(field, *value)) };
            let mut reader = Reader::new(entry, "");
            let (mut key, mut value) = (String::new(), None);
            while let Some((number, part)) = reader.next()? {
                match (number, part) {
                    (1, WireValue::Delimited(bytes)) => key = String::from_utf8_lossy(bytes).into_owned(),
                    (2, part) => value = Some(part),
                    _ => {}
                }
            }
            let value = match (value, kind) {
                (Some(part), _) => self.item(field, kind, part, depth)?,
                (None, ValueKind::Message(_)) => self.item(field, kind, WireValue::Delimited(&[]), depth)?,
                (None, ValueKind::Text) => json!(""),
                (None, ValueKind::Bytes) => Value::Null,
                (None, ValueKind::Bool) => json!(false),
                (None, _) => json!(0),
            };
            members.insert(key, value);
        }
        Ok(Value::Object(members))
    }

    /// One value of a list or a map.
    fn item(&mut self, field: &Field, kind: ValueKind, value: WireValue<'_>, depth: usize) -> Result<Value, WireError> {
        let ValueKind::Message(place) = kind else { return scalar(field, kind, value) };
        let WireValue::Delimited(bytes) = value else { return Err(wrong(field, value)) };
        let Some(message) = self.table.at(place) else { return Ok(Value::Null) };
        self.message(message, bytes, depth + 1).map(|(value, _)| value)
    }

    /// The values of one field of a message whose JSON is made by hand.
    pub(super) fn fields_of(
        &mut self,
        message: &Message,
        bytes: &[u8],
        number: u32,
        depth: usize,
    ) -> Result<Option<Value>, WireError> {
        let Some(field) = message.fields.iter().find(|field| field.number == number) else { return Ok(None) };
        let found = find(message, bytes)?;
        if !found.contains_key(&number) {
            return Ok(None);
        }
        if let (Shape::One, ValueKind::Message(place)) = (field.shape, field.value) {
            let bytes = joined(field, &found)?.unwrap_or_default();
            let Some(message) = self.table.at(place) else { return Ok(None) };
            return self.message(message, &bytes, depth + 1).map(|(value, _)| Some(value));
        }
        self.field(field, &found, depth)
    }

    /// JSON text that stands in a field of bytes.
    pub(super) fn raw(&mut self, bytes: &[u8]) -> Result<Value, WireError> {
        let value = serde_json::from_slice(bytes).map_err(|_| WireError::Malformed("JSON"))?;
        self.count(bytes.len() / 8)?;
        Ok(value)
    }

    fn count(&mut self, values: usize) -> Result<(), WireError> {
        self.values = self.values.checked_sub(values).ok_or(WireError::TooMany)?;
        Ok(())
    }
}

/// The known fields in a message's bytes. Unknown ones are passed over.
fn find<'b>(message: &Message, bytes: &'b [u8]) -> Result<Found<'b>, WireError> {
    let mut reader = Reader::new(bytes, message.short_name());
    let mut found = Found::new();
    while let Some((number, value)) = reader.next()? {
        if message.fields.iter().any(|field| field.number == number) {
            found.entry(number).or_default().push(value);
        }
    }
    Ok(found)
}

/// The bytes of a message; several that stand for one field are merged, which joining does.
fn joined<'b>(field: &Field, found: &Found<'b>) -> Result<Option<Cow<'b, [u8]>>, WireError> {
    let Some(values) = found.get(&field.number) else { return Ok(None) };
    let mut all: Option<Cow<'b, [u8]>> = None;
    for value in values {
        let WireValue::Delimited(bytes) = *value else { return Err(wrong(field, *value)) };
        match &mut all {
            None => all = Some(Cow::Borrowed(bytes)),
            Some(all) => all.to_mut().extend_from_slice(bytes),
        }
    }
    Ok(all)
}

fn scalar(field: &Field, kind: ValueKind, value: WireValue<'_>) -> Result<Value, WireError> {
    Ok(match (kind, value) {
        (ValueKind::Text, WireValue::Delimited(bytes)) => json!(String::from_utf8_lossy(bytes)),
        (ValueKind::Bytes, WireValue::Delimited(bytes)) => json!(STANDARD.encode(bytes)),
        (ValueKind::Bool, WireValue::Varint(number)) => json!(number != 0),
        (ValueKind::Int32 | ValueKind::Int64, WireValue::Varint(number)) => json!(special::wrapped(number, kind)),
        (ValueKind::Double, WireValue::Fixed64(bits)) => special::float(bits)?,
        _ => return Err(wrong(field, value)),
    })
}

/// Errors name fields as Go does, as far as the names in JSON tell.
fn wrong(field: &Field, value: WireValue<'_>) -> WireError {
    let go_name = match field.json {
        "metadata" => "ObjectMeta".to_owned(),
        json => {
            let mut letters = json.chars();
            letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
        }
    };
    WireError::WrongType { wire_type: value.wire_type(), field: go_name }
}
