//! `v1` LimitRange.

use std::collections::BTreeSet;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::Strategy;
use super::fields::{Fields, at, indexed, is_given, object_or_new, set_default, text};
use super::pod_spec::{container_name, resource_name};
use super::quantity::Quantity;
use super::rules::{Errors, named};
use crate::metadata::names;

/// `LimitRangeItem`: what a container gets follows from what it may have.
pub(super) fn defaults(item: &mut Fields) {
    if item.get("type") != Some(&json!("Container")) {
        return;
    }
    for (to, from) in [("default", "max"), ("defaultRequest", "default"), ("defaultRequest", "min")] {
        let amounts = item.get(from).and_then(Value::as_object).cloned().unwrap_or_default();
        if let Some(defaults) = object_or_new(item, to) {
            for (name, amount) in amounts {
                set_default(defaults, &name, amount);
            }
        }
    }
}

/// What is special about limit ranges.
#[derive(Debug)]
pub(super) struct LimitRange;

impl Strategy for LimitRange {
    fn definition(&self) -> Option<&'static str> {
        Some("io.k8s.api.core.v1.LimitRange")
    }

    fn create_on_update(&self) -> bool {
        true
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        let mut types = BTreeSet::new();
        for (path, limit) in indexed(object, "spec.limits") {
            let kind = text(limit, "type");
            type_name(kind, &path.child("type"), &mut errors);
            if !types.insert(kind) {
                errors.push(FieldError::duplicate(&path.child("type"), kind));
            }
            names_of(limit, kind, &path, &mut errors);
            for name in all_names(limit) {
                amounts_of(limit, &name, &path, &mut errors);
            }
        }
        errors
    }
}

const KINDS: [&str; 5] = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"];

fn type_name(kind: &str, path: &FieldPath, errors: &mut Errors) {
    let texts = names::qualified_name(kind);
    let standard = kind.contains('/') || matches!(kind, "Pod" | "Container" | "PersistentVolumeClaim");
    if texts.is_empty() && !standard {
        errors.push(FieldError::invalid(path, kind, "must be a standard limit type or fully qualified"));
    }
    named(kind, path, texts, errors);
}

/// The names of resources; some kinds of limits have no defaults.
fn names_of(limit: &Value, kind: &str, path: &FieldPath, errors: &mut Errors) {
    for key in KINDS {
        let is_default = matches!(key, "default" | "defaultRequest");
        if kind == "Pod" && is_default {
            if is_given(limit, key) {
                let detail = "may not be specified when `type` is 'Pod'";
                errors.push(FieldError::forbidden(&path.child(key), detail));
            }
            continue;
        }
        if key == "maxLimitRequestRatio" && kind == "PersistentVolumeClaim" && !has_storage(limit) {
            let detail = "either minimum or maximum storage value is required, but neither was provided";
            errors.push(FieldError::required(&path.child("limits"), detail));
        }
        for (name, _) in at(limit, key).as_object().into_iter().flatten() {
            let path = path.child(key).key(name);
            if matches!(kind, "Pod" | "Container") {
                container_name(name, &path, errors);
            } else {
                resource_name(name, &path, errors);
            }
        }
    }
}

fn has_storage(limit: &Value) -> bool {
    ["min", "max"].iter().any(|key| at(limit, key).get("storage").is_some())
}

fn all_names(limit: &Value) -> BTreeSet<String> {
    let is_pod = text(limit, "type") == "Pod";
    let counts = |key: &&&str| !is_pod || !matches!(**key, "default" | "defaultRequest");
    let keys = KINDS.iter().filter(counts);
    keys.flat_map(|key| at(limit, key).as_object().into_iter().flatten()).map(|(name, _)| name.clone()).collect()
}

/// The least, the most and what lies between must be in that order.
fn amounts_of(limit: &Value, name: &str, path: &FieldPath, errors: &mut Errors) {
    let is_pod = text(limit, "type") == "Pod";
    let amount = |key: &str| {
        let shown = at(limit, key).get(name).filter(|_| !is_pod || !matches!(key, "default" | "defaultRequest"))?;
        Some((key.to_owned(), shown.clone(), Quantity::parse(shown.as_str()?)?))
    };
    let [most, least, limit_amount, request, ratio] = KINDS.map(amount);
    let mut ordered = |low: &Amount, high: &Amount, on: &Amount, shown: &Amount, words: [&str; 2]| {
        if let (Some(low), Some(high), Some(on), Some(shown)) = (low, high, on, shown)
            && low.2.nanos() > high.2.nanos()
        {
            let [below, above] = words;
            let detail =
                format!("{below} value {} is greater than {above} value {}", low.2.canonical(), high.2.canonical());
            errors.push(FieldError::invalid(&path.child(&on.0).key(name), shown.1.clone(), detail));
        }
    };
    ordered(&least, &most, &least, &least, ["min", "max"]);
    ordered(&least, &request, &request, &request, ["min", "default request"]);
    ordered(&request, &most, &request, &request, ["default request", "max"]);
    ordered(&request, &limit_amount, &request, &request, ["default request", "default limit"]);
    ordered(&least, &limit_amount, &limit_amount, &least, ["min", "default"]);
    ordered(&limit_amount, &most, &limit_amount, &most, ["default", "max"]);
    if let Some((_, shown, ratio)) = &ratio {
        ratio_of(*ratio, shown, &least, &most, &path.child("maxLimitRequestRatio").key(name), errors);
    }
    let shared = !name.starts_with("hugepages-") && (!name.contains('/') || name.contains("kubernetes.io/"));
    if let (Some(limit), Some(request), false) = (&limit_amount, &request, shared)
        && limit.2.nanos() != request.2.nanos()
    {
        let (limit, told) = (limit.2.canonical(), request.2.canonical());
        let detail = format!("default value {limit} must equal to defaultRequest value {told} in {name}");
        errors.push(FieldError::invalid(&path.child("defaultRequest").key(name), request.1.clone(), detail));
    }
}

/// An amount with its field and how it is written.
type Amount = Option<(String, Value, Quantity)>;

fn ratio_of(ratio: Quantity, shown: &Value, least: &Amount, most: &Amount, path: &FieldPath, errors: &mut Errors) {
    if ratio.nanos() < Quantity::of(1).nanos() {
        let detail = format!("ratio {} is less than 1", ratio.canonical());
        errors.push(FieldError::invalid(path, shown.clone(), detail));
    }
    if let (Some(least), Some(most)) = (least, most) {
        let between = approximate(most.2) / approximate(least.2);
        if approximate(ratio) > between {
            let detail = format!("ratio {} is greater than max/min = {between:.6}", ratio.canonical());
            errors.push(FieldError::invalid(path, shown.clone(), detail));
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a ratio is an approximation on the reference too")]
fn approximate(amount: Quantity) -> f64 {
    amount.nanos() as f64 / 1e9
}
