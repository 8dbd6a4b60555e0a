//! One object seen in three ways: typed, unstructured, and only its metadata. Needs nothing but this crate.
//!
//! `cargo run -p controller-runtime-client --example three_views -- --kubeconfig FILE`; without the flag it takes the
//! cluster that kubectl would.

use controller_runtime_client::{Client, ClientOptions, ListOptions, Patch};
use controller_runtime_scheme::{Kind, PartialObjectMeta};
use k8s_openapi::api::core::v1::ConfigMap;
use kube_client::Config;
use kube_client::config::{KubeConfigOptions, Kubeconfig};
use serde_json::json;

const NAME: &str = "three-views";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = config().await?;
    let namespace = config.default_namespace.clone();
    let client = Client::from_config(config, ClientOptions::builder().field_manager(NAME).build())?;
    let key = (namespace.as_str(), NAME);

    // Typed: fields are Rust fields.
    let settings: ConfigMap = serde_json::from_value(json!({
        "metadata": {"name": NAME, "namespace": namespace, "labels": {"app": NAME}},
        "data": {"color": "green"},
    }))?;
    let applied = client.apply(&settings).await?;
    let color = applied.data.as_ref().and_then(|data| data.get("color")).map_or("none", String::as_str);
    println!("typed: {namespace}/{NAME} has color={color}");

    // Unstructured: for kinds that the program learns of when it runs.
    let maps = client.api(Kind::<ConfigMap>::typed().erase());
    let changed = maps.patch(key, &Patch::Merge(json!({"data": {"size": "3"}}))).await?;
    println!("unstructured: its size is {}", changed.data["data"]["size"].as_str().unwrap_or("unknown"));

    // Only the metadata: the server leaves the rest out.
    let metadata = client.api(Kind::<ConfigMap>::typed().metadata_only());
    let found = metadata.list(&ListOptions::in_namespace(&namespace).label("app", NAME)).await?;
    for object in found {
        let object: PartialObjectMeta = object;
        let labels = object.metadata.labels.unwrap_or_default();
        println!("metadata only: its label app is {}", labels.get("app").map_or("missing", String::as_str));
    }

    // The same desire again is no change.
    let again = client.apply(&settings).await?;
    let same = again.metadata.resource_version == changed.metadata.resource_version;
    println!("applied twice: {}", if same { "still one change" } else { "another change" });

    client.delete::<ConfigMap>(key).await?;
    match client.get_opt::<ConfigMap>(key).await? {
        Some(_) => println!("deleted, and still there"),
        None => println!("deleted, and then there is none"),
    }
    Ok(())
}

/// The file after `--kubeconfig`, or what kubectl would take.
async fn config() -> Result<Config, Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (Some("--kubeconfig"), Some(file)) => {
            let options = KubeConfigOptions::default();
            Ok(Config::from_custom_kubeconfig(Kubeconfig::read_from(file)?, &options).await?)
        }
        (None, None) => Ok(Config::infer().await?),
        _ => Err("usage: three_views [--kubeconfig FILE]".into()),
    }
}
