//! `PersistentVolumeClaimResize`: a bound claim grows only where its class lets it.

use serde_json::{Value, json};

use super::Write;
use crate::status::ApiError;
use crate::strategy::fields::{at, text};
use crate::strategy::{CLASS_ANNOTATION, Quantity};

pub(super) fn validate(write: Write<'_>, object: &Value) -> Result<(), ApiError> {
    let Some(old) = write.old.filter(|_| write.is_of("", "persistentvolumeclaims")) else { return Ok(()) };
    if size(object) <= size(old) {
        return Ok(());
    }
    if text(old, "status.phase") != "Bound" {
        return Err(write.forbidden(object, "Only bound persistent volume claims can be expanded"));
    }
    let (after, before) = (class(object), class(old));
    let grows = !after.is_empty()
        && after == before
        && write
            .find("storageclasses.storage.k8s.io", after)
            .is_some_and(|class| at(class.value(), "allowVolumeExpansion") == &json!(true));
    if grows {
        return Ok(());
    }
    let why = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support \
               resize";
    Err(write.forbidden(object, why))
}

fn size(claim: &Value) -> i128 {
    let amount = at(claim, "spec.resources.requests.storage").as_str().and_then(Quantity::parse);
    amount.map_or(0, Quantity::nanos)
}

fn class(claim: &Value) -> &str {
    let annotation = at(claim, "metadata.annotations").get(CLASS_ANNOTATION).and_then(Value::as_str);
    annotation.unwrap_or_else(|| text(claim, "spec.storageClassName"))
}
