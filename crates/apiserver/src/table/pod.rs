//! Cells of pods.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::age;
use super::cell::{NONE, or};
use super::column::{at, count_at, items_at, text_at};

/// What a pod's containers say together.
#[derive(Debug, Default)]
struct Summary {
    ready: usize,
    total: usize,
    reason: String,
    restarts: i64,
    last_restart: String,
}

pub(super) fn ready(object: &Value) -> Value {
    let summary = summary(object);
    json!(format!("{}/{}", summary.ready, summary.total))
}

pub(super) fn status(object: &Value) -> Value {
    json!(summary(object).reason)
}

pub(super) fn restarts(object: &Value, now: Timestamp) -> Value {
    let summary = summary(object);
    json!(if summary.restarts != 0 && !summary.last_restart.is_empty() {
        format!("{} ({} ago)", summary.restarts, age::since(&summary.last_restart, now))
    } else {
        summary.restarts.to_string()
    })
}

pub(super) fn address(object: &Value) -> Value {
    or(items_at(object, "status.podIPs").first().map_or("", |address| text_at(address, "ip")), NONE)
}

pub(super) fn node(object: &Value) -> Value {
    or(text_at(object, "spec.nodeName"), NONE)
}

pub(super) fn nominated_node(object: &Value) -> Value {
    or(text_at(object, "status.nominatedNodeName"), NONE)
}

pub(super) fn readiness_gates(object: &Value) -> Value {
    let gates = items_at(object, "spec.readinessGates");
    if gates.is_empty() {
        return json!(NONE);
    }
    let open = gates.iter().filter(|gate| holds(object, text_at(gate, "conditionType"))).count();
    json!(format!("{open}/{}", gates.len()))
}

fn holds(object: &Value, kind: &str) -> bool {
    let mut conditions = items_at(object, "status.conditions").iter();
    conditions.any(|condition| text_at(condition, "type") == kind && text_at(condition, "status") == "True")
}

fn summary(object: &Value) -> Summary {
    let mut summary = Summary { reason: text_at(object, "status.phase").to_owned(), ..Summary::default() };
    let reason = text_at(object, "status.reason");
    if !reason.is_empty() {
        reason.clone_into(&mut summary.reason);
    }
    let gated = |condition: &&Value| {
        text_at(condition, "type") == "PodScheduled" && text_at(condition, "reason") == "SchedulingGated"
    };
    if items_at(object, "status.conditions").iter().any(|condition| gated(&condition)) {
        "SchedulingGated".clone_into(&mut summary.reason);
    }
    let inits = items_at(object, "spec.initContainers");
    let sidecars: BTreeSet<&str> = inits
        .iter()
        .filter(|container| text_at(container, "restartPolicy") == "Always")
        .map(|container| text_at(container, "name"))
        .collect();
    summary.total = items_at(object, "spec.containers").len() + sidecars.len();
    let initializing = init_containers(object, inits.len(), &sidecars, &mut summary);
    if !initializing || holds(object, "Initialized") {
        containers(object, &sidecars, &mut summary);
    }
    if !at(object, "metadata.deletionTimestamp").is_null() {
        if text_at(object, "status.reason") == "NodeLost" {
            "Unknown".clone_into(&mut summary.reason);
        } else if !matches!(text_at(object, "status.phase"), "Failed" | "Succeeded") {
            "Terminating".clone_into(&mut summary.reason);
        }
    }
    summary
}

/// Counts init containers; true while one of them isn't done.
fn init_containers(object: &Value, count: usize, sidecars: &BTreeSet<&str>, summary: &mut Summary) -> bool {
    for (index, status) in items_at(object, "status.initContainerStatuses").iter().enumerate() {
        restarted(status, summary);
        let ended = at(status, "state.terminated");
        let sidecar = sidecars.contains(text_at(status, "name"));
        if !ended.is_null() && count_at(ended, "exitCode") == 0 {
            continue;
        }
        if sidecar && at(status, "started") == &json!(true) {
            summary.ready += usize::from(at(status, "ready") == &json!(true));
            continue;
        }
        let waiting = text_at(status, "state.waiting.reason");
        summary.reason = if !ended.is_null() {
            format!("Init:{}", ending(ended))
        } else if !waiting.is_empty() && waiting != "PodInitializing" {
            format!("Init:{waiting}")
        } else {
            format!("Init:{index}/{count}")
        };
        return true;
    }
    false
}

fn containers(object: &Value, sidecars: &BTreeSet<&str>, summary: &mut Summary) {
    // Restarts of init containers no longer count, but for those that run on.
    summary.restarts = 0;
    summary.last_restart.clear();
    for status in items_at(object, "status.initContainerStatuses") {
        if sidecars.contains(text_at(status, "name")) {
            restarted(status, summary);
        }
    }
    let mut running = false;
    let mut failure = String::new();
    for status in items_at(object, "status.containerStatuses").iter().rev() {
        restarted(status, summary);
        let ended = at(status, "state.terminated");
        let waiting = text_at(status, "state.waiting.reason");
        if !waiting.is_empty() {
            waiting.clone_into(&mut summary.reason);
        } else if !ended.is_null() {
            summary.reason = ending(ended);
            if count_at(ended, "exitCode") != 0 {
                failure.clone_from(&summary.reason);
            }
        } else if at(status, "ready") == &json!(true) && !at(status, "state.running").is_null() {
            running = true;
            summary.ready += 1;
        }
    }
    if summary.reason == "Completed" {
        if running && holds(object, "Ready") {
            "Running".clone_into(&mut summary.reason);
        } else if !failure.is_empty() {
            summary.reason = failure;
        } else if running {
            "NotReady".clone_into(&mut summary.reason);
        }
    }
}

fn restarted(status: &Value, summary: &mut Summary) {
    summary.restarts += count_at(status, "restartCount");
    // Times of one form and zone are ordered as texts.
    let finished = text_at(status, "lastState.terminated.finishedAt");
    if finished > summary.last_restart.as_str() {
        finished.clone_into(&mut summary.last_restart);
    }
}

/// Why a container ended.
fn ending(ended: &Value) -> String {
    match (text_at(ended, "reason"), count_at(ended, "signal")) {
        ("", 0) => format!("ExitCode:{}", count_at(ended, "exitCode")),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}
