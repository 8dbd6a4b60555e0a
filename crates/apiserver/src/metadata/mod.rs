//! Rules for object metadata.

pub(crate) mod fields;
pub(crate) mod names;
pub(crate) mod owners;
pub(crate) mod validate;
