//! Which manager owns which fields: `metadata.managedFields` of what is written.

use serde_json::Value;

use super::{Call, WriteOptions};
use crate::managed_fields::{ScaleTracking, Tracking};

/// The write that a call is, as far as field ownership goes.
pub(super) fn tracking(call: &Call, options: &WriteOptions) -> Tracking {
    Tracking::new(&call.resource, call.subresource.as_deref(), options.manager.clone(), call.now())
}

/// Notes in a new or changed object that the request's manager owns what it changed. `live` is the object before.
pub(super) fn track(call: &Call, live: Option<&Value>, new: &mut Value, options: &WriteOptions) {
    tracking(call, options).track(live, new);
}

/// The write of a scale that a call is.
pub(super) fn scale_tracking(call: &Call, options: &WriteOptions) -> ScaleTracking {
    let resource = &call.resource;
    let versions = call.core.registry.all().into_iter().filter_map(|version| {
        let is_same = version.group == resource.group && version.plural == resource.plural;
        let paths = version.scale.as_ref().filter(|_| is_same)?;
        Some((version.api_version(), paths.spec_replicas.clone()))
    });
    ScaleTracking::new(options.manager.clone(), call.now(), resource.api_version(), versions)
}
