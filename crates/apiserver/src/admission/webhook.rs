use std::time::Duration;

use serde_json::Value;

use super::endpoint::Endpoint;
use crate::selector::LabelSelector;
use crate::store::{Range, Store};

const GROUP: &str = "admissionregistration.k8s.io";
/// In seconds.
const DEFAULT_TIMEOUT: u64 = 10;
const MAX_TIMEOUT: u64 = 30;

/// When a webhook is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Before the object is validated; it may change the object.
    Mutating,
    /// After it.
    Validating,
}

/// What a webhook that can't be asked means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailurePolicy {
    Fail,
    Ignore,
}

/// One webhook of a configuration.
#[derive(Debug)]
pub(super) struct Webhook {
    pub(super) name: String,
    pub(super) phase: Phase,
    pub(super) endpoint: Endpoint,
    pub(super) rules: Vec<Value>,
    pub(super) failure_policy: FailurePolicy,
    /// Whether a rule for one version of a resource stands for the others.
    pub(super) equivalent: bool,
    /// The error is a selector that makes no sense.
    pub(super) namespaces: Result<LabelSelector, String>,
    pub(super) objects: Result<LabelSelector, String>,
    /// Expressions in CEL that must hold.
    pub(super) conditions: Vec<String>,
    pub(super) supports_dry_run: bool,
    /// Whether it wants to be asked again when others changed the object after it.
    pub(super) reinvoked: bool,
}

/// All webhooks of a phase, by the name of their configuration and then in its order.
pub(super) fn webhooks(store: &Store, phase: Phase) -> Vec<Webhook> {
    let plural = match phase {
        Phase::Mutating => "mutatingwebhookconfigurations",
        Phase::Validating => "validatingwebhookconfigurations",
    };
    let Ok(page) = store.list(&format!("{plural}.{GROUP}"), &Range::default(), |_| true) else { return Vec::new() };
    let listed = |configuration: &Value| {
        let webhooks = configuration.get("webhooks").and_then(Value::as_array).into_iter().flatten();
        webhooks.map(|webhook| Webhook::of(webhook, phase)).collect::<Vec<_>>()
    };
    page.objects.iter().flat_map(|object| listed(object.value())).collect()
}

impl Webhook {
    fn of(webhook: &Value, phase: Phase) -> Self {
        let text = |key: &str| webhook.get(key).and_then(Value::as_str).unwrap_or_default();
        let selector = |key: &str| LabelSelector::of_object(webhook.get(key).unwrap_or(&Value::Null));
        let seconds = webhook.get("timeoutSeconds").and_then(Value::as_u64).unwrap_or(DEFAULT_TIMEOUT);
        let config = webhook.get("clientConfig").unwrap_or(&Value::Null);
        let conditions = webhook.get("matchConditions").and_then(Value::as_array).into_iter().flatten();
        let expression = |condition: &Value| condition.get("expression").and_then(Value::as_str).map(str::to_owned);
        Self {
            name: text("name").to_owned(),
            phase,
            endpoint: Endpoint::of(config, Duration::from_secs(seconds.min(MAX_TIMEOUT))),
            rules: webhook.get("rules").and_then(Value::as_array).cloned().unwrap_or_default(),
            failure_policy: if text("failurePolicy") == "Ignore" { FailurePolicy::Ignore } else { FailurePolicy::Fail },
            equivalent: text("matchPolicy") != "Exact",
            namespaces: selector("namespaceSelector"),
            objects: selector("objectSelector"),
            conditions: conditions.filter_map(expression).collect(),
            supports_dry_run: matches!(text("sideEffects"), "None" | "NoneOnDryRun"),
            reinvoked: text("reinvocationPolicy") == "IfNeeded",
        }
    }
}
