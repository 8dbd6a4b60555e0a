//! What the reference's admission plugins do to pods: priority, overhead, tolerations of nodes that are gone.

use serde_json::{Value, json};

use super::super::StrategyContext;
use super::super::fields::{Fields, at, is_given, number, text};
use crate::store::{ObjectKey, Range};

/// Seconds a pod stays on a node that stopped answering, unless it says otherwise.
const TOLERATION_SECONDS: i64 = 300;

/// Admits a new pod, or says why not.
pub(super) fn create(pod: &mut Value, cx: &StrategyContext<'_>) -> Result<(), String> {
    let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) else { return Ok(()) };
    tolerate(spec);
    prioritize(spec, cx)?;
    if spec.get("runtimeClassName").is_none_or(Value::is_null) && spec.get("overhead").is_some_and(is_full) {
        return Err("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead".to_owned());
    }
    Ok(())
}

fn is_full(value: &Value) -> bool {
    value.as_object().is_some_and(|fields| !fields.is_empty())
}

/// Admits a changed pod.
pub(super) fn update(new: &mut Value, old: &Value) {
    let Some(spec) = new.get_mut("spec").and_then(Value::as_object_mut) else { return };
    for key in ["priority", "preemptionPolicy"] {
        let before = at(old, "spec").get(key);
        if let Some(before) = before.filter(|_| spec.get(key).is_none_or(Value::is_null)) {
            spec.insert(key.to_owned(), before.clone());
        }
    }
    tolerate(spec);
}

/// A pod gets the priority of its class, or of the class that is the default.
fn prioritize(spec: &mut Fields, cx: &StrategyContext<'_>) -> Result<(), String> {
    let name = spec.get("priorityClassName").and_then(Value::as_str).unwrap_or_default().to_owned();
    let class = if name.is_empty() { default_class(cx) } else { class(&name, cx) };
    if class.is_none() && !name.is_empty() {
        return Err(format!("no PriorityClass with name {name} was found"));
    }
    if let Some((name, _)) = &class {
        spec.insert("priorityClassName".to_owned(), json!(name));
    }
    let class = class.map(|(_, class)| class);
    let computed = class.as_ref().and_then(|class| number(class, "value")).unwrap_or_default();
    let given = spec.get("priority").and_then(Value::as_i64);
    if let Some(given) = given.filter(|given| *given != computed) {
        return Err(format!(
            "the integer value of priority ({given}) must not be provided in pod spec; priority admission controller \
             computed {computed} from the given PriorityClass name"
        ));
    }
    spec.insert("priority".to_owned(), json!(computed));
    let policy = class.as_ref().map(|class| text(class, "preemptionPolicy")).filter(|policy| !policy.is_empty());
    let policy = policy.unwrap_or("PreemptLowerPriority");
    let given = spec.get("preemptionPolicy").and_then(Value::as_str);
    if let Some(given) = given.filter(|given| *given != policy) {
        return Err(format!(
            "the string value of PreemptionPolicy ({given}) must not be provided in pod spec; priority admission \
             controller computed {policy} from the given PriorityClass name"
        ));
    }
    spec.insert("preemptionPolicy".to_owned(), json!(policy));
    Ok(())
}

type Class = (String, Value);

fn class(name: &str, cx: &StrategyContext<'_>) -> Option<Class> {
    let stored = cx.core.store.get("priorityclasses.scheduling.k8s.io", &ObjectKey::new("", name))?;
    Some((name.to_owned(), stored.value().clone()))
}

/// The least of the classes that are the default for all.
fn default_class(cx: &StrategyContext<'_>) -> Option<Class> {
    let page = cx.core.store.list("priorityclasses.scheduling.k8s.io", &Range::default(), |_| true).ok()?;
    page.objects
        .iter()
        .filter(|class| at(class.value(), "globalDefault") == &json!(true))
        .min_by_key(|class| number(class.value(), "value"))
        .map(|class| (text(class.value(), "metadata.name").to_owned(), class.value().clone()))
}

/// Pods stay a while on nodes that are no longer ready or don't answer.
fn tolerate(spec: &mut Fields) {
    let given = spec.get("tolerations").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut tolerations = given.clone();
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let tolerated = given.iter().any(|toleration| {
            (!is_given(toleration, "key") || text(toleration, "key") == key)
                && matches!(text(toleration, "effect"), "" | "NoExecute")
        });
        if !tolerated {
            tolerations.push(json!({
                "key": key,
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": TOLERATION_SECONDS,
            }));
        }
    }
    spec.insert("tolerations".to_owned(), Value::Array(tolerations));
}
