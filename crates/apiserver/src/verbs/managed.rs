//! Which manager owns which fields: `metadata.managedFields` of ordinary writes.

use serde_json::Value;

use super::{Call, WriteOptions};
use crate::managed_fields::Tracking;

/// Notes in a new or changed object that the request's manager owns what it changed. `live` is the object before.
pub(super) fn track(call: &Call, live: Option<&Value>, new: &mut Value, options: &WriteOptions) {
    let subresource = call.subresource.as_deref();
    Tracking::new(&call.resource, subresource, options.manager.clone(), call.now()).track(live, new);
}
