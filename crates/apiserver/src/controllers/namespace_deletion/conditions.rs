use serde_json::{Value, json};

use super::content::Remaining;

struct Condition {
    kind: &'static str,
    is_true: bool,
    reason: &'static str,
    message: String,
}

/// Brings a namespace's `status.conditions` up to what is left of its content. Returns whether anything changed.
pub(super) fn update(namespace: &mut Value, remaining: &Remaining, now: &str) -> bool {
    let wanted = conditions(remaining);
    let Some(status) = namespace.as_object_mut().map(|object| object.entry("status").or_insert_with(|| json!({})))
    else {
        return false;
    };
    let Some(status) = status.as_object_mut() else { return false };
    let list = status.entry("conditions").or_insert_with(|| json!([]));
    let Some(list) = list.as_array_mut() else { return false };
    let mut changed = false;
    for condition in wanted {
        changed |= set(list, &condition, now);
    }
    changed
}

fn set(list: &mut Vec<Value>, wanted: &Condition, now: &str) -> bool {
    let status = if wanted.is_true { "True" } else { "False" };
    let new = |transition: Value| {
        json!({
            "type": wanted.kind, "status": status, "reason": wanted.reason, "message": wanted.message,
            "lastTransitionTime": transition,
        })
    };
    let Some(old) = list.iter_mut().find(|old| old.get("type") == Some(&json!(wanted.kind))) else {
        list.push(new(json!(now)));
        return true;
    };
    let is = |key: &str, value: &str| old.get(key).and_then(Value::as_str) == Some(value);
    if is("status", status) && is("reason", wanted.reason) && is("message", &wanted.message) {
        return false;
    }
    let transition = if is("status", status) { old.get("lastTransitionTime").cloned() } else { None };
    *old = new(transition.unwrap_or_else(|| json!(now)));
    true
}

/// All conditions of namespace deletion, in the reference's order and words.
fn conditions(remaining: &Remaining) -> Vec<Condition> {
    let counted = |counts: &std::collections::BTreeMap<String, usize>, what: &str| {
        let lines: Vec<_> =
            counts.iter().map(|(name, count)| format!("{name} {what} {count} resource instances")).collect();
        lines.join(", ")
    };
    let condition =
        |kind, reason, message: &str| Condition { kind, is_true: false, reason, message: message.to_owned() };
    let mut all = vec![
        condition("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"),
        condition(
            "NamespaceDeletionGroupVersionParsingFailure",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
    ];
    all.push(if remaining.failures.is_empty() {
        condition(
            "NamespaceDeletionContentFailure",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        )
    } else {
        let texts: Vec<_> = remaining.failures.iter().map(String::as_str).collect();
        let message = format!("Failed to delete all resource types, {} remaining: {}", texts.len(), texts.join(", "));
        Condition { kind: "NamespaceDeletionContentFailure", is_true: true, reason: "ContentDeletionFailed", message }
    });
    // The reference counts what is left only after pods are gone.
    all.push(if remaining.resources.is_empty() || remaining.waits_for_pods {
        condition("NamespaceContentRemaining", "ContentRemoved", "All content successfully removed")
    } else {
        let message = format!("Some resources are remaining: {}", counted(&remaining.resources, "has"));
        Condition { kind: "NamespaceContentRemaining", is_true: true, reason: "SomeResourcesRemain", message }
    });
    all.push(if remaining.finalizers.is_empty() || remaining.waits_for_pods {
        condition(
            "NamespaceFinalizersRemaining",
            "ContentHasNoFinalizers",
            "All content-preserving finalizers finished",
        )
    } else {
        let message =
            format!("Some content in the namespace has finalizers remaining: {}", counted(&remaining.finalizers, "in"));
        Condition { kind: "NamespaceFinalizersRemaining", is_true: true, reason: "SomeFinalizersRemain", message }
    });
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::super::content::Remaining;
    use super::update;

    #[test]
    fn conditions_say_what_is_left() {
        let mut namespace = json!({"status": {"phase": "Terminating"}});
        let mut remaining = Remaining {
            resources: BTreeMap::from([("configmaps.".to_owned(), 2)]),
            finalizers: BTreeMap::from([("ref.dev/f".to_owned(), 1)]),
            ..Remaining::default()
        };
        assert!(update(&mut namespace, &remaining, "T1"));
        assert!(!update(&mut namespace, &remaining, "T2"));
        let line = |namespace: &serde_json::Value, index: usize| {
            let condition = &namespace["status"]["conditions"][index];
            ["type", "status", "reason", "message", "lastTransitionTime"]
                .map(|key| condition[key].as_str().unwrap_or_default().to_owned())
                .join("|")
        };
        insta::assert_snapshot!(line(&namespace, 3), @"NamespaceContentRemaining|True|SomeResourcesRemain|Some resources are remaining: configmaps. has 2 resource instances|T1");
        insta::assert_snapshot!(line(&namespace, 4), @"NamespaceFinalizersRemaining|True|SomeFinalizersRemain|Some content in the namespace has finalizers remaining: ref.dev/f in 1 resource instances|T1");
        remaining.resources.insert("configmaps.".to_owned(), 1);
        assert!(update(&mut namespace, &remaining, "T3"));
        assert!(line(&namespace, 3).ends_with("has 1 resource instances|T1"));
        assert!(update(&mut namespace, &Remaining::default(), "T4"));
        assert!(line(&namespace, 3).ends_with("ContentRemoved|All content successfully removed|T4"));
        assert_eq!(namespace["status"]["conditions"].as_array().map(Vec::len), Some(5));
    }
}
