use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::selector::LabelSelector;
use crate::store::{Range, Store};

const GROUP: &str = "admissionregistration.k8s.io";
/// In seconds.
const DEFAULT_TIMEOUT: u64 = 10;
const MAX_TIMEOUT: u64 = 30;
const DEFAULT_PORT: u16 = 443;

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
    pub(super) target: Target,
    /// Certificates in PEM that the webhook's own must come from.
    pub(super) authorities: Vec<u8>,
    pub(super) rules: Vec<Value>,
    pub(super) failure_policy: FailurePolicy,
    /// Whether a rule for one version of a resource stands for the others.
    pub(super) equivalent: bool,
    /// The error is a selector that makes no sense.
    pub(super) namespaces: Result<LabelSelector, String>,
    pub(super) objects: Result<LabelSelector, String>,
    pub(super) timeout: Duration,
    pub(super) supports_dry_run: bool,
    /// Whether it wants to be asked again when others changed the object after it.
    pub(super) reinvoked: bool,
}

/// Where a webhook is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Url(String),
    Service { namespace: String, name: String, path: String, port: u16 },
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
        let bundle = webhook.pointer("/clientConfig/caBundle").and_then(Value::as_str).unwrap_or_default();
        Self {
            name: text("name").to_owned(),
            phase,
            target: Target::of(webhook.get("clientConfig").unwrap_or(&Value::Null)),
            authorities: STANDARD.decode(bundle).unwrap_or_default(),
            rules: webhook.get("rules").and_then(Value::as_array).cloned().unwrap_or_default(),
            failure_policy: if text("failurePolicy") == "Ignore" { FailurePolicy::Ignore } else { FailurePolicy::Fail },
            equivalent: text("matchPolicy") != "Exact",
            namespaces: selector("namespaceSelector"),
            objects: selector("objectSelector"),
            timeout: Duration::from_secs(seconds.min(MAX_TIMEOUT)),
            supports_dry_run: matches!(text("sideEffects"), "None" | "NoneOnDryRun"),
            reinvoked: text("reinvocationPolicy") == "IfNeeded",
        }
    }
}

impl Target {
    fn of(config: &Value) -> Self {
        let Some(service) = config.get("service").filter(|service| service.is_object()) else {
            return Self::Url(config.get("url").and_then(Value::as_str).unwrap_or_default().to_owned());
        };
        let text = |key: &str| service.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let port = service.get("port").and_then(Value::as_u64).and_then(|port| u16::try_from(port).ok());
        Self::Service {
            namespace: text("namespace"),
            name: text("name"),
            path: text("path"),
            port: port.unwrap_or(DEFAULT_PORT),
        }
    }
}
