//! Disruption budgets: how many pods may be away at a time.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Call;
use crate::metadata::fields;
use crate::status::{ApiError, Cause, GroupResource};
use crate::store::{Object, Range, WriteError};
use crate::strategy::fields::{at, items, number, object_or_new, text};
use crate::strategy::selects;

const BUDGETS: &str = "poddisruptionbudgets.policy";
/// Pods that may be on their way without the budget's controller having seen it.
const MOST_DISRUPTED: usize = 2000;

/// Takes one disruption from the budget of a pod, if it has one.
pub(super) fn disrupt(call: &Call, pod: &Value, dry_run: bool) -> Result<(), ApiError> {
    loop {
        let budgets = budgets(call, pod);
        let budget = match budgets.as_slice() {
            [] => return Ok(()),
            [budget] => budget,
            _ => {
                let text = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not \
                            support.";
                return Err(ApiError::unclassified(text));
            }
        };
        if !is_ready(pod) && may_go_unready(budget.value()) {
            return Ok(());
        }
        check(budget)?;
        if dry_run {
            return Ok(());
        }
        let taken = taken(budget.value(), fields::text(pod, "name"), &call.now());
        match call.core.store.update(budget, taken) {
            Ok(_) => return Ok(()),
            Err(WriteError::Changed) => {}
            Err(error) => return Err(super::create::unwritable(&call.resource, &budget.key.name, &error)),
        }
    }
}

fn budgets(call: &Call, pod: &Value) -> Vec<Arc<Object>> {
    let range = Range { namespace: Some(call.namespace.as_str()), ..Range::default() };
    let labels = at(pod, "metadata.labels");
    let page = call.core.store.list(BUDGETS, &range, |budget| selects(at(budget.value(), "spec.selector"), labels));
    page.map(|page| page.objects).unwrap_or_default()
}

fn is_ready(pod: &Value) -> bool {
    let conditions = items(pod, "status.conditions");
    conditions.iter().any(|condition| text(condition, "type") == "Ready" && text(condition, "status") == "True")
}

/// Whether a pod that isn't ready counts for nothing.
fn may_go_unready(budget: &Value) -> bool {
    let count = |key: &str| number(at(budget, "status"), key).unwrap_or_default();
    let (healthy, desired) = (count("currentHealthy"), count("desiredHealthy"));
    text(budget, "spec.unhealthyPodEvictionPolicy") == "AlwaysAllow" || healthy >= desired && desired > 0
}

fn check(budget: &Arc<Object>) -> Result<(), ApiError> {
    let name = &budget.key.name;
    let budget = budget.value();
    let count = |key: &str| number(at(budget, "status"), key).unwrap_or_default();
    if count("observedGeneration") < number(budget, "metadata.generation").unwrap_or_default() {
        let text = format!("The disruption budget {name} is still being processed by the server.");
        return Err(violates(Some(10), text));
    }
    let allowed = count("disruptionsAllowed");
    let disrupted = at(budget, "status.disruptedPods").as_object().map_or(0, serde_json::Map::len);
    let forbidden = |why: &str, told: &str| {
        let about = GroupResource { group: "policy", resource: "poddisruptionbudget" };
        let text = format!("The disruption budget {name} does not allow evicting pods currently: {told}");
        ApiError::forbidden(about, name, why).with_cause(cause(text))
    };
    if allowed < 0 {
        let why = "pdb disruptions allowed is negative";
        return Err(forbidden(why, why));
    }
    if disrupted > MOST_DISRUPTED {
        let why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
        return Err(forbidden(why, "too many pending evictions not confirmed by PDB controller"));
    }
    if allowed > 0 {
        return Ok(());
    }
    let conditions = items(budget, "status.conditions");
    let condition = conditions.iter().find(|condition| {
        text(condition, "type") == "DisruptionAllowed"
            && text(condition, "status") == "False"
            && !text(condition, "message").is_empty()
    });
    let (reason, message) =
        condition.map_or(("", ""), |condition| (text(condition, "reason"), text(condition, "message")));
    let (healthy, desired) = (count("currentHealthy"), count("desiredHealthy"));
    let refused = format!("The disruption budget {name} does not allow evicting pods currently");
    let text = if reason == "SyncFailed" {
        format!("{refused} because it failed sync: {message}")
    } else if healthy <= desired {
        format!("The disruption budget {name} needs {desired} healthy pods and has {healthy} currently")
    } else if condition.is_some() {
        format!("{refused} ({reason}): {message}")
    } else {
        refused
    };
    Err(violates(None, text))
}

fn violates(retry_after: Option<u64>, text: String) -> ApiError {
    let message = "Cannot evict pod as it would violate the pod's disruption budget.";
    ApiError::too_many_requests(message, retry_after).with_cause(cause(text))
}

fn cause(message: String) -> Cause {
    Cause { reason: "DisruptionBudget".to_owned(), message, ..Cause::default() }
}

/// The budget with one disruption less, for a pod that its controller will miss.
fn taken(budget: &Value, pod: &str, now: &str) -> Value {
    let mut budget = budget.clone();
    let generation = at(&budget, "status.observedGeneration").clone();
    let Some(status) = budget.get_mut("status").and_then(Value::as_object_mut) else { return budget };
    let left = status.get("disruptionsAllowed").and_then(Value::as_i64).unwrap_or_default() - 1;
    status.insert("disruptionsAllowed".to_owned(), json!(left));
    if let Some(pods) = object_or_new(status, "disruptedPods") {
        pods.insert(pod.to_owned(), json!(now));
    }
    if left == 0 {
        let mut conditions = status.get("conditions").and_then(Value::as_array).cloned().unwrap_or_default();
        let before = conditions.iter().find(|condition| text(condition, "type") == "DisruptionAllowed").cloned();
        let since = before.filter(|before| text(before, "status") == "False");
        let since = since.map_or_else(|| json!(now), |before| at(&before, "lastTransitionTime").clone());
        conditions.retain(|condition| text(condition, "type") != "DisruptionAllowed");
        conditions.push(json!({
            "type": "DisruptionAllowed",
            "status": "False",
            "reason": "InsufficientPods",
            "message": "",
            "lastTransitionTime": since,
            "observedGeneration": generation,
        }));
        status.insert("conditions".to_owned(), Value::Array(conditions));
    }
    budget
}
