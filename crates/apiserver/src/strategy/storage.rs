//! `storage.k8s.io/v1`: storage classes and drivers.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::fields::{Fields, at, indexed, items, set_default, text};
use super::rules::{Errors, named, one_of};
use crate::metadata::names;

/// `StorageClass`.
pub(super) fn class_defaults(class: &mut Fields) {
    set_default(class, "reclaimPolicy", "Delete");
    set_default(class, "volumeBindingMode", "Immediate");
}

/// `CSIDriverSpec`.
pub(super) fn driver_defaults(spec: &mut Fields) {
    set_default(spec, "attachRequired", true);
    for key in ["podInfoOnMount", "storageCapacity", "requiresRepublish", "seLinuxMount"] {
        set_default(spec, key, false);
    }
    set_default(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
    set_default(spec, "volumeLifecycleModes", json!(["Persistent"]));
}

/// Rules for `storage.k8s.io/v1` StorageClass.
pub(super) fn class_rules(new: &Value, old: Option<&Value>) -> Errors {
    let mut errors = Errors::new();
    if let Some(old) = old {
        // The reference shows no values here.
        let fixed = ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"];
        let changed = fixed.into_iter().filter(|key| at(new, key) != at(old, key));
        return changed
            .map(|key| FieldError::invalid(&FieldPath::new(key), Value::Null, "field is immutable"))
            .collect();
    }
    let provisioner = text(new, "provisioner");
    let path = FieldPath::new("provisioner");
    if provisioner.is_empty() {
        errors.push(FieldError::required(&path, ""));
    } else {
        let shown = provisioner.to_lowercase();
        named(&shown, &path, names::qualified_name(&shown), &mut errors);
    }
    if at(new, "parameters").as_object().is_some_and(|all| all.contains_key("")) {
        errors.push(FieldError::invalid(&FieldPath::new("parameters"), "", "field can not be empty."));
    }
    one_of(at(new, "reclaimPolicy"), &FieldPath::new("reclaimPolicy"), &["Delete", "Retain"], &mut errors);
    let modes = ["Immediate", "WaitForFirstConsumer"];
    one_of(at(new, "volumeBindingMode"), &FieldPath::new("volumeBindingMode"), &modes, &mut errors);
    for (path, term) in indexed(new, "allowedTopologies") {
        for (index, expression) in items(term, "matchLabelExpressions").iter().enumerate() {
            topology_values(expression, &path.child("matchLabelExpressions").index(index).child("values"), &mut errors);
        }
    }
    errors
}

fn topology_values(expression: &Value, path: &FieldPath, errors: &mut Errors) {
    let values = items(expression, "values");
    if values.is_empty() {
        errors.push(FieldError::required(path, ""));
    }
    for (index, value) in values.iter().enumerate() {
        if values.iter().take(index).any(|earlier| earlier == value) {
            errors.push(FieldError::duplicate(&path.index(index), value.clone()));
        }
    }
}
