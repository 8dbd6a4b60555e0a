//! Cells that need working out.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::age;
use super::column::{age_cell, at, count_at, items_at, text_at};
use super::selector_text::{labels_text, selector_text};

/// What stands where there is nothing.
pub(super) const NONE: &str = "<none>";

pub(super) fn or(text: &str, otherwise: &str) -> Value {
    json!(if text.is_empty() { otherwise } else { text })
}

/// The names of the containers of a template.
pub(super) fn containers(object: &Value) -> Value {
    joined(object, "spec.template.spec.containers", "name")
}

/// The images of the containers of a template.
pub(super) fn images(object: &Value) -> Value {
    joined(object, "spec.template.spec.containers", "image")
}

pub(super) fn job_containers(object: &Value) -> Value {
    joined(object, "spec.jobTemplate.spec.template.spec.containers", "name")
}

pub(super) fn job_images(object: &Value) -> Value {
    joined(object, "spec.jobTemplate.spec.template.spec.containers", "image")
}

pub(super) fn template_containers(object: &Value) -> Value {
    joined(object, "template.spec.containers", "name")
}

pub(super) fn template_images(object: &Value) -> Value {
    joined(object, "template.spec.containers", "image")
}

pub(super) fn template_labels(object: &Value) -> Value {
    json!(labels_text(at(object, "template.metadata.labels")))
}

fn joined(object: &Value, path: &str, key: &str) -> Value {
    let texts: Vec<&str> = items_at(object, path).iter().map(|item| text_at(item, key)).collect();
    json!(texts.join(","))
}

/// A `LabelSelector` as text.
pub(super) fn selector(object: &Value) -> Value {
    or(&selector_text(at(object, "spec.selector")), NONE)
}

/// The selector of a Deployment, which is empty where others say that there is none.
pub(super) fn deployment_selector(object: &Value) -> Value {
    json!(selector_text(at(object, "spec.selector")))
}

pub(super) fn job_template_selector(object: &Value) -> Value {
    or(&selector_text(at(object, "spec.jobTemplate.spec.selector")), NONE)
}

pub(super) fn pod_selector(object: &Value) -> Value {
    or(&selector_text(at(object, "spec.podSelector")), NONE)
}

/// A selector that is a plain map, as in services.
pub(super) fn map_selector(object: &Value) -> Value {
    json!(labels_text(at(object, "spec.selector")))
}

pub(super) fn node_selector(object: &Value) -> Value {
    json!(labels_text(at(object, "spec.template.spec.nodeSelector")))
}

/// Ready and wanted replicas.
pub(super) fn ready(object: &Value) -> Value {
    json!(format!("{}/{}", count_at(object, "status.readyReplicas"), count_at(object, "spec.replicas")))
}

fn size(value: &Value) -> usize {
    value.as_object().map_or(0, Map::len)
}

pub(super) fn config_map_data(object: &Value) -> Value {
    json!(size(at(object, "data")) + size(at(object, "binaryData")))
}

pub(super) fn secret_data(object: &Value) -> Value {
    json!(size(at(object, "data")))
}

pub(super) fn job_status(object: &Value) -> Value {
    let holds = |kind: &str| {
        let mut conditions = items_at(object, "status.conditions").iter();
        conditions.any(|condition| text_at(condition, "type") == kind && text_at(condition, "status") == "True")
    };
    let status = if holds("Complete") {
        "Complete"
    } else if holds("Failed") {
        "Failed"
    } else if !at(object, "metadata.deletionTimestamp").is_null() {
        "Terminating"
    } else if holds("Suspended") {
        "Suspended"
    } else if holds("FailureTarget") {
        "FailureTarget"
    } else if holds("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    };
    json!(status)
}

pub(super) fn job_completions(object: &Value) -> Value {
    let succeeded = count_at(object, "status.succeeded");
    let parallelism = count_at(object, "spec.parallelism");
    json!(match at(object, "spec.completions").as_i64() {
        Some(wanted) => format!("{succeeded}/{wanted}"),
        None if parallelism > 1 => format!("{succeeded}/1 of {parallelism}"),
        None => format!("{succeeded}/1"),
    })
}

pub(super) fn job_duration(object: &Value, now: Timestamp) -> Value {
    let time = |path: &str| text_at(object, path).parse::<Timestamp>().ok();
    let duration =
        time("status.startTime").map(|start| age::between(start, time("status.completionTime").unwrap_or(now)));
    json!(duration.unwrap_or_default())
}

pub(super) fn cron_job_time_zone(object: &Value) -> Value {
    or(text_at(object, "spec.timeZone"), NONE)
}

pub(super) fn cron_job_suspend(object: &Value) -> Value {
    json!(match at(object, "spec.suspend").as_bool() {
        Some(true) => "True",
        Some(false) => "False",
        None => "<unset>",
    })
}

pub(super) fn cron_job_active(object: &Value) -> Value {
    json!(items_at(object, "status.active").len())
}

pub(super) fn cron_job_last(object: &Value, now: Timestamp) -> Value {
    match at(object, "status.lastScheduleTime") {
        Value::Null => json!(NONE),
        time => age_cell(time, now),
    }
}

/// A number or percentage of a disruption budget.
fn budget(object: &Value, path: &str) -> Value {
    json!(match at(object, path) {
        Value::Null => "N/A".to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    })
}

pub(super) fn min_available(object: &Value) -> Value {
    budget(object, "spec.minAvailable")
}

pub(super) fn max_unavailable(object: &Value) -> Value {
    budget(object, "spec.maxUnavailable")
}

pub(super) fn role(object: &Value) -> Value {
    json!(format!("{}/{}", text_at(object, "roleRef.kind"), text_at(object, "roleRef.name")))
}

fn subjects(object: &Value, kind: &str) -> Value {
    let of_kind = items_at(object, "subjects").iter().filter(|subject| text_at(subject, "kind") == kind);
    let names: Vec<String> = of_kind
        .map(|subject| {
            let name = text_at(subject, "name");
            if kind == "ServiceAccount" { format!("{}/{name}", text_at(subject, "namespace")) } else { name.to_owned() }
        })
        .collect();
    json!(names.join(", "))
}

pub(super) fn users(object: &Value) -> Value {
    subjects(object, "User")
}

pub(super) fn groups(object: &Value) -> Value {
    subjects(object, "Group")
}

pub(super) fn service_accounts(object: &Value) -> Value {
    subjects(object, "ServiceAccount")
}

pub(super) fn claim_status(object: &Value) -> Value {
    let leaving = !at(object, "metadata.deletionTimestamp").is_null();
    json!(if leaving { "Terminating" } else { text_at(object, "status.phase") })
}

pub(super) fn claim_capacity(object: &Value) -> Value {
    let bound = !text_at(object, "spec.volumeName").is_empty();
    json!(if bound { text_at(object, "status.capacity.storage") } else { "" })
}

pub(super) fn claim_modes(object: &Value) -> Value {
    let bound = !text_at(object, "spec.volumeName").is_empty();
    json!(if bound { modes(items_at(object, "status.accessModes")) } else { String::new() })
}

pub(super) fn volume_modes(object: &Value) -> Value {
    json!(modes(items_at(object, "spec.accessModes")))
}

fn modes(modes: &[Value]) -> String {
    let known =
        [("ReadWriteOnce", "RWO"), ("ReadOnlyMany", "ROX"), ("ReadWriteMany", "RWX"), ("ReadWriteOncePod", "RWOP")];
    let short: Vec<&str> =
        known.iter().filter(|(mode, _)| modes.contains(&json!(mode))).map(|(_, short)| *short).collect();
    short.join(",")
}

pub(super) fn volume_mode(object: &Value) -> Value {
    or(text_at(object, "spec.volumeMode"), "<unset>")
}

pub(super) fn attributes_class(object: &Value) -> Value {
    or(text_at(object, "spec.volumeAttributesClassName"), "<unset>")
}

pub(super) fn volume_claim(object: &Value) -> Value {
    json!(match text_at(object, "spec.claimRef.name") {
        "" => String::new(),
        name => format!("{}/{name}", text_at(object, "spec.claimRef.namespace")),
    })
}

/// The object that an event is about.
pub(super) fn event_object(object: &Value) -> Value {
    let involved = event_field(object, "involvedObject", "regarding");
    let kind = text_at(involved, "kind").to_lowercase();
    json!(match text_at(involved, "name") {
        "" => kind,
        name => format!("{kind}/{name}"),
    })
}

pub(super) fn event_subobject(object: &Value) -> Value {
    json!(text_at(event_field(object, "involvedObject", "regarding"), "fieldPath"))
}

pub(super) fn event_message(object: &Value) -> Value {
    json!(event_field(object, "message", "note").as_str().unwrap_or_default().trim())
}

pub(super) fn event_source(object: &Value) -> Value {
    let source = event_field(object, "source", "deprecatedSource");
    let (mut component, mut host) = (text_at(source, "component"), text_at(source, "host"));
    if component.is_empty() {
        component = event_field(object, "reportingComponent", "reportingController").as_str().unwrap_or_default();
    }
    if host.is_empty() {
        host = text_at(object, "reportingInstance");
    }
    json!(if host.is_empty() { component.to_owned() } else { format!("{component}, {host}") })
}

pub(super) fn event_first(object: &Value, now: Timestamp) -> Value {
    match event_field(object, "firstTimestamp", "deprecatedFirstTimestamp") {
        Value::Null => age_cell(at(object, "eventTime"), now),
        time => age_cell(time, now),
    }
}

pub(super) fn event_last(object: &Value, now: Timestamp) -> Value {
    let series = at(object, "series.lastObservedTime");
    if !series.is_null() {
        return age_cell(series, now);
    }
    match event_field(object, "lastTimestamp", "deprecatedLastTimestamp") {
        Value::Null => event_first(object, now),
        time => age_cell(time, now),
    }
}

pub(super) fn event_count(object: &Value) -> Value {
    let series = at(object, "series.count").as_i64();
    let count = series.or_else(|| event_field(object, "count", "deprecatedCount").as_i64());
    json!(count.filter(|count| *count != 0).unwrap_or(1))
}

/// A field that the two groups of events call differently.
fn event_field<'a>(object: &'a Value, core: &str, events: &str) -> &'a Value {
    match at(object, core) {
        Value::Null => at(object, events),
        found => found,
    }
}

pub(super) fn ingress_class(object: &Value) -> Value {
    or(text_at(object, "spec.ingressClassName"), NONE)
}

pub(super) fn ingress_hosts(object: &Value) -> Value {
    const SHOWN: usize = 3;
    let rules = items_at(object, "spec.rules");
    let mut hosts = Vec::new();
    let mut more = false;
    for rule in rules {
        more |= hosts.len() == SHOWN;
        let host = text_at(rule, "host");
        if !more && !host.is_empty() {
            hosts.push(host);
        }
    }
    json!(match (hosts.is_empty(), more) {
        (true, _) => "*".to_owned(),
        (false, false) => hosts.join(","),
        (false, true) => format!("{} + {} more...", hosts.join(","), rules.len() - SHOWN),
    })
}

pub(super) fn ingress_ports(object: &Value) -> Value {
    json!(if items_at(object, "spec.tls").is_empty() { "80" } else { "80, 443" })
}
