//! `v1` Pod.

mod condition;
mod defaults;
mod ephemeral;
mod prepare;
mod resize;
mod status;
mod update;

use std::collections::BTreeMap;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

pub(crate) use self::condition::set_condition;
pub(super) use self::defaults::{pod as defaults, status as status_defaults};
pub(crate) use self::prepare::quality_of_service;
use super::fields::{at, is_given, items, number, text};
use super::rules::Errors;
use super::{Strategy, StrategyContext, pod_spec};
use crate::metadata::names;

/// What is special about pods.
#[derive(Debug)]
pub(super) struct Pod;

impl Strategy for Pod {
    fn definition(&self) -> Option<&'static str> {
        Some("io.k8s.api.core.v1.Pod")
    }

    fn tracks_generation(&self) -> bool {
        true
    }

    fn prepare_create(&self, object: &mut Value, cx: &StrategyContext<'_>) {
        pod_spec::drop_disabled(object, "spec");
        prepare::create(object, &cx.core.now());
    }

    fn prepare_update(&self, new: &mut Value, old: &Value, subresource: Option<&str>) {
        match subresource {
            Some("status") => status::prepare(new, old),
            Some("ephemeralcontainers") => ephemeral::prepare(new, old),
            Some("resize") => resize::prepare(new, old),
            _ => {}
        }
        if subresource != Some("status") {
            pod_spec::drop_disabled(new, "spec");
        }
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        let path = FieldPath::new("spec");
        let spec = at(object, "spec");
        pod_spec::pod(object, &mut errors);
        if is_given(spec, "ephemeralContainers") {
            errors.push(FieldError::forbidden(&path.child("ephemeralContainers"), "cannot be set on create"));
        }
        if is_given(spec, "nodeName") && is_given(spec, "schedulingGates") {
            let detail = "cannot be set until all schedulingGates have been cleared";
            errors.push(FieldError::forbidden(&path.child("nodeName"), detail));
        }
        pod_spec::profiles_match(object, &path, true, &mut errors);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value, subresource: Option<&str>) -> Errors {
        match subresource {
            Some("status") => status::validate(new, old),
            Some("ephemeralcontainers") => ephemeral::validate(new, old),
            Some("resize") => resize::validate(new, old),
            _ => update::validate(new, old),
        }
    }

    fn warnings(&self, new: &Value, old: Option<&Value>) -> Vec<String> {
        if old.is_some() {
            return Vec::new();
        }
        let mut warnings = prepare::warnings(new);
        let texts = names::dns_label(text(new, "metadata.name"), false);
        if !texts.is_empty() {
            warnings.push(format!(
                "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS \
                 label is recommended: [{}]",
                texts.join(" ")
            ));
        }
        warnings.extend(pod_spec::warnings(new, &FieldPath::root()));
        warnings
    }

    fn status_keeps_metadata(&self) -> bool {
        false
    }

    fn grace_period(&self, object: &Value, asked: Option<i64>) -> Option<i64> {
        let finished = matches!(text(object, "status.phase"), "Failed" | "Succeeded");
        if text(object, "spec.nodeName").is_empty() || finished {
            return Some(0);
        }
        let period = asked.or_else(|| number(object, "spec.terminationGracePeriodSeconds")).unwrap_or_default();
        Some(if period < 0 { 1 } else { period })
    }

    fn returns_deleted_object(&self) -> bool {
        true
    }

    fn selectable_labels(&self) -> &[&'static str] {
        &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ]
    }

    fn selectable(&self, object: &Value) -> BTreeMap<String, String> {
        let mut fields: BTreeMap<String, String> = self
            .selectable_labels()
            .iter()
            .map(|label| ((*label).to_owned(), text(object, label).to_owned()))
            .collect();
        let host_network = at(object, "spec.hostNetwork") == &json!(true);
        fields.insert("spec.hostNetwork".to_owned(), host_network.to_string());
        let addresses: Vec<&str> = items(object, "status.podIPs").iter().map(|address| text(address, "ip")).collect();
        fields.insert("status.podIPs".to_owned(), addresses.join(","));
        fields
    }
}
