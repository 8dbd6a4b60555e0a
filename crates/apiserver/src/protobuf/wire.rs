//! The wire format of protocol buffers: tags, varints and length-delimited values.

use super::error::WireError;

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum WireValue<'a> {
    Varint(u64),
    Fixed64(u64),
    Delimited(&'a [u8]),
    Fixed32,
    /// A whole group, which no Kubernetes type has.
    Group,
}

impl WireValue<'_> {
    /// The number of the wire type.
    pub(super) fn wire_type(self) -> u8 {
        match self {
            Self::Varint(_) => 0,
            Self::Fixed64(_) => 1,
            Self::Delimited(_) => 2,
            Self::Group => 3,
            Self::Fixed32 => 5,
        }
    }
}

/// Reads the fields of one message.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    /// The name for errors.
    message: &'static str,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8], message: &'static str) -> Self {
        Self { bytes, message }
    }

    /// The number and value of the next field; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(u32, WireValue<'a>)>, WireError> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let (number, wire_type) = self.tag()?;
        if wire_type == 4 {
            return Err(WireError::EndOfGroup { message: self.message });
        }
        Ok(Some((number, self.value(wire_type)?)))
    }

    fn tag(&mut self) -> Result<(u32, u8), WireError> {
        let tag = self.varint()?;
        let wire_type = u8::try_from(tag & 7).unwrap_or_default();
        if let Some(number) = u32::try_from(tag >> 3).ok().filter(|number| (1..1 << 29).contains(number)) {
            return Ok((number, wire_type));
        }
        let number = i32::try_from(tag >> 3).unwrap_or_default();
        Err(WireError::IllegalTag { message: self.message, number, tag })
    }

    fn value(&mut self, wire_type: u8) -> Result<WireValue<'a>, WireError> {
        Ok(match wire_type {
            0 => WireValue::Varint(self.varint()?),
            1 => {
                let bytes = self.take(8)?;
                WireValue::Fixed64(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
            }
            2 => {
                let length = self.varint()?;
                WireValue::Delimited(self.take(length)?)
            }
            3 => {
                self.skip_group()?;
                WireValue::Group
            }
            5 => {
                self.take(4)?;
                WireValue::Fixed32
            }
            other => return Err(WireError::IllegalWireType(other)),
        })
    }

    /// Passes over the fields of a group, however deep others stand in it.
    fn skip_group(&mut self) -> Result<(), WireError> {
        let mut depth = 1_usize;
        while depth > 0 {
            if self.bytes.is_empty() {
                return Err(WireError::UnexpectedEnd);
            }
            match self.tag()?.1 {
                3 => depth += 1,
                4 => depth -= 1,
                wire_type => _ = self.value(wire_type)?,
            }
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn varint(&mut self) -> Result<u64, WireError> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let (first, rest) = self.bytes.split_first().ok_or(WireError::UnexpectedEnd)?;
            self.bytes = rest;
            value |= u64::from(first & 0x7f) << shift;
            if first & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(WireError::Overflow)
    }

    fn take(&mut self, length: u64) -> Result<&'a [u8], WireError> {
        let length = usize::try_from(length).map_err(|_| WireError::UnexpectedEnd)?;
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or(WireError::UnexpectedEnd)?;
        self.bytes = rest;
        Ok(taken)
    }
}

/// Appends a number.
pub(super) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(u8::try_from(value & 0x7f).unwrap_or_default() | 0x80);
        value >>= 7;
    }
    out.push(u8::try_from(value).unwrap_or_default());
}

/// Appends a field that is a number.
pub(super) fn put_number(out: &mut Vec<u8>, field: u32, value: u64) {
    put_varint(out, u64::from(field) << 3);
    put_varint(out, value);
}

/// Appends a field that is a float.
pub(super) fn put_double(out: &mut Vec<u8>, field: u32, value: f64) {
    put_varint(out, u64::from(field) << 3 | 1);
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends a field of bytes or text.
pub(super) fn put_bytes(out: &mut Vec<u8>, field: u32, bytes: &[u8]) {
    put_varint(out, u64::from(field) << 3 | 2);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends a field that holds what `write` appends.
pub(super) fn put_nested(out: &mut Vec<u8>, field: u32, write: impl FnOnce(&mut Vec<u8>)) {
    put_varint(out, u64::from(field) << 3 | 2);
    let start = out.len();
    write(out);
    let mut length = Vec::with_capacity(5);
    put_varint(&mut length, (out.len() - start) as u64);
    out.splice(start..start, length);
}
