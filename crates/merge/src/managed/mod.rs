//! `metadata.managedFields`: who owns which fields.

mod cap;
mod entry;
mod managers;
mod scale;
mod times;

pub use entry::{ManagedField, ManagedFieldsError, Operation};
pub use scale::{ScaleFields, scale_fields_of, with_scale_fields};
pub use times::keep_times_of_unchanged;

pub(crate) use managers::{ManagerId, Managers, Owned, without_managed_fields};
