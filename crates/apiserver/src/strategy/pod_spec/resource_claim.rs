//! Rules for the resource claims of a pod.

use std::collections::BTreeSet;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::super::fields::{at, items, text};
use super::super::rules::{Errors, named};
use super::annotation::MIRROR;
use crate::metadata::names;

/// Rules for `resourceClaims`.
pub(super) fn claims(spec: &Value, metadata: Option<&Value>, path: &FieldPath, errors: &mut Errors) {
    let is_static = metadata.is_some_and(|metadata| at(metadata, "annotations").get(MIRROR).is_some());
    let mut taken = BTreeSet::new();
    for (index, claim) in items(spec, "resourceClaims").iter().enumerate() {
        let path = path.index(index);
        if is_static {
            // A path without a name, as Go writes it.
            let nameless = FieldPath::new("[]");
            errors.push(FieldError::forbidden(&nameless, "static pods do not support resource claims"));
            continue;
        }
        let name = text(claim, "name");
        if name.is_empty() {
            errors.push(FieldError::required(&path.child("name"), ""));
        } else if taken.insert(name) {
            named(name, &path.child("name"), names::dns_label(name, false), errors);
        } else {
            errors.push(FieldError::duplicate(&path.child("name"), name));
        }
        let (of_name, of_template) = (at(claim, "resourceClaimName"), at(claim, "resourceClaimTemplateName"));
        let detail = match (of_name.is_null(), of_template.is_null()) {
            (false, false) => {
                Some("at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified")
            }
            (true, true) => Some("must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"),
            _ => None,
        };
        if let Some(detail) = detail {
            errors.push(FieldError::invalid(&path, claim.clone(), detail));
        }
        for (key, name) in [("resourceClaimName", of_name), ("resourceClaimTemplateName", of_template)] {
            if let Some(name) = name.as_str() {
                named(name, &path.child(key), names::dns_subdomain(name, false), errors);
            }
        }
    }
}
