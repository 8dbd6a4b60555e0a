use thiserror::Error;

use crate::status::quote;

/// Why bytes are no object. The texts are those of Go's decoder.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum DecodeError {
    /// There are no bytes.
    #[error("empty data")]
    Empty,
    /// The bytes do not begin as Kubernetes' envelope does.
    #[error("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")]
    NoPrefix,
    /// The envelope is empty.
    #[error("empty body")]
    EmptyBody,
    /// The envelope itself is malformed.
    #[error("{0}")]
    Envelope(WireError),
    /// The envelope names a kind that is unknown.
    #[error("no kind {} is registered for version {} in scheme of this resource", quote(kind), quote(version))]
    UnknownKind {
        /// The kind.
        kind: String,
        /// Its group and version.
        version: String,
    },
    /// What is in the envelope is malformed.
    #[error("{error}")]
    Object {
        /// The kind that the envelope names.
        kind: String,
        /// The version that the envelope names.
        version: String,
        /// What is wrong.
        error: WireError,
    },
}

/// Why bytes are no protocol buffers of a message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum WireError {
    /// The bytes end within a value.
    #[error("unexpected EOF")]
    UnexpectedEnd,
    /// A number has more than 64 bits.
    #[error("proto: integer overflow")]
    Overflow,
    /// A field has a number that none may have.
    #[error("proto: {message}: illegal tag {number} (wire type {tag})")]
    IllegalTag {
        /// The message's name.
        message: &'static str,
        /// The field's number.
        number: i32,
        /// Number and wire type as they stand.
        tag: u64,
    },
    /// A field is written as another type.
    #[error("proto: wrong wireType = {wire_type} for field {field}")]
    WrongType {
        /// The wire type that was found.
        wire_type: u8,
        /// The field's name.
        field: String,
    },
    /// A group ends that did not begin.
    #[error("proto: {message}: wiretype end group for non-group")]
    EndOfGroup {
        /// The message's name.
        message: &'static str,
    },
    /// There is no such wire type.
    #[error("proto: illegal wireType {0}")]
    IllegalWireType(u8),
    /// Messages stand in messages without end.
    #[error("proto: nested too deep")]
    TooDeep,
    /// There are more values than any object of this size needs.
    #[error("proto: too many values")]
    TooMany,
    /// A value that Go can't write as JSON.
    #[error("proto: malformed {0}")]
    Malformed(&'static str),
}
