//! Ownership of the replicas that a scale subresource shows and writes.

use std::sync::Arc;

use controller_runtime_merge::{FieldPath, ManagedField, ScaleFields, scale_fields_of, with_scale_fields};
use controller_runtime_schema::Schema;
use serde_json::{Value, json};

use crate::catalogue::catalogue;
use crate::metadata::fields;

use super::Tracking;

const SCALE: &str = "io.k8s.api.autoscaling.v1.Scale";
const SCALE_VERSION: &str = "autoscaling/v1";

/// The schema of a `Scale`.
pub(crate) fn scale_schema() -> Arc<Schema> {
    catalogue().definitions.get(SCALE).ok().flatten().unwrap_or_default()
}

/// A write through a scale subresource: what a `Scale` knows of the managers of its resource, and the other way round.
#[derive(Debug)]
pub(crate) struct ScaleTracking {
    /// The write as one of the `Scale`.
    pub(crate) of_scale: Tracking,
    /// Where the versions of the resource keep their replicas.
    pub(crate) replicas: ScaleFields,
    /// The version of the resource.
    pub(crate) api_version: String,
}

impl ScaleTracking {
    /// A write by `manager` at `now` to the scale of a resource, whose versions keep their replicas at these places.
    pub(crate) fn new(
        manager: String,
        now: String,
        api_version: String,
        replicas: impl IntoIterator<Item = (String, Vec<String>)>,
    ) -> ScaleTracking {
        let replicas = replicas.into_iter().map(|(version, path)| (version, FieldPath::fields(path))).collect();
        let of_scale = Tracking::of_schema(scale_schema(), SCALE_VERSION, Some("scale"), manager, now);
        ScaleTracking { of_scale, replicas, api_version }
    }

    /// Gives a `Scale` the managers of the replicas of `live`, its resource.
    pub(crate) fn show(&self, live: &Value, scale: &mut Value) {
        let entries = scale_fields_of(ManagedField::all_of(live).unwrap_or_default(), &self.replicas);
        write(scale, &entries);
    }

    /// Gives `new`, which is to be stored for `live`, the managers that a written `Scale` has.
    pub(crate) fn carry_over(&self, live: &Value, scale: &Value, new: &mut Value) {
        let parent = ManagedField::all_of(live).unwrap_or_default();
        let written = ManagedField::all_of(scale).unwrap_or_default();
        let entries = with_scale_fields(parent, written, &self.api_version, &self.replicas);
        write(new, &entries);
    }
}

fn write(object: &mut Value, entries: &[ManagedField]) {
    if entries.is_empty() {
        fields::remove(object, "managedFields");
    } else {
        let entries: Vec<Value> = entries.iter().map(ManagedField::to_json).collect();
        fields::set(object, "managedFields", json!(entries));
    }
}
