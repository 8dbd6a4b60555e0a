//! `v1` ServiceAccount.

use serde_json::Value;

use super::{Strategy, StrategyContext};

/// What is special about service accounts.
#[derive(Debug)]
pub(super) struct ServiceAccount;

impl Strategy for ServiceAccount {
    fn definition(&self) -> Option<&'static str> {
        Some("io.k8s.api.core.v1.ServiceAccount")
    }

    fn returns_deleted_object(&self) -> bool {
        true
    }

    fn prepare_create(&self, object: &mut Value, _cx: &StrategyContext<'_>) {
        keep_names(object);
    }

    fn prepare_update(&self, new: &mut Value, _old: &Value, _subresource: Option<&str>) {
        keep_names(new);
    }
}

/// Secrets are those of the account's namespace: only their names count.
fn keep_names(account: &mut Value) {
    let secrets = account.get_mut("secrets").and_then(Value::as_array_mut).into_iter().flatten();
    for secret in secrets.filter_map(Value::as_object_mut) {
        secret.retain(|key, _| key == "name");
    }
}
