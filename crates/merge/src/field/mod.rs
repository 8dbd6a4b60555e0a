//! Paths to fields, sets of them, and their JSON form.

mod element;
mod fields_v1;
mod path;
mod quote;
mod set;
mod value_order;

pub use element::PathElement;
pub use fields_v1::FieldsError;
pub use path::FieldPath;
pub use set::FieldSet;

pub(crate) use quote::quoted;
pub(crate) use value_order::same_value;
