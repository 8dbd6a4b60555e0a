use serde_json::Value;

/// Written by `cargo xtask codegen`: what kube-apiserver creates where it runs with RBAC.
const POLICY: &str = include_str!("generated/policy.json");

/// The default roles and bindings: plural, namespace and object, in the order in which they are created.
pub(crate) fn default_policy() -> Vec<(String, String, Value)> {
    let document: Value = serde_json::from_str(POLICY).unwrap_or_default();
    let objects = document.get("objects").and_then(Value::as_array).cloned().unwrap_or_default();
    let place = |object: &Value| {
        let plural = format!("{}s", object.get("kind")?.as_str()?.to_lowercase());
        let namespace = object.pointer("/metadata/namespace").and_then(Value::as_str).unwrap_or_default();
        Some((plural, namespace.to_owned()))
    };
    objects.into_iter().filter_map(|object| place(&object).map(|(plural, place)| (plural, place, object))).collect()
}

#[cfg(test)]
mod tests {
    use super::default_policy;

    #[test]
    fn the_policy_is_whole() {
        let policy = default_policy();
        let has = |plural: &str, name: &str| {
            policy.iter().any(|(kind, _, object)| kind == plural && object["metadata"]["name"] == name)
        };
        assert!(has("clusterroles", "cluster-admin") && has("clusterrolebindings", "cluster-admin"));
        assert!(has("clusterroles", "view") && has("roles", "extension-apiserver-authentication-reader"));
        assert!(policy.iter().all(|(_, _, object)| object["metadata"]["uid"].is_null()));
    }
}
