//! Who owns the fields of a written object.

mod conversions;
mod field_manager;
mod reset;
mod scale;
mod tracking;

pub(crate) use conversions::Conversions;
pub(crate) use field_manager::{check_field_manager, field_manager_of};
pub(crate) use scale::{ScaleTracking, scale_schema};
pub(crate) use tracking::Tracking;

#[cfg(test)]
mod tests;
