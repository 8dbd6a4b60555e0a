//! From `autoscaling/v1` to `autoscaling/v2` and back: CPU is a field there, and annotations hold what the older version
//! has no words for.

use serde_json::{Map, Value, json};

use super::first_version::{compact, metric, metric_text, object};
use crate::strategy::fields::{Fields, at, items, object_or_new, text};

const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const CURRENT_METRICS: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";
/// What is asked for when nobody says what.
const DEFAULT_UTILIZATION: i32 = 80;

/// Rewrites an object of the newer version.
pub(super) fn to_first(autoscaler: &mut Fields) {
    let mut annotations = take_annotations(autoscaler);
    if let Some(spec) = object_or_new(autoscaler, "spec") {
        let metrics = spec.remove("metrics").unwrap_or_default();
        let metrics = metrics.as_array().map(Vec::as_slice).unwrap_or_default();
        if let Some(utilization) = metrics.iter().find_map(cpu_utilization) {
            spec.insert("targetCPUUtilizationPercentage".to_owned(), utilization.clone());
        }
        let others: Vec<_> = metrics.iter().filter(|it| cpu_utilization(it).is_none()).map(metric_text).collect();
        if !others.is_empty() {
            annotations.insert(METRICS.to_owned(), json!(format!("[{}]", others.join(","))));
        }
        if let Some(behavior) = spec.remove("behavior") {
            annotations.insert(BEHAVIOR.to_owned(), json!(behavior_text(&behavior)));
        }
    }
    if let Some(status) = object_or_new(autoscaler, "status") {
        let current = status.remove("currentMetrics").unwrap_or_default();
        let current = current.as_array().map(Vec::as_slice).unwrap_or_default();
        let utilization = current.iter().filter(|it| text(it, "resource.name") == "cpu").find_map(|it| {
            Some(at(it, "resource.current.averageUtilization")).filter(|utilization| !utilization.is_null())
        });
        if let Some(utilization) = utilization {
            status.insert("currentCPUUtilizationPercentage".to_owned(), utilization.clone());
        }
        let known: Vec<_> = current.iter().filter(|it| at(it, "resource").is_object()).map(current_text).collect();
        if !known.is_empty() {
            annotations.insert(CURRENT_METRICS.to_owned(), json!(format!("[{}]", known.join(","))));
        }
        if let Some(conditions) =
            status.remove("conditions").filter(|all| all.as_array().is_some_and(|all| !all.is_empty()))
        {
            let all = conditions.as_array().into_iter().flatten().map(condition_text).collect::<Vec<_>>();
            annotations.insert(CONDITIONS.to_owned(), json!(format!("[{}]", all.join(","))));
        }
        status.entry("currentReplicas").or_insert_with(|| json!(0));
        status.entry("desiredReplicas").or_insert_with(|| json!(0));
    }
    put_annotations(autoscaler, annotations);
}

/// Rewrites an object of the older version.
pub(super) fn to_second(autoscaler: &mut Fields) {
    let annotated = |key: &str| {
        let text = autoscaler.get("metadata").map(|metadata| at(metadata, "annotations").get(key)).unwrap_or_default();
        text.and_then(Value::as_str).and_then(|text| serde_json::from_str::<Value>(text).ok())
    };
    let [metrics, behavior, current, conditions] = [METRICS, BEHAVIOR, CURRENT_METRICS, CONDITIONS].map(annotated);
    let annotations = take_annotations(autoscaler);
    put_annotations(autoscaler, annotations);
    if let Some(spec) = object_or_new(autoscaler, "spec") {
        let mut all: Vec<Value> =
            metrics.iter().flat_map(|it| it.as_array().into_iter().flatten()).map(metric).collect();
        let utilization = spec.remove("targetCPUUtilizationPercentage");
        if utilization.is_some() || all.is_empty() {
            let utilization = utilization.unwrap_or_else(|| json!(DEFAULT_UTILIZATION));
            let target = json!({"type": "Utilization", "averageUtilization": utilization});
            all.push(json!({"type": "Resource", "resource": {"name": "cpu", "target": target}}));
        }
        spec.insert("metrics".to_owned(), Value::Array(all));
        if let Some(behavior) = behavior.filter(Value::is_object) {
            spec.insert("behavior".to_owned(), in_json_names(&behavior));
        }
    }
    let Some(status) = autoscaler.get_mut("status").and_then(Value::as_object_mut) else { return };
    if status.get("currentReplicas") == Some(&json!(0)) {
        status.remove("currentReplicas");
    }
    let utilization = status.remove("currentCPUUtilizationPercentage");
    if let Some(current) = current.filter(Value::is_array) {
        let all: Vec<_> = items(&json!({"all": current}), "all").iter().map(current_metric).collect();
        status.insert("currentMetrics".to_owned(), Value::Array(all));
    } else if let Some(utilization) = utilization {
        let resource = json!({"name": "cpu", "current": {"averageUtilization": utilization}});
        status.insert("currentMetrics".to_owned(), json!([{"type": "Resource", "resource": resource}]));
    }
    if let Some(conditions) = conditions.filter(Value::is_array) {
        status.insert("conditions".to_owned(), conditions);
    }
}

fn cpu_utilization(metric: &Value) -> Option<&Value> {
    let is_cpu = text(metric, "type") == "Resource" && text(metric, "resource.name") == "cpu";
    Some(at(metric, "resource.target.averageUtilization")).filter(|utilization| is_cpu && !utilization.is_null())
}

/// The annotations without those that only carry what the other version says.
fn take_annotations(autoscaler: &mut Fields) -> Fields {
    let metadata = autoscaler.get_mut("metadata").and_then(Value::as_object_mut);
    let annotations = metadata.and_then(|metadata| metadata.remove("annotations"));
    let mut annotations = match annotations {
        Some(Value::Object(annotations)) => annotations,
        _ => Map::new(),
    };
    annotations.retain(|key, _| ![METRICS, CURRENT_METRICS, CONDITIONS, BEHAVIOR].contains(&key.as_str()));
    annotations
}

fn put_annotations(autoscaler: &mut Fields, annotations: Fields) {
    if let Some(metadata) = object_or_new(autoscaler, "metadata").filter(|_| !annotations.is_empty()) {
        metadata.insert("annotations".to_owned(), Value::Object(annotations));
    }
}

/// The behavior with the names of Go's fields, which the reference writes into the annotation.
fn behavior_text(behavior: &Value) -> String {
    let or_null = |value: &Value| Some(value.to_string());
    let rules = |key: &str| {
        let rules = at(behavior, key);
        if rules.is_null() {
            return Some("null".to_owned());
        }
        let policy = |policy: &Value| {
            object(&[
                ("Type", or_null(at(policy, "type"))),
                ("Value", or_null(at(policy, "value"))),
                ("PeriodSeconds", or_null(at(policy, "periodSeconds"))),
            ])
        };
        let policies = items(rules, "policies").iter().map(policy).collect::<Vec<_>>().join(",");
        Some(object(&[
            ("StabilizationWindowSeconds", or_null(at(rules, "stabilizationWindowSeconds"))),
            ("SelectPolicy", or_null(at(rules, "selectPolicy"))),
            ("Policies", Some(format!("[{policies}]"))),
            ("Tolerance", or_null(at(rules, "tolerance"))),
        ]))
    };
    object(&[("ScaleUp", rules("scaleUp")), ("ScaleDown", rules("scaleDown"))])
}

/// The names of Go's fields as JSON has them; nulls are left out.
fn in_json_names(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let given = fields.iter().filter(|(_, value)| !value.is_null());
            given.map(|(key, value)| (lower_first(key), in_json_names(value))).collect()
        }
        Value::Array(all) => all.iter().map(in_json_names).collect(),
        other => other.clone(),
    }
}

fn lower_first(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(letters).collect()
}

fn current_text(metric: &Value) -> String {
    let given = |path: &str| Some(at(metric, path)).filter(|value| !value.is_null()).map(Value::to_string);
    let resource = object(&[
        ("name", given("resource.name")),
        ("currentAverageUtilization", given("resource.current.averageUtilization")),
        ("currentAverageValue", Some(given("resource.current.averageValue").unwrap_or_else(|| "\"0\"".to_owned()))),
    ]);
    object(&[("type", given("type")), ("resource", Some(resource))])
}

fn current_metric(metric: &Value) -> Value {
    let current = json!({
        "averageUtilization": at(metric, "resource.currentAverageUtilization"),
        "averageValue": at(metric, "resource.currentAverageValue"),
    });
    let resource = json!({"name": at(metric, "resource.name"), "current": compact(current)});
    json!({"type": at(metric, "type"), "resource": resource})
}

fn condition_text(condition: &Value) -> String {
    let given = |path: &str| Some(at(condition, path)).filter(|value| !value.is_null()).map(Value::to_string);
    object(&["type", "status", "lastTransitionTime", "reason", "message", "observedGeneration"].map(|key| {
        let absent = (key == "lastTransitionTime").then(|| "null".to_owned());
        (key, given(key).or(absent))
    }))
}
