//! The built-in resources, as generated from the reference control plane.

use std::sync::Arc;

use crate::resource::Resource;

/// All built-in resources, sorted by group, version and plural name.
pub(crate) fn resources() -> &'static [Arc<Resource>] {
    &[]
}
