//! Rules for object metadata.

pub(crate) mod names;
