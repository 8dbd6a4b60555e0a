//! HorizontalPodAutoscaler, whose two versions say the same in different words.

mod conversion;
mod defaults;
mod first_version;
mod validation;

use controller_runtime_schema::FieldError;
use serde_json::{Value, json};

pub(super) use self::defaults::defaults;
use super::Strategy;
use super::fields::{Fields, set_default};

/// `autoscaling/v1` HorizontalPodAutoscalerSpec.
pub(super) fn first_version_defaults(spec: &mut Fields) {
    set_default(spec, "minReplicas", 1);
}

/// What is special about horizontal pod autoscalers, in one of their two versions.
#[derive(Debug)]
pub(super) enum HorizontalPodAutoscaler {
    /// `autoscaling/v1`, which has CPU as a field and all else in annotations.
    First,
    /// `autoscaling/v2`.
    Second,
}

impl Strategy for HorizontalPodAutoscaler {
    fn definition(&self) -> Option<&'static str> {
        Some(match self {
            Self::First => "io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler",
            Self::Second => "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler",
        })
    }

    fn tracks_generation(&self) -> bool {
        true
    }

    fn generation_changes(&self, new: &Value, old: &Value, has_status: bool) -> bool {
        super::differs_outside_metadata(&second(new), &second(old), has_status)
    }

    fn default(&self, object: &mut Value) {
        if let Some(definition) = self.definition() {
            super::defaulting::set_defaults(object, definition);
        }
        if matches!(self, Self::First) {
            // Through the newer version and back: what both say in the same way.
            let mut converted = second(object);
            self.convert(&mut converted, "autoscaling/v1", "HorizontalPodAutoscaler");
            *object = converted;
        }
    }

    fn validate(&self, object: &Value) -> Vec<FieldError> {
        validation::validate(&second(object))
    }

    fn validate_update(&self, new: &Value, _old: &Value, subresource: Option<&str>) -> Vec<FieldError> {
        if subresource.is_some() { validation::validate_status(&second(new)) } else { self.validate(new) }
    }

    fn storage_version(&self) -> Option<&'static str> {
        Some("autoscaling/v2")
    }

    fn convert(&self, object: &mut Value, api_version: &str, kind: &str) {
        if let Some(fields) =
            object.as_object_mut().filter(|fields| fields.get("apiVersion") != Some(&json!(api_version)))
        {
            if api_version == "autoscaling/v1" {
                conversion::to_first(fields);
            } else {
                conversion::to_second(fields);
            }
        }
        object["apiVersion"] = json!(api_version);
        object["kind"] = json!(kind);
    }
}

/// The object in the newer version, in which its rules are written.
pub(crate) fn second(object: &Value) -> Value {
    let mut object = object.clone();
    if object.get("apiVersion") == Some(&json!("autoscaling/v1")) {
        HorizontalPodAutoscaler::Second.convert(&mut object, "autoscaling/v2", "HorizontalPodAutoscaler");
    }
    object
}
