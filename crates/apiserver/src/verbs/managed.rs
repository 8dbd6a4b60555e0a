//! Which manager owns which fields: `metadata.managedFields` of what is written.

use controller_runtime_merge::NoOtherVersions;
use serde_json::Value;

use super::{Call, WriteOptions};
use crate::managed_fields::{Conversions, ScaleTracking, Tracking};
use crate::metadata::fields;

/// The write that a call is, as far as field ownership goes.
pub(super) fn tracking(call: &Call, options: &WriteOptions) -> Tracking {
    Tracking::new(&call.resource, call.subresource.as_deref(), options.manager.clone(), call.now())
}

/// Notes in a new object that the request's manager owns what it sets.
pub(super) async fn track_new(call: &Call, new: &mut Value, options: &WriteOptions) {
    let tracking = tracking(call, options);
    if fields::get(new, "managedFields").is_none() {
        return tracking.track(None, new, &NoOtherVersions);
    }
    *new = with_conversions(call, |versions| {
        let mut tracked = new.clone();
        tracking.track(None, &mut tracked, versions);
        tracked
    })
    .await;
}

/// Gives `write` what it converts, and runs it until nothing is missing.
pub(super) async fn with_conversions<T>(call: &Call, mut write: impl FnMut(&Conversions<'_>) -> T) -> T {
    let conversions = Conversions::new(&call.core, &call.resource, call.subresource.as_deref());
    loop {
        let written = write(&conversions);
        if !Box::pin(conversions.fetch()).await {
            return written;
        }
    }
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
