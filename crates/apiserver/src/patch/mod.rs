//! The kinds of patch, and what each makes of an object.

mod body;
mod invalid;
mod json_patch;
mod patch_type;

pub(crate) use body::{Patch, go_kind, repeated_key};
pub(crate) use invalid::invalid_patch;
pub(crate) use json_patch::JsonPatch;
pub(crate) use patch_type::PatchType;

#[cfg(test)]
mod tests;
