//! The words of `autoscaling/v1` for metrics, in the order in which Go's types write them.

use serde_json::{Value, json};

use crate::strategy::fields::{at, text};

/// A metric of the newer version as text in the older one's words.
pub(super) fn metric_text(metric: &Value) -> String {
    let kind = text(metric, "type");
    let (key, source) = source(metric);
    let target = |field: &str| given(at(source, "target"), field);
    let named = |field: &str| given(source, field);
    let metric_field = |field: &str| given(at(source, "metric"), field);
    let inner = match key {
        "resource" => object(&[
            ("name", named("name")),
            ("targetAverageUtilization", target("averageUtilization")),
            ("targetAverageValue", target("averageValue")),
        ]),
        "containerResource" => object(&[
            ("name", named("name")),
            ("targetAverageUtilization", target("averageUtilization")),
            ("targetAverageValue", target("averageValue")),
            ("container", named("container")),
        ]),
        "pods" => object(&[
            ("metricName", metric_field("name")),
            ("targetAverageValue", target("averageValue")),
            ("selector", metric_field("selector")),
        ]),
        "external" => object(&[
            ("metricName", metric_field("name")),
            ("metricSelector", metric_field("selector")),
            ("targetValue", target("value")),
            ("targetAverageValue", target("averageValue")),
        ]),
        _ => {
            let described = at(source, "describedObject");
            let object_text = object(&[
                ("kind", given(described, "kind")),
                ("name", given(described, "name")),
                ("apiVersion", given(described, "apiVersion")),
            ]);
            object(&[
                ("target", Some(object_text)),
                ("metricName", metric_field("name")),
                ("targetValue", Some(target("value").unwrap_or_else(|| "\"0\"".to_owned()))),
                ("selector", metric_field("selector")),
                ("averageValue", target("averageValue")),
            ])
        }
    };
    object(&[("type", Some(json!(kind).to_string())), (key, Some(inner))])
}

/// A metric of the older version in the newer one's words.
pub(super) fn metric(old: &Value) -> Value {
    let (key, source) = source(old);
    let utilization = at(source, "targetAverageUtilization");
    let (value, average) = (at(source, "targetValue"), at(source, "targetAverageValue"));
    let name = |selector: &str| compact(json!({"name": at(source, "metricName"), "selector": at(source, selector)}));
    let described = match key {
        "resource" | "containerResource" => {
            let kind = if utilization.is_null() { "AverageValue" } else { "Utilization" };
            let target = compact(json!({"type": kind, "averageUtilization": utilization, "averageValue": average}));
            compact(json!({"name": at(source, "name"), "container": at(source, "container"), "target": target}))
        }
        "pods" => json!({"metric": name("selector"), "target": {"type": "AverageValue", "averageValue": average}}),
        "external" => {
            let kind = if average.is_null() { "Value" } else { "AverageValue" };
            let target = compact(json!({"type": kind, "value": value, "averageValue": average}));
            json!({"metric": name("metricSelector"), "target": target})
        }
        _ => {
            let average = at(source, "averageValue");
            let kind = if average.is_null() { "Value" } else { "AverageValue" };
            let value = if average.is_null() { value } else { &Value::Null };
            let target = compact(json!({"type": kind, "value": value, "averageValue": average}));
            json!({"describedObject": at(source, "target"), "metric": name("selector"), "target": target})
        }
    };
    json!({"type": at(old, "type"), key: described})
}

/// Which of the five sources a metric has.
fn source(metric: &Value) -> (&'static str, &Value) {
    let keys = ["resource", "containerResource", "pods", "external", "object"];
    let found = keys.into_iter().find(|key| !at(metric, key).is_null());
    let key = found.unwrap_or("object");
    (key, at(metric, key))
}

fn given(value: &Value, field: &str) -> Option<String> {
    Some(at(value, field)).filter(|value| !value.is_null()).map(Value::to_string)
}

/// A JSON object of what is there, in this order.
pub(super) fn object(fields: &[(&str, Option<String>)]) -> String {
    let fields = fields.iter().filter_map(|(key, value)| Some(format!("\"{key}\":{}", value.as_ref()?)));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

/// The object without what isn't there.
pub(super) fn compact(mut value: Value) -> Value {
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    value
}
