//! A scheme from what two crates contribute, and conversions that say what is wrong.
//!
//! `cargo run -p controller-runtime-scheme --example scheme`

use controller_runtime_scheme::{GroupVersionKind, Scheme, SchemeError, Strictness, Unstructured};
use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use serde_json::json;

/// What a crate with the types of one group exports.
fn apps(scheme: &mut Scheme) -> Result<(), SchemeError> {
    scheme.register_group::<(Deployment, StatefulSet)>("apps", "v1")?;
    scheme.require::<Deployment>(["spec", "spec.selector", "spec.template.spec.containers[].name"])
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scheme = Scheme::builder().with(apps).with(Scheme::register_types::<(ConfigMap, Pod)>).build()?;
    for known in scheme.registrations() {
        println!("{} is {} and listed as {}", known.kind(), known.type_name(), known.list_kind());
    }
    let by_list = scheme.get_by_list(&GroupVersionKind::gvk("", "v1", "PodList"));
    println!("a PodList has {:?}", by_list.map(|known| &known.resource().plural));

    for spec in [
        json!({"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": {}}),
        json!({"replicas": 2, "selector": {}, "paused": "yes"}),
        json!({"replica": 2, "selector": {}}),
        json!({"template": {}}),
    ] {
        let object: Unstructured = serde_json::from_value(json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"namespace": "default", "name": "web"},
            "spec": spec,
        }))?;
        for strictness in [Strictness::Lenient, Strictness::Strict] {
            match scheme.to_typed::<Deployment>(&object, strictness) {
                Ok(deployment) => println!("{strictness:?}: {:?}", deployment.spec.replicas),
                Err(error) => println!("{strictness:?}: {error}"),
            }
        }
    }
    Ok(())
}
