//! `networking.k8s.io/v1` NetworkPolicy.

use serde_json::{Value, json};

use super::fields::Fields;

/// `NetworkPolicySpec`: a policy is at least about what comes in.
pub(super) fn defaults(spec: &mut Fields) {
    let given = |key: &str| spec.get(key).and_then(Value::as_array).is_some_and(|items| !items.is_empty());
    if !given("policyTypes") {
        let types = if given("egress") { json!(["Ingress", "Egress"]) } else { json!(["Ingress"]) };
        spec.insert("policyTypes".to_owned(), types);
    }
}
