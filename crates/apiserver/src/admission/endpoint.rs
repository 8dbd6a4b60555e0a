use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

const DEFAULT_PORT: u16 = 443;

/// Where a webhook is, whom it must be, and how long it may take.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    pub(super) target: Target,
    /// Certificates in PEM that the webhook's own must come from.
    pub(super) authorities: Vec<u8>,
    pub(super) timeout: Duration,
}

/// Where a webhook is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Url(String),
    Service { namespace: String, name: String, path: String, port: u16 },
}

impl Endpoint {
    /// The endpoint that a `clientConfig` describes.
    pub(crate) fn of(config: &Value, timeout: Duration) -> Self {
        let bundle = config.get("caBundle").and_then(Value::as_str).unwrap_or_default();
        Self { target: Target::of(config), authorities: STANDARD.decode(bundle).unwrap_or_default(), timeout }
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
