use controller_runtime_merge::NoOtherVersions;
use serde_json::Value;

use super::{Tracking, check_field_manager, field_manager_of};
use crate::registry::Registry;

/// Creates of many built-in kinds as kube-apiserver 1.37.2 answered them: the same fields come to be owned.
#[test]
fn creators_own_what_they_create() {
    let registry = Registry::new();
    let recorded: Value = serde_json::from_str(include_str!("recorded_creates.json")).unwrap();
    let mut wrong = Vec::new();
    for create in recorded.as_array().unwrap() {
        let path = create["path"].as_str().unwrap();
        let mut object = create["answer"].clone();
        let managed = object["metadata"].as_object_mut().unwrap().remove("managedFields").unwrap();
        drop_later_additions(&mut object);
        let segments: Vec<&str> = path.split('/').collect();
        let (group, version) = if segments[1] == "api" { ("", segments[2]) } else { (segments[2], segments[3]) };
        let resource =
            registry.get(group, version, segments[segments.len() - 1]).unwrap_or_else(|| panic!("{path} isn't served"));
        let now = managed[0]["time"].as_str().unwrap().to_owned();
        Tracking::new(&resource, None, "m".to_owned(), now).track(None, &mut object, &NoOtherVersions);
        let tracked = object["metadata"]["managedFields"].clone();
        if tracked != managed {
            wrong.push(format!("{path}\n  expected {managed}\n  tracked  {tracked}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Takes out what kube-apiserver adds behind the tracking: allocations, what a kind's preparation or admission sets, and
/// empty fields that it writes nevertheless.
fn drop_later_additions(object: &mut Value) {
    let metadata = ["finalizers", "uid", "generation", "resourceVersion", "creationTimestamp"];
    let kind = object["kind"].as_str().unwrap().to_owned();
    let own: &[&str] = match kind.as_str() {
        "Pod" => &["/spec/preemptionPolicy", "/spec/priority", "/spec/tolerations"],
        "Service" => &[
            "/spec/clusterIP",
            "/spec/clusterIPs",
            "/spec/ipFamilies",
            "/spec/ipFamilyPolicy",
            "/spec/ports/0/nodePort",
            "/spec/ports/1/nodePort",
        ],
        "Namespace" => &["/spec/finalizers"],
        "Event" => &["/eventTime", "/reportingComponent", "/reportingInstance"],
        "Job" => &["/spec/selector"],
        _ => &[],
    };
    for pointer in
        metadata.map(|field| format!("/metadata/{field}")).iter().map(String::as_str).chain(own.iter().copied())
    {
        let (parent, field) = pointer.rsplit_once('/').unwrap();
        if let Some(fields) = object.pointer_mut(parent).and_then(Value::as_object_mut) {
            fields.remove(field);
        }
    }
    if kind == "ClusterRole" {
        // An empty list was given, which storing turns into nothing.
        object["rules"] = Value::Array(Vec::new());
    }
    if kind == "Job" {
        for labels in ["/metadata/labels", "/spec/template/metadata/labels"] {
            object.pointer_mut(labels).unwrap().as_object_mut().unwrap().retain(|key, _| key == "a");
        }
    }
}

#[test]
fn field_managers_default_to_the_program() {
    let long = "x".repeat(200);
    let cases = [
        ("named", "kubectl/v1.37.2 (linux/amd64)", "named"),
        ("", "kubectl/v1.37.2 (linux/amd64)", "kubectl"),
        ("", "my\u{1}pro\u{200b}gram", "myprogram"),
        ("", "", ""),
        ("", &long, &long[..128]),
    ];
    for (named, user_agent, expected) in cases {
        assert_eq!(field_manager_of(named, user_agent), expected, "{named} {user_agent}");
    }
}

#[test]
fn field_managers_are_checked() {
    let check =
        |manager: &str| -> Vec<String> { check_field_manager(manager).iter().map(ToString::to_string).collect() };
    assert_eq!(check("kubectl-edit"), [""; 0]);
    assert_eq!(check(&"x".repeat(129)), ["fieldManager: Too long: may not be more than 128 bytes"]);
    assert_eq!(
        check("a\u{1}b"),
        ["fieldManager: Invalid value: \"a\\x01b\": invalid character U+0001 (at position 1)"]
    );
}
