//! JSON values to protocol buffers, in the order and with the zeros that Go writes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{BufMut, Bytes, BytesMut};
use serde_json::{Map, Value};

use super::special;
use super::table::{Field, Message, Shape, Table, ValueKind};
use super::wire::{put_bytes, put_double, put_nested, put_number};

/// Messages within messages; deeper ones are left out. No built-in kind comes near it but schemas of schemas.
const MAX_DEPTH: usize = 200;

/// Appends a message's fields.
pub(super) fn put_message(out: &mut Vec<u8>, table: &Table, message: &Message, value: &Value) {
    Encoder { table }.message(out, message, value, 0);
}

/// One event of a watch, with its length before it: what kind of event it is and the object's bytes.
pub(crate) fn watch_frame(kind: &str, object: &[u8]) -> Bytes {
    let mut event = Vec::with_capacity(object.len() + kind.len() + 16);
    put_bytes(&mut event, 1, kind.as_bytes());
    put_nested(&mut event, 2, |out| put_bytes(out, 1, object));
    let mut frame = BytesMut::with_capacity(event.len() + 4);
    frame.put_u32(u32::try_from(event.len()).unwrap_or(u32::MAX));
    frame.put_slice(&event);
    frame.freeze()
}

#[derive(Clone, Copy)]
pub(super) struct Encoder<'t> {
    pub(super) table: &'t Table,
}

impl Encoder<'_> {
    pub(super) fn message(self, out: &mut Vec<u8>, message: &Message, value: &Value, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        if let Some(special) = message.special {
            return special::put(self, out, special, message, value, depth);
        }
        if message.is_list {
            if let Some(field) = message.fields.first() {
                self.field(out, field, Some(value), depth);
            }
            return;
        }
        let empty = Map::new();
        let members = value.as_object().unwrap_or(&empty);
        for field in &message.fields {
            let given = if field.is_inlined { Some(value) } else { members.get(field.json) };
            self.field(out, field, given, depth);
        }
    }

    pub(super) fn field(self, out: &mut Vec<u8>, field: &Field, value: Option<&Value>, depth: usize) {
        let value = value.unwrap_or(&Value::Null);
        match (field.shape, value) {
            (Shape::Repeated, Value::Array(items)) => {
                for item in items {
                    self.value(out, field.number, field.value, item, depth);
                }
            }
            (Shape::Map, Value::Object(members)) => {
                for (key, member) in members {
                    put_nested(out, field.number, |out| {
                        put_bytes(out, 1, key.as_bytes());
                        if !(field.value == ValueKind::Bytes && member.is_null()) {
                            self.value(out, 2, field.value, member, depth);
                        }
                    });
                }
            }
            (Shape::Repeated | Shape::Map, _) => {}
            (Shape::One, Value::Null) if field.is_pointer || self.is_nothing(field.value) => {}
            (Shape::One, value) => self.value(out, field.number, field.value, value, depth),
        }
    }

    /// Whether Go has nil for values of the type that aren't there, without a pointer.
    fn is_nothing(self, kind: ValueKind) -> bool {
        match kind {
            ValueKind::Bytes => true,
            ValueKind::Message(place) => self.table.at(place).is_some_and(|message| message.is_list),
            _ => false,
        }
    }

    #[expect(clippy::cast_sign_loss, reason = "negative numbers are written as the 64 bits that they are")]
    fn value(self, out: &mut Vec<u8>, number: u32, kind: ValueKind, value: &Value, depth: usize) {
        match kind {
            ValueKind::Text => put_bytes(out, number, value.as_str().unwrap_or_default().as_bytes()),
            ValueKind::Bytes => {
                let bytes = STANDARD.decode(value.as_str().unwrap_or_default()).unwrap_or_default();
                put_bytes(out, number, &bytes);
            }
            ValueKind::Bool => put_number(out, number, u64::from(value.as_bool().unwrap_or_default())),
            ValueKind::Int32 | ValueKind::Int64 => {
                put_number(out, number, value.as_i64().unwrap_or_default() as u64);
            }
            ValueKind::Double => put_double(out, number, value.as_f64().unwrap_or_default()),
            ValueKind::Message(place) => {
                if let Some(message) = self.table.at(place) {
                    put_nested(out, number, |out| self.message(out, message, value, depth + 1));
                }
            }
        }
    }
}
