//! `scheduling.k8s.io/v1` PriorityClass.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::Strategy;
use super::fields::{at, number, text};
use super::rules::{Errors, immutable};

/// The greatest priority of a class that isn't the system's.
const HIGHEST: i64 = 1_000_000_000;

/// The classes that every cluster has: name, value, and what they are for.
pub(crate) const SYSTEM: [(&str, i64, &str); 2] = [
    (
        "system-node-critical",
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
    (
        "system-cluster-critical",
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
];

/// What is special about priority classes.
#[derive(Debug)]
pub(super) struct PriorityClass;

impl Strategy for PriorityClass {
    fn definition(&self) -> Option<&'static str> {
        Some("io.k8s.api.scheduling.v1.PriorityClass")
    }

    fn refuses_delete(&self, name: &str) -> Option<&'static str> {
        let is_system = SYSTEM.iter().any(|(known, ..)| *known == name);
        is_system.then_some("this is a system priority class and cannot be deleted")
    }

    /// It is 1 for ever.
    fn tracks_generation(&self) -> bool {
        true
    }

    fn generation_changes(&self, _new: &Value, _old: &Value, _has_status: bool) -> bool {
        false
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        let name = text(object, "metadata.name");
        let value = number(object, "value").unwrap_or_default();
        if name.starts_with("system-") {
            if let Err(why) = known(object, name, value) {
                let path = FieldPath::new("metadata.name");
                let rule = "priority class names with 'system-' prefix are reserved for system use only. error:";
                errors.push(FieldError::forbidden(&path, format!("{rule} {why}")));
            }
        } else if value > HIGHEST {
            let detail = format!("maximum allowed value of a user defined priority is {HIGHEST}");
            errors.push(FieldError::forbidden(&FieldPath::new("value"), detail));
        }
        let path = FieldPath::new("preemptionPolicy");
        match at(object, "preemptionPolicy").as_str() {
            None | Some("PreemptLowerPriority" | "Never") => {}
            Some("") => errors.push(FieldError::required(&path, "")),
            Some(policy) => {
                errors.push(FieldError::not_supported(&path, policy, &["PreemptLowerPriority", "Never"]));
            }
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value, _subresource: Option<&str>) -> Errors {
        let mut errors = Errors::new();
        let value = |class: &Value| number(class, "value").unwrap_or_default();
        if value(new) != value(old) {
            errors.push(FieldError::forbidden(&FieldPath::new("value"), "may not be changed in an update."));
        }
        immutable(new, old, "preemptionPolicy", &mut errors);
        errors
    }
}

/// Whether a class of the system is as it must be; what it must be, if it isn't.
fn known(class: &Value, name: &str, value: i64) -> Result<(), String> {
    let Some((_, expected, _)) = SYSTEM.iter().find(|(known, ..)| *known == name) else {
        return Err(format!("{name} is not a known system priority class"));
    };
    if value != *expected {
        return Err(format!("value of {name} PriorityClass must be {expected}"));
    }
    if at(class, "globalDefault") == &json!(true) {
        return Err(format!("globalDefault of {name} PriorityClass must be false"));
    }
    Ok(())
}
