//! Cells of services and of what they are reached by.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::cell::{NONE, or};
use super::column::{count_at, items_at, text_at};

/// The characters of an address list that fit in.
const WIDTH: usize = 16;

pub(super) fn cluster_ip(object: &Value) -> Value {
    let first = items_at(object, "spec.clusterIPs").first().and_then(Value::as_str).unwrap_or_default();
    or(first, NONE)
}

pub(super) fn external_ip(object: &Value) -> Value {
    let given: Vec<&str> = items_at(object, "spec.externalIPs").iter().filter_map(Value::as_str).collect();
    let text = match text_at(object, "spec.type") {
        "ClusterIP" | "NodePort" if given.is_empty() => NONE.to_owned(),
        "ClusterIP" | "NodePort" => given.join(","),
        "LoadBalancer" => {
            let balanced = addresses(object);
            let all: Vec<&str> =
                Some(balanced.as_str()).filter(|text| !text.is_empty()).into_iter().chain(given).collect();
            if all.is_empty() { "<pending>".to_owned() } else { all.join(",") }
        }
        "ExternalName" => text_at(object, "spec.externalName").to_owned(),
        _ => "<unknown>".to_owned(),
    };
    json!(text)
}

pub(super) fn ports(object: &Value) -> Value {
    let ports: Vec<String> = items_at(object, "spec.ports")
        .iter()
        .map(|port| {
            let (number, protocol) = (count_at(port, "port"), text_at(port, "protocol"));
            match count_at(port, "nodePort") {
                0 => format!("{number}/{protocol}"),
                node => format!("{number}:{node}/{protocol}"),
            }
        })
        .collect();
    or(&ports.join(","), NONE)
}

/// Where a load balancer can be reached.
pub(super) fn balancer_address(object: &Value) -> Value {
    json!(addresses(object))
}

fn addresses(object: &Value) -> String {
    let found: BTreeSet<&str> = items_at(object, "status.loadBalancer.ingress")
        .iter()
        .map(|ingress| match text_at(ingress, "ip") {
            "" => text_at(ingress, "hostname"),
            address => address,
        })
        .filter(|address| !address.is_empty())
        .collect();
    let all = found.into_iter().collect::<Vec<_>>().join(",");
    if all.chars().count() > WIDTH { format!("{}...", all.chars().take(WIDTH - 3).collect::<String>()) } else { all }
}
