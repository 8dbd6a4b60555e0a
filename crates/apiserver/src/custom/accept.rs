//! Which names a definition gets, and what its status says of it.

use serde_json::{Map, Value, json};

use super::definition::Definition;

/// The names of other definitions in a group, which are taken.
struct Taken<'a> {
    resources: Vec<&'a str>,
    kinds: Vec<&'a str>,
}

impl<'a> Taken<'a> {
    fn of(others: &[Definition<'a>]) -> Self {
        let mut taken = Taken { resources: Vec::new(), kinds: Vec::new() };
        for other in others {
            taken.resources.extend([other.accepted_name("plural"), other.accepted_name("singular")]);
            taken.resources.extend(other.accepted_names("shortNames"));
            taken.kinds.extend([other.accepted_name("kind"), other.accepted_name("listKind")]);
        }
        taken
    }
}

/// The next status of a definition, or `None` when there is nothing to do.
///
/// `others` are the other definitions of its group; `now` is in RFC 3339 with seconds. First names are accepted, then
/// the definition is established: two steps, so that a watcher sees what it sees of kube-apiserver.
pub(super) fn next_status(definition: Definition<'_>, others: &[Definition<'_>], now: &str) -> Option<Value> {
    accept_names(definition, others, now).or_else(|| approve(definition, now)).or_else(|| establish(definition, now))
}

/// The status of a definition that is asked to go.
pub(super) fn terminating(definition: Definition<'_>, reason: &str, message: &str, now: &str) -> Value {
    with_condition(status_of(definition), condition("Terminating", "True", reason, message), now)
}

/// The status of a definition whose objects are gone, but that something else keeps.
pub(super) fn terminated(definition: Definition<'_>, reason: &str, now: &str) -> Value {
    let message = match reason {
        "NeverEstablished" => "resource was never established",
        _ => "removed all instances",
    };
    with_condition(status_of(definition), condition("Terminating", "False", reason, message), now)
}

fn status_of(definition: Definition<'_>) -> Value {
    definition.status().cloned().unwrap_or_else(|| json!({}))
}

fn condition(name: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({"type": name, "status": status, "reason": reason, "message": message})
}

/// Sets a condition; its time changes with its status only.
fn with_condition(mut status: Value, mut condition: Value, now: &str) -> Value {
    let Some(map) = status.as_object_mut() else { return status };
    let conditions = map.entry("conditions").or_insert_with(|| json!([]));
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let Some(conditions) = conditions.as_array_mut() else { return status };
    let known = conditions.iter_mut().find(|known| known.get("type") == condition.get("type"));
    let since = known
        .as_ref()
        .filter(|known| known.get("status") == condition.get("status"))
        .and_then(|known| known.get("lastTransitionTime").cloned());
    if let Some(condition) = condition.as_object_mut() {
        condition.insert("lastTransitionTime".to_owned(), since.unwrap_or_else(|| now.into()));
    }
    match known {
        Some(known) => *known = condition,
        None => conditions.push(condition),
    }
    status
}

fn accept_names(definition: Definition<'_>, others: &[Definition<'_>], now: &str) -> Option<Value> {
    if definition.names() == definition.accepted() {
        return None;
    }
    let taken = Taken::of(others);
    let mut accepted = definition.accepted().and_then(Value::as_object).cloned().unwrap_or_default();
    let mut conflict = None;
    let mut one = |which: &str, taken: &[&str], reason: &'static str| {
        let asked = definition.asked_name(which);
        if asked != definition.accepted_name(which) && taken.contains(&asked) {
            conflict = Some((reason, format!("\"{asked}\" is already in use")));
        } else {
            accepted.insert(which.to_owned(), asked.into());
        }
    };
    one("plural", &taken.resources, "PluralConflict");
    one("singular", &taken.resources, "SingularConflict");
    one("kind", &taken.kinds, "KindConflict");
    one("listKind", &taken.kinds, "ListKindConflict");
    if let Err(message) = short_names(definition, &taken, &mut accepted) {
        // A conflict of kinds is told rather than one of short names.
        conflict.get_or_insert(("ShortNamesConflict", message));
    }
    set_list(&mut accepted, "categories", &definition.asked_names("categories"));

    let names = match &conflict {
        None => condition("NamesAccepted", "True", "NoConflicts", "no conflicts found"),
        Some((reason, message)) => condition("NamesAccepted", "False", reason, message),
    };
    let known = definition.condition("NamesAccepted");
    let is_known = |key: &str| known.and_then(|known| known.get(key)) == names.get(key);
    if definition.accepted() == Some(&Value::Object(accepted.clone()))
        && ["status", "reason", "message"].into_iter().all(is_known)
    {
        return None;
    }
    let mut status = status_of(definition);
    if let Some(map) = status.as_object_mut() {
        map.insert("acceptedNames".to_owned(), Value::Object(accepted));
    }
    let mut status = with_condition(status, names, now);
    if !definition.is_established() {
        let established = if conflict.is_none() {
            Some(condition("Established", "False", "Installing", "the initial names have been accepted"))
        } else if definition.condition("Established").is_none() {
            Some(condition("Established", "False", "NotAccepted", "not all names are accepted"))
        } else {
            None
        };
        if let Some(established) = established {
            status = with_condition(status, established, now);
        }
    }
    Some(status)
}

fn short_names(definition: Definition<'_>, taken: &Taken<'_>, accepted: &mut Map<String, Value>) -> Result<(), String> {
    let asked = definition.asked_names("shortNames");
    let had = definition.accepted_names("shortNames");
    let conflicts: Vec<_> = asked
        .iter()
        .filter(|name| !had.contains(name) && taken.resources.contains(name))
        .map(|name| format!("\"{name}\" is already in use"))
        .collect();
    match conflicts.as_slice() {
        [] => {
            set_list(accepted, "shortNames", &asked);
            Ok(())
        }
        [only] => Err(only.clone()),
        many => Err(format!("[{}]", many.join(", "))),
    }
}

fn set_list(map: &mut Map<String, Value>, key: &str, values: &[&str]) {
    if values.is_empty() {
        map.remove(key);
    } else {
        map.insert(key.to_owned(), json!(values));
    }
}

/// Whether a group is one of the Kubernetes community's.
pub(super) fn is_protected_group(group: &str) -> bool {
    ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|domain| group.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}

/// Groups of the Kubernetes community have a condition that tells who approved of them.
fn approve(definition: Definition<'_>, now: &str) -> Option<Value> {
    const CONDITION: &str = "KubernetesAPIApprovalPolicyConformant";
    if !is_protected_group(definition.group()) {
        return None;
    }
    let annotation = definition.annotation("api-approved.kubernetes.io").unwrap_or_default();
    let (status, reason, message) = if annotation.starts_with("unapproved") {
        let message = format!("not approved: {annotation:?}");
        ("False", "UnapprovedAnnotation", message)
    } else {
        ("True", "ApprovedAnnotation", format!("approved in {annotation}"))
    };
    let wanted = condition(CONDITION, status, reason, &message);
    let known = definition.condition(CONDITION);
    let is_known = |key: &str| known.and_then(|known| known.get(key)) == wanted.get(key);
    if ["status", "reason", "message"].into_iter().all(is_known) {
        return None;
    }
    Some(with_condition(status_of(definition), wanted, now))
}

fn establish(definition: Definition<'_>, now: &str) -> Option<Value> {
    if !definition.is_condition_true("NamesAccepted") || definition.is_established() {
        return None;
    }
    let established = condition("Established", "True", "InitialNamesAccepted", "the initial names have been accepted");
    Some(with_condition(status_of(definition), established, now))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Definition, next_status};

    fn definition(plural: &str, kind: &str) -> Value {
        json!({
            "metadata": {"name": format!("{plural}.example.com")},
            "spec": {"group": "example.com", "names": {"plural": plural, "singular": kind.to_lowercase(), "kind": kind,
                "listKind": format!("{kind}List"), "shortNames": ["w"]}},
            "status": {"conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": ["v1"]},
        })
    }

    /// Takes all steps and returns how many there were.
    fn settle(object: &mut Value, others: &[&Value]) -> usize {
        let others: Vec<_> = others.iter().map(|other| Definition::new(other)).collect();
        for steps in 0.. {
            let Some(status) = next_status(Definition::new(object), &others, "2026-01-01T00:00:00Z") else {
                return steps;
            };
            object["status"] = status;
        }
        0
    }

    #[test]
    fn names_are_accepted_and_then_the_definition_is_established() {
        let mut object = definition("widgets", "Widget");
        assert_eq!(settle(&mut object, &[]), 2);
        assert_eq!(object["status"]["acceptedNames"], object["spec"]["names"]);
        let conditions = object["status"]["conditions"].as_array().unwrap();
        let seen: Vec<_> =
            conditions.iter().map(|c| [c["type"].clone(), c["status"].clone(), c["reason"].clone()]).collect();
        assert_eq!(
            json!(seen),
            json!([["NamesAccepted", "True", "NoConflicts"], ["Established", "True", "InitialNamesAccepted"]])
        );
    }

    #[test]
    fn a_taken_name_is_refused_until_it_is_free() {
        let mut first = definition("widgets", "Widget");
        settle(&mut first, &[]);
        let mut second = definition("gadgets", "Widget");
        assert_eq!(settle(&mut second, &[&first]), 1);
        let names = Definition::new(&second);
        assert_eq!(names.condition("NamesAccepted").unwrap()["reason"], "ListKindConflict");
        assert_eq!(names.condition("Established").unwrap()["reason"], "NotAccepted");
        assert_eq!(names.accepted_name("plural"), "gadgets");
        assert_eq!(names.accepted_name("kind"), "");
        assert_eq!(settle(&mut second, &[]), 2);
        assert!(Definition::new(&second).is_established());
    }

    #[test]
    fn groups_of_the_community_name_their_approval() {
        let mut object = definition("widgets", "Widget");
        object["spec"]["group"] = json!("widgets.k8s.io");
        object["metadata"]["annotations"] = json!({"api-approved.kubernetes.io": "https://example.com/1"});
        settle(&mut object, &[]);
        let approval = Definition::new(&object).condition("KubernetesAPIApprovalPolicyConformant").cloned().unwrap();
        assert_eq!(approval["message"], "approved in https://example.com/1");
    }
}
