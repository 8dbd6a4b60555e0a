//! `autoscaling/v2` HorizontalPodAutoscaler.

use serde_json::{Value, json};

use crate::strategy::fields::{Fields, object_mut, set_default};

/// `HorizontalPodAutoscalerSpec`.
pub(in crate::strategy) fn defaults(spec: &mut Fields) {
    set_default(spec, "minReplicas", 1);
    if spec.get("metrics").and_then(Value::as_array).is_none_or(Vec::is_empty) {
        let cpu = json!([{
            "type": "Resource",
            "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
        }]);
        spec.insert("metrics".to_owned(), cpu);
    }
    let Some(behavior) = object_mut(spec, "behavior") else { return };
    let up = json!({
        "stabilizationWindowSeconds": 0,
        "selectPolicy": "Max",
        "policies": [
            {"type": "Pods", "value": 4, "periodSeconds": 15},
            {"type": "Percent", "value": 100, "periodSeconds": 15},
        ],
    });
    let down = json!({
        "selectPolicy": "Max",
        "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
    });
    for (key, rules) in [("scaleUp", up), ("scaleDown", down)] {
        set_default(behavior, key, json!({}));
        if let (Some(given), Value::Object(rules)) = (object_mut(behavior, key), rules) {
            for (rule, value) in rules {
                set_default(given, &rule, value);
            }
        }
    }
}
