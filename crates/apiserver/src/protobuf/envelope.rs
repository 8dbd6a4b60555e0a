//! The envelope that says which kind a message is of: `k8s\0` and `runtime.Unknown`.

use serde_json::Value;

use super::decode::read_message;
use super::encode::put_message;
use super::error::{DecodeError, WireError};
use super::special::put_texts;
use super::table::table;
use super::wire::{Reader, WireValue, put_bytes, put_nested};

/// What stands before every object.
const PREFIX: &[u8] = b"k8s\0";

/// The object in its envelope; `None` when there is no message for its kind.
pub(crate) fn encode(object: &Value) -> Option<Vec<u8>> {
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let message = table().of_kind(api_version, kind)?;
    Some(enveloped(api_version, kind, |out| put_message(out, table(), message, object)))
}

/// The object without its envelope; empty when there is no message for its kind.
pub(crate) fn encode_message(object: &Value) -> Vec<u8> {
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    let mut out = Vec::new();
    if let Some(message) = table().of_kind(text("apiVersion"), text("kind")) {
        put_message(&mut out, table(), message, object);
    }
    out
}

/// An object that is encoded already, in an envelope.
pub(crate) fn wrap(api_version: &str, kind: &str, message: &[u8]) -> Vec<u8> {
    enveloped(api_version, kind, |out| out.extend_from_slice(message))
}

/// A list of objects that are encoded already.
pub(crate) fn encode_list<'a>(
    api_version: &str,
    kind: &str,
    metadata: &Value,
    items: impl Iterator<Item = bytes::Bytes> + 'a,
) -> Vec<u8> {
    enveloped(api_version, kind, |out| {
        put_nested(out, 1, |out| {
            if let Some(message) = table().named("io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta") {
                put_message(out, table(), message, metadata);
            }
        });
        for item in items {
            put_bytes(out, 2, &item);
        }
    })
}

/// What `write` appends, in an envelope.
fn enveloped(api_version: &str, kind: &str, write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = PREFIX.to_vec();
    put_texts(&mut out, 1, &[api_version, kind]);
    put_nested(&mut out, 2, write);
    // No content encoding, no content type.
    put_bytes(&mut out, 3, b"");
    put_bytes(&mut out, 4, b"");
    out
}

/// Decodes an object. Where the envelope names no kind or version, it is of these.
pub(crate) fn decode(bytes: &[u8], api_version: &str, kind: &str) -> Result<Value, DecodeError> {
    let envelope = Envelope::read(bytes)?;
    let named = |given: &str, otherwise: &str| if given.is_empty() { otherwise.to_owned() } else { given.to_owned() };
    let (api_version, kind) = (named(&envelope.api_version, api_version), named(&envelope.kind, kind));
    let Some(message) = table().of_kind(&api_version, &kind) else {
        return Err(DecodeError::UnknownKind { kind, version: api_version });
    };
    let decoded = read_message(table(), message, envelope.raw);
    let mut object = decoded.map_err(|error| DecodeError::Object {
        kind: kind.clone(),
        version: api_version.rsplit('/').next().unwrap_or_default().to_owned(),
        error,
    })?;
    if let Some(members) = object.as_object_mut() {
        members.insert("apiVersion".to_owned(), Value::String(api_version));
        members.insert("kind".to_owned(), Value::String(kind));
    }
    Ok(object)
}

/// Decodes options, which are of a kind of their own in every group and version.
pub(crate) fn decode_options(bytes: &[u8]) -> Result<Value, DecodeError> {
    decode(bytes, "v1", "DeleteOptions")
}

#[derive(Default)]
struct Envelope<'a> {
    api_version: String,
    kind: String,
    raw: &'a [u8],
}

impl<'a> Envelope<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        if bytes.is_empty() {
            return Err(DecodeError::Empty);
        }
        let bytes = bytes.strip_prefix(PREFIX).ok_or(DecodeError::NoPrefix)?;
        if bytes.is_empty() {
            return Err(DecodeError::EmptyBody);
        }
        Self::read_fields(bytes).map_err(DecodeError::Envelope)
    }

    fn read_fields(bytes: &'a [u8]) -> Result<Self, WireError> {
        let mut envelope = Self::default();
        let mut reader = Reader::new(bytes, "Unknown");
        while let Some((number, value)) = reader.next()? {
            match (number, value) {
                (1, WireValue::Delimited(meta)) => envelope.read_kind(meta)?,
                (2, WireValue::Delimited(raw)) => envelope.raw = raw,
                (1 | 2, other) => {
                    let field = if number == 1 { "TypeMeta" } else { "Raw" };
                    return Err(WireError::WrongType { wire_type: other.wire_type(), field: field.to_owned() });
                }
                _ => {}
            }
        }
        Ok(envelope)
    }

    fn read_kind(&mut self, meta: &[u8]) -> Result<(), WireError> {
        let mut reader = Reader::new(meta, "TypeMeta");
        while let Some((number, value)) = reader.next()? {
            let WireValue::Delimited(text) = value else { continue };
            let text = String::from_utf8_lossy(text).into_owned();
            match number {
                1 => self.api_version = text,
                2 => self.kind = text,
                _ => {}
            }
        }
        Ok(())
    }
}
