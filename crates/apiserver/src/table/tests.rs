use serde_json::json;

use super::*;
use crate::catalogue::resources;

/// The columns and the cells of one object of a built-in resource, on the first day of 2026.
fn shown(plural: &str, object: &Value) -> (Vec<Value>, Value) {
    let resource = resources().iter().find(|resource| resource.plural == plural);
    let table = Table::new(resource.unwrap_or_else(|| panic!("no {plural}")), IncludeObject::None);
    let now = "2026-01-01T00:00:00Z".parse().unwrap_or_default();
    let rendered = table.render([object], json!({"resourceVersion": "7"}), now);
    let names = rendered["columnDefinitions"].as_array().into_iter().flatten().map(|column| column["name"].clone());
    (names.collect(), rendered["rows"][0]["cells"].clone())
}

#[test]
fn cells_are_those_of_the_reference() {
    let created = json!("2025-12-31T23:58:30Z");
    let meta = |name: &str| json!({"name": name, "creationTimestamp": created});
    let template = json!({"spec": {"containers": [{"name": "a", "image": "x:1"}, {"name": "b", "image": "y:2"}]}});
    let cases = [
        (
            "configmaps",
            json!({"metadata": meta("c"), "data": {"a": "1"}, "binaryData": {"b": ""}}),
            json!(["c", 2, "90s"]),
        ),
        ("namespaces", json!({"metadata": meta("n"), "status": {"phase": "Active"}}), json!(["n", "Active", "90s"])),
        (
            "deployments",
            json!({
                "metadata": meta("d"),
                "spec": {"replicas": 3, "selector": {"matchLabels": {"k": "v"}}, "template": template},
                "status": {"readyReplicas": 1, "updatedReplicas": 2, "availableReplicas": 1},
            }),
            json!(["d", "1/3", 2, 1, "90s", "a,b", "x:1,y:2", "k=v"]),
        ),
        (
            "statefulsets",
            json!({"metadata": meta("s"), "spec": {"replicas": 1, "template": template}, "status": {}}),
            json!(["s", "0/1", "90s", "a,b", "x:1,y:2"]),
        ),
        (
            "services",
            json!({
                "metadata": meta("s"),
                "spec": {
                    "type": "NodePort", "clusterIPs": ["10.0.0.2"], "selector": {"k": "v"},
                    "ports": [{"port": 80, "protocol": "TCP", "nodePort": 30001}, {"port": 53, "protocol": "UDP"}],
                },
            }),
            json!(["s", "NodePort", "10.0.0.2", "<none>", "80:30001/TCP,53/UDP", "90s", "k=v"]),
        ),
        (
            "pods",
            json!({"metadata": meta("p"), "spec": {"containers": [{"name": "a"}]}, "status": {"phase": "Pending"}}),
            json!(["p", "0/1", "Pending", "0", "90s", "<none>", "<none>", "<none>", "<none>"]),
        ),
        ("clusterroles", json!({"metadata": meta("r")}), json!(["r", created])),
        ("leases", json!({"metadata": meta("l"), "spec": {"holderIdentity": "me"}}), json!(["l", "me", "90s"])),
    ];
    for (plural, object, cells) in cases {
        let (names, found) = shown(plural, &object);
        assert_eq!(found, cells, "{plural} {names:?}");
        assert_eq!(names.len(), cells.as_array().map_or(0, Vec::len), "{plural}");
    }
}

#[test]
fn a_crashing_pod_shows_why_and_when_it_restarted() {
    let pod = json!({
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "a"}], "nodeName": "n"},
        "status": {"phase": "Running", "podIPs": [{"ip": "10.1.0.1"}], "containerStatuses": [{
            "name": "a", "restartCount": 3, "ready": false,
            "state": {"waiting": {"reason": "CrashLoopBackOff"}},
            "lastState": {"terminated": {"finishedAt": "2025-12-31T23:59:00Z"}},
        }]},
    });
    let (_, cells) = shown("pods", &pod);
    assert_eq!(
        cells,
        json!(["p", "0/1", "CrashLoopBackOff", "3 (60s ago)", "<unknown>", "10.1.0.1", "n", "<none>", "<none>"])
    );
}

#[test]
fn only_the_first_event_of_a_watch_has_column_definitions() {
    let resource = resources().iter().find(|resource| resource.plural == "secrets");
    let table = Table::new(resource.unwrap_or_else(|| panic!("no secrets")), IncludeObject::default());
    let object = json!({"metadata": {"name": "s", "resourceVersion": "9"}, "type": "Opaque", "data": {"k": "dg=="}});
    let first = table.event(&object, true, Timestamp::UNIX_EPOCH);
    assert!(first["columnDefinitions"].is_array(), "{first}");
    let second = table.event(&object, false, Timestamp::UNIX_EPOCH);
    assert_eq!(second["columnDefinitions"], Value::Null);
    assert_eq!(second["metadata"], json!({"resourceVersion": "9"}));
    assert_eq!(second["rows"][0]["object"]["kind"], "PartialObjectMetadata");
    assert_eq!(second["rows"][0]["object"].get("data"), None);
}

#[test]
fn a_custom_resource_shows_the_columns_it_declares() {
    let column = |name: &str, value_type: &str, json_path: &str, priority| crate::resource::Column {
        name: name.to_owned(),
        value_type: value_type.to_owned(),
        json_path: json_path.to_owned(),
        priority,
        ..crate::resource::Column::default()
    };
    let mut resource = Resource::clone(resources().first().unwrap_or_else(|| panic!("no resources")));
    resource.schema = crate::resource::SchemaSource::Inline(std::sync::Arc::default());
    resource.columns = vec![
        column("Replicas", "integer", ".spec.replicas", 0),
        column("Ready", "string", ".status.conditions[?(@.type==\"Ready\")].status", 0),
        column("When", "date", ".spec.when", 0),
        column("Bad", "integer", ".metadata.name", 0),
        column("Tags", "string", ".spec.tags", 1),
    ];
    let full = json!({
        "metadata": {"name": "a"},
        "spec": {"replicas": 3, "when": "1969-12-31T23:59:00Z", "tags": ["x", "y"]},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    });
    let empty = json!({"metadata": {"name": "b"}, "spec": {}});
    let table = Table::new(&Arc::new(resource), IncludeObject::None);
    let rendered = table.render([&full, &empty], json!({}), Timestamp::UNIX_EPOCH);
    assert_eq!(rendered["rows"][0]["cells"], json!(["a", 3, "True", "60s", null, "[\"x\",\"y\"]"]));
    assert_eq!(rendered["rows"][1]["cells"], json!(["b", null, null, null, null, null]));
    assert_eq!(rendered["columnDefinitions"][5]["priority"], 1);
}
