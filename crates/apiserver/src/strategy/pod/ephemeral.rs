//! `pods/ephemeralcontainers`: containers that are added to look into a pod.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::super::fields::{at, copy_field, items, text};
use super::super::pod_spec::{self, MIRROR};
use super::super::rules::Errors;
use super::update;

/// Takes all but the ephemeral containers from the stored pod.
pub(super) fn prepare(new: &mut Value, old: &Value) {
    let mut kept = old.clone();
    if let Some(spec) = kept.get_mut("spec") {
        copy_field(spec, at(new, "spec"), "ephemeralContainers");
    }
    if let Some(metadata) = kept.get_mut("metadata") {
        copy_field(metadata, at(new, "metadata"), "managedFields");
    }
    *new = kept;
}

/// Rules for the changed containers.
pub(super) fn validate(new: &Value, old: &Value) -> Errors {
    if at(old, "metadata.annotations").get(MIRROR).is_some() {
        // A path without a name, as Go writes it.
        let nameless = FieldPath::new("[]");
        return vec![FieldError::forbidden(&nameless, "static pods do not support ephemeral containers")];
    }
    let mut errors = Errors::new();
    pod_spec::pod(new, &mut errors);
    update::annotations(new, old, &mut errors);
    let path = FieldPath::new("spec.ephemeralContainers");
    for before in items(old, "spec.ephemeralContainers") {
        let name = text(before, "name");
        let after = items(new, "spec.ephemeralContainers").iter().find(|after| text(after, "name") == name);
        let happened = match after {
            None => "removed\n",
            Some(after) if after != before => "changed",
            Some(_) => continue,
        };
        let detail = format!("existing ephemeral containers \"{name}\" may not be {happened}");
        errors.push(FieldError::forbidden(&path, detail));
    }
    errors
}
