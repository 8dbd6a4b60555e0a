//! Values seen through the schema of their kind: what their fields are, and how they differ, merge and shrink.

mod check;
mod compare;
mod empty;
mod error;
mod field_set;
mod go_syntax;
mod item;
mod merge;
mod reconcile;
mod remove;
mod schema_type;

pub use empty::empty_object;
pub use error::{TypeError, TypeErrors};

pub(crate) use check::{Duplicates, check};
pub(crate) use compare::{Comparison, compare};
pub(crate) use field_set::{field_set, with_named_parents};
pub(crate) use go_syntax::{GoPlain, go_type};
pub(crate) use merge::merge;
pub(crate) use reconcile::reconcile;
pub(crate) use remove::remove;
pub(crate) use schema_type::Type;
