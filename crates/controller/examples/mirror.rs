//! Keeps a copy of each ConfigMap that asks for one, and makes it again when it is deleted. Makes a ConfigMap, watches the
//! copy come, deletes it, watches it come again, and ends.
//!
//! `cargo run -p controller-runtime-controller --example mirror -- --kubeconfig FILE`

mod host;

use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::CancellationToken;
use controller_runtime_cache::CacheOptions;
use controller_runtime_client::{Client, ClientOptions, Expression, OwnedBy};
use controller_runtime_controller::{Action, Context, Controller, Reconciler, Result, Watch, predicate};
use controller_runtime_scheme::ObjectExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube_client::Config;
use kube_client::config::{KubeConfigOptions, Kubeconfig};

use host::OwnHost;

type AnyError = Box<dyn std::error::Error + Send + Sync>;

struct Mirror;

impl Reconciler<ConfigMap> for Mirror {
    async fn reconcile(&self, cx: &Context, original: Arc<ConfigMap>) -> Result<Action> {
        let key = original.key();
        let mut copy = ConfigMap { data: original.data.clone(), ..ConfigMap::default() };
        copy.metadata.name = Some(format!("{}-copy", key.name));
        copy.metadata.namespace = key.namespace;
        cx.apply(&copy.owned_by(&*original)?).await?;
        Ok(Action::done())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::result::Result<(), AnyError> {
    let config = config().await?;
    let namespace = config.default_namespace.clone();
    let client = Client::from_config(config, ClientOptions::builder().field_manager("mirror").build())?;
    let host = OwnHost::new(client.clone(), CacheOptions::builder().namespaces([&namespace]).build());
    let asks = Expression::Equal("mirror".to_owned(), "yes".to_owned());
    Controller::for_kind::<ConfigMap>()
        .with_predicate(predicate::matches(asks))
        .owns_watch(Watch::metadata::<ConfigMap>())
        .run(Mirror, &host)?;
    let stop = CancellationToken::new();
    let program = async {
        let result = demonstrate(&client, &namespace).await;
        stop.cancel();
        result
    };
    let (ran, shown) = futures::join!(host.run(stop.clone()), program);
    ran?;
    shown
}

async fn demonstrate(client: &Client, namespace: &str) -> std::result::Result<(), AnyError> {
    let mut original = ConfigMap::default();
    original.metadata.name = Some("settings".to_owned());
    original.metadata.namespace = Some(namespace.to_owned());
    original.metadata.labels = Some([("mirror".to_owned(), "yes".to_owned())].into());
    original.data = Some([("color".to_owned(), "green".to_owned())].into());
    client.create(&original).await?;
    let first = copy(client, namespace, None).await?;
    println!("copied: {:?}", first.data.unwrap_or_default());
    client.delete::<ConfigMap>((namespace, "settings-copy")).await?;
    let second = copy(client, namespace, first.metadata.uid).await?;
    println!("copied again: {:?}", second.data.unwrap_or_default());
    client.delete::<ConfigMap>((namespace, "settings")).await?;
    Ok(())
}

/// The copy, when there is one that isn't `other_than`.
async fn copy(
    client: &Client,
    namespace: &str,
    other_than: Option<String>,
) -> std::result::Result<ConfigMap, AnyError> {
    for _ in 0..200 {
        let found = client.get_opt::<ConfigMap>((namespace, "settings-copy")).await?;
        if let Some(copy) = found.filter(|copy| copy.metadata.uid != other_than) {
            return Ok(copy);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err("there is no copy within 10 s".into())
}

/// The file after `--kubeconfig`, or what kubectl would take.
async fn config() -> std::result::Result<Config, AnyError> {
    let mut arguments = std::env::args().skip(1);
    Ok(match (arguments.next().as_deref(), arguments.next()) {
        (Some("--kubeconfig"), Some(file)) => {
            Config::from_custom_kubeconfig(Kubeconfig::read_from(file)?, &KubeConfigOptions::default()).await?
        }
        _ => Config::infer().await?,
    })
}
