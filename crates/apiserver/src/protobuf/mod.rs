//! Objects as protocol buffers, as Go clients send and read built-in kinds.
//!
//! Everything else in this server knows JSON values only; here they are transcoded, both ways, by tables that say how each
//! field is written. What is decoded is what Go would write as JSON of the same object.

mod decode;
mod encode;
mod envelope;
mod error;
mod special;
mod table;
#[cfg(test)]
mod tests;
mod wire;

pub(crate) use self::encode::watch_frame;
pub(crate) use self::envelope::{decode, decode_options, encode, encode_list, encode_message, wrap};
pub(crate) use self::error::DecodeError;

/// The media type of Kubernetes' protocol buffers.
pub(crate) const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";
