//! Cells of kinds that say where traffic goes, how much there may be, and what extends the API.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::age;
use super::column::{at, count_at, items_at, text_at};
use crate::strategy::newer_autoscaler;

/// A list that is cut after three.
fn at_most_three(all: &[String]) -> Value {
    match all {
        [] => json!("<unset>"),
        [first @ .., _] if first.len() >= 3 => json!(format!("{} + {} more...", all[..3].join(","), all.len() - 3)),
        _ => json!(all.join(",")),
    }
}

pub(super) fn endpoints(object: &Value) -> Value {
    let mut all = Vec::new();
    for subset in items_at(object, "subsets") {
        let addresses = items_at(subset, "addresses").iter().map(|address| text_at(address, "ip"));
        let ports = items_at(subset, "ports");
        if ports.is_empty() {
            all.extend(addresses.map(str::to_owned));
            continue;
        }
        for port in ports {
            let joined = addresses.clone().map(|ip| {
                let ip = if ip.contains(':') { format!("[{ip}]") } else { ip.to_owned() };
                format!("{ip}:{}", count_at(port, "port"))
            });
            all.extend(joined);
        }
    }
    if items_at(object, "subsets").is_empty() {
        json!("<none>")
    } else if all.is_empty() {
        json!("")
    } else {
        at_most_three(&all)
    }
}

pub(super) fn slice_ports(object: &Value) -> Value {
    let shown = |port: &Value| match at(port, "port").as_i64() {
        Some(number) => number.to_string(),
        None if at(port, "name").is_string() => text_at(port, "name").to_owned(),
        None => "*".to_owned(),
    };
    at_most_three(&items_at(object, "ports").iter().map(shown).collect::<Vec<_>>())
}

pub(super) fn slice_endpoints(object: &Value) -> Value {
    let addresses = items_at(object, "endpoints").iter().flat_map(|endpoint| items_at(endpoint, "addresses"));
    at_most_three(&addresses.filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>())
}

pub(super) fn class_parameters(object: &Value) -> Value {
    let parameters = at(object, "spec.parameters");
    if parameters.is_null() {
        return json!("<none>");
    }
    let group = at(parameters, "apiGroup").as_str().map(|group| format!(".{group}")).unwrap_or_default();
    json!(format!("{}{group}/{}", text_at(parameters, "kind"), text_at(parameters, "name")))
}

pub(super) fn parent(object: &Value) -> Value {
    let parent = at(object, "spec.parentRef");
    if parent.is_null() {
        return json!("<none>");
    }
    let mut shown = text_at(parent, "resource").to_lowercase();
    for (before, part) in [(".", "group"), ("/", "namespace"), ("/", "name")] {
        if !text_at(parent, part).is_empty() {
            shown = format!("{shown}{before}{}", text_at(parent, part));
        }
    }
    json!(shown)
}

pub(super) fn networks(object: &Value) -> Value {
    json!(items_at(object, "spec.cidrs").iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","))
}

pub(super) fn quota_requests(object: &Value) -> Value {
    quota(object, false)
}

pub(super) fn quota_limits(object: &Value) -> Value {
    quota(object, true)
}

fn quota(object: &Value, limits: bool) -> Value {
    let hard = at(object, "status.hard").as_object();
    let of_column = hard.into_iter().flatten().filter(|(name, _)| name.starts_with("limits.") == limits);
    let used = at(object, "status.used");
    let shown = of_column.map(|(name, hard)| {
        let used = used.get(name).and_then(Value::as_str).unwrap_or("0");
        format!("{name}: {used}/{}", hard.as_str().unwrap_or_default())
    });
    json!(shown.collect::<Vec<_>>().join(", "))
}

pub(super) fn autoscaler_reference(object: &Value) -> Value {
    let target = at(object, "spec.scaleTargetRef");
    json!(format!("{}/{}", text_at(target, "kind"), text_at(target, "name")))
}

pub(super) fn autoscaler_least(object: &Value) -> Value {
    json!(at(object, "spec.minReplicas").as_i64().map_or_else(|| "<unset>".to_owned(), |least| least.to_string()))
}

/// The reference shows the targets of the newer version, whichever is asked for.
pub(super) fn autoscaler_targets(object: &Value) -> Value {
    let object = &newer_autoscaler(object);
    let metrics = items_at(object, "spec.metrics");
    let current = items_at(object, "status.currentMetrics");
    let shown: Vec<String> =
        metrics.iter().enumerate().map(|(index, metric)| target(metric, current.get(index))).collect();
    match shown.as_slice() {
        [] => json!("<none>"),
        [first, second, _, ..] => json!(format!("{first}, {second} + {} more...", shown.len() - 2)),
        _ => json!(shown.join(", ")),
    }
}

fn target(metric: &Value, current: Option<&Value>) -> String {
    let sources = ["resource", "containerResource", "pods", "object", "external"];
    let Some(key) = sources.into_iter().find(|key| at(metric, key).is_object()) else {
        return "<unknown type>".to_owned();
    };
    let source = at(metric, key);
    let now = current.map_or(&Value::Null, |current| {
        at(current, &format!("{key}.current")).as_object().map_or(&Value::Null, |_| at(current, key))
    });
    let known = |field: &str| match at(now, &format!("current.{field}")) {
        Value::Null => "<unknown>".to_owned(),
        Value::String(amount) => amount.clone(),
        other => other.to_string(),
    };
    let average = text_at(source, "target.averageValue");
    let named =
        if key.to_lowercase().contains("resource") { format!("{}: ", text_at(source, "name")) } else { String::new() };
    if !average.is_empty() {
        let suffix = if matches!(key, "object" | "external") { " (avg)" } else { "" };
        return format!("{named}{}/{average}{suffix}", known("averageValue"));
    }
    if named.is_empty() {
        return format!("{}/{}", known("value"), text_at(source, "target.value"));
    }
    let percent = |text: String| if text.starts_with('<') { text } else { format!("{text}%") };
    let wanted = at(source, "target.averageUtilization").as_i64();
    let wanted = wanted.map_or_else(|| "<auto>".to_owned(), |wanted| format!("{wanted}%"));
    format!("{named}{}/{wanted}", percent(known("averageUtilization")))
}

pub(super) fn request_state(object: &Value) -> Value {
    let has =
        |kind: &str| items_at(object, "status.conditions").iter().any(|condition| text_at(condition, "type") == kind);
    let decided = if has("Denied") {
        "Denied"
    } else if has("Approved") {
        "Approved"
    } else {
        "Pending"
    };
    let failed = if has("Failed") { ",Failed" } else { "" };
    let issued = if text_at(object, "status.certificate").is_empty() { "" } else { ",Issued" };
    json!(format!("{decided}{failed}{issued}"))
}

pub(super) fn requested_duration(object: &Value) -> Value {
    let end = at(object, "spec.expirationSeconds").as_i64().and_then(|seconds| Timestamp::from_second(seconds).ok());
    json!(end.map_or_else(|| "<none>".to_owned(), |end| age::between(Timestamp::UNIX_EPOCH, end)))
}

pub(super) fn webhooks(object: &Value) -> Value {
    json!(items_at(object, "webhooks").len())
}

pub(super) fn validations(object: &Value) -> Value {
    json!(items_at(object, "spec.validations").len())
}

pub(super) fn mutations(object: &Value) -> Value {
    json!(items_at(object, "spec.mutations").len())
}

pub(super) fn parameter_kind(object: &Value) -> Value {
    let kind = at(object, "spec.paramKind");
    if kind.is_null() {
        json!("<unset>")
    } else {
        json!(format!("{}/{}", text_at(kind, "apiVersion"), text_at(kind, "kind")))
    }
}

pub(super) fn parameter(object: &Value) -> Value {
    let (namespace, name) = (text_at(object, "spec.paramRef.namespace"), text_at(object, "spec.paramRef.name"));
    match (namespace, name) {
        (_, "") => json!("<unset>"),
        ("", name) => json!(format!("*/{name}")),
        (namespace, name) => json!(format!("{namespace}/{name}")),
    }
}

pub(super) fn api_service(object: &Value) -> Value {
    let service = at(object, "spec.service");
    if service.is_null() {
        json!("Local")
    } else {
        json!(format!("{}/{}", text_at(service, "namespace"), text_at(service, "name")))
    }
}

pub(super) fn api_service_available(object: &Value) -> Value {
    let found =
        items_at(object, "status.conditions").iter().find(|condition| text_at(condition, "type") == "Available");
    let Some(condition) = found else { return json!("Unknown") };
    match (text_at(condition, "status"), text_at(condition, "reason")) {
        ("True", _) | (_, "") => json!(text_at(condition, "status")),
        (status, reason) => json!(format!("{status} ({reason})")),
    }
}

pub(super) fn node_status(object: &Value) -> Value {
    let ready = items_at(object, "status.conditions").iter().find(|condition| text_at(condition, "type") == "Ready");
    let ready = ready.map_or("Unknown", |ready| if text_at(ready, "status") == "True" { "Ready" } else { "NotReady" });
    let suffix = if at(object, "spec.unschedulable") == &json!(true) { ",SchedulingDisabled" } else { "" };
    json!(format!("{ready}{suffix}"))
}

pub(super) fn node_roles(object: &Value) -> Value {
    let labels = at(object, "metadata.labels").as_object();
    let role = |(key, value): (&String, &Value)| match key.strip_prefix("node-role.kubernetes.io/") {
        Some(role) => Some(role.to_owned()),
        None => value.as_str().filter(|_| key == "kubernetes.io/role").map(str::to_owned),
    };
    let roles: std::collections::BTreeSet<String> =
        labels.into_iter().flatten().filter_map(role).filter(|role| !role.is_empty()).collect();
    if roles.is_empty() { json!("<none>") } else { json!(roles.into_iter().collect::<Vec<_>>().join(",")) }
}

pub(super) fn node_internal(object: &Value) -> Value {
    node_address(object, "InternalIP")
}

pub(super) fn node_external(object: &Value) -> Value {
    node_address(object, "ExternalIP")
}

fn node_address(object: &Value, kind: &str) -> Value {
    let found = items_at(object, "status.addresses").iter().find(|address| text_at(address, "type") == kind);
    json!(found.map_or("<none>", |address| text_at(address, "address")))
}

pub(super) fn node_image(object: &Value) -> Value {
    known(text_at(object, "status.nodeInfo.osImage"))
}

pub(super) fn node_kernel(object: &Value) -> Value {
    let kernel = known(text_at(object, "status.nodeInfo.kernelVersion"));
    match text_at(object, "status.nodeInfo.architecture") {
        "" => kernel,
        architecture => json!(format!("{} ({architecture})", kernel.as_str().unwrap_or_default())),
    }
}

pub(super) fn node_runtime(object: &Value) -> Value {
    known(text_at(object, "status.nodeInfo.containerRuntimeVersion"))
}

fn known(text: &str) -> Value {
    json!(if text.is_empty() { "<unknown>" } else { text })
}
