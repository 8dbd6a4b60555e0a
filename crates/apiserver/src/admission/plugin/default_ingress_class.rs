//! `DefaultIngressClass`: an ingress that names no class gets the default one.

use serde_json::{Value, json};

use super::{Write, spec};
use crate::metadata::fields;

pub(super) fn mutate(write: Write<'_>, object: &mut Value) {
    if !write.is_create_of("networking.k8s.io", "ingresses") {
        return;
    }
    let annotated =
        fields::get(object, "annotations").is_some_and(|all| all.get("kubernetes.io/ingress.class").is_some());
    let Some(spec) = spec(object).filter(|_| !annotated) else { return };
    if spec.get("ingressClassName").is_none_or(Value::is_null)
        && let Some(class) =
            write.default_of("ingressclasses.networking.k8s.io", &["ingressclass.kubernetes.io/is-default-class"])
    {
        spec.insert("ingressClassName".to_owned(), json!(class));
    }
}
