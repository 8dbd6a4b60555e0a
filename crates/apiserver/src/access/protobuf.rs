//! Just enough protocol buffers for the reviews that kubectl sends in them.

use std::collections::BTreeMap;

/// What Kubernetes puts before a protobuf body.
const MAGIC: [u8; 4] = *b"k8s\0";

/// One message: its length-delimited fields by number. A field that stands more than once counts as it stands last.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Message<'a>(BTreeMap<u64, &'a [u8]>);

impl<'a> Message<'a> {
    /// Reads the object out of Kubernetes' envelope; `None` when the bytes are none.
    pub(super) fn enveloped(bytes: &'a [u8]) -> Option<Self> {
        let envelope = Self::read(bytes.strip_prefix(&MAGIC)?)?;
        Self::read(envelope.0.get(&2).copied().unwrap_or_default())
    }

    fn read(mut bytes: &'a [u8]) -> Option<Self> {
        let mut fields = BTreeMap::new();
        while !bytes.is_empty() {
            let key = varint(&mut bytes)?;
            match key & 7 {
                0 => _ = varint(&mut bytes)?,
                1 => _ = take(&mut bytes, 8)?,
                2 => {
                    let length = varint(&mut bytes)?;
                    fields.insert(key >> 3, take(&mut bytes, length)?);
                }
                5 => _ = take(&mut bytes, 4)?,
                _ => return None,
            }
        }
        Some(Self(fields))
    }

    /// The message in a field, if it is there.
    pub(super) fn message(&self, field: u64) -> Option<Self> {
        Self::read(self.0.get(&field)?)
    }

    /// The text in a field; empty without it.
    pub(super) fn text(&self, field: u64) -> String {
        String::from_utf8_lossy(self.0.get(&field).copied().unwrap_or_default()).into_owned()
    }
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn take<'a>(bytes: &mut &'a [u8], length: u64) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::Message;

    #[test]
    fn an_enveloped_message_is_read() {
        // Envelope {1: "x", 2: {1: "", 2: {1: "ns", 3: varint 5}}}.
        let bytes = b"k8s\0\x0a\x01x\x12\x0a\x0a\x00\x12\x06\x0a\x02ns\x18\x05";
        let spec = Message::enveloped(bytes).and_then(|object| object.message(2)).expect("it is whole");
        assert_eq!((spec.text(1).as_str(), spec.text(2).as_str()), ("ns", ""));
    }

    #[test]
    fn broken_messages_are_none() {
        for bytes in [
            &b""[..],
            b"k8s",
            b"k8s\0\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            b"k8s\0\x12\x05ab",
            b"k8s\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            b"k8s\0\x13",
        ] {
            assert_eq!(Message::enveloped(bytes), None, "{bytes:?}");
        }
    }
}
