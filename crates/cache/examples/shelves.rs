//! Reads from memory, by index, that see what the program wrote a moment ago. Needs nothing but this crate and the
//! client.
//!
//! `cargo run -p controller-runtime-cache --example shelves -- --kubeconfig FILE`; without the flag it takes the cluster
//! that kubectl would.

use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::CancellationToken;
use controller_runtime_cache::{Cache, CacheError, CacheOptions, DelegatingClient, ListQuery, ObjectEvent, Transform};
use controller_runtime_client::{Client, ClientOptions, Expression};
use k8s_openapi::api::core::v1::ConfigMap;
use kube_client::Config;
use kube_client::config::{KubeConfigOptions, Kubeconfig};
use serde_json::json;
use tokio::sync::mpsc;

const APP: &str = "shelves";
const BY_TOPIC: &str = "topic";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = config().await?;
    let namespace = config.default_namespace.clone();
    let client = Client::from_config(config, ClientOptions::builder().field_manager(APP).build())?;

    // Of one namespace, only what is ours, and of that only what we look at.
    let options = CacheOptions::builder()
        .namespaces([&namespace])
        .labels(Expression::Equal("app".to_owned(), APP.to_owned()))
        .transform(Transform::strip_managed_fields())
        .build();
    let cache = Cache::new(client.clone(), options);
    let cancel = CancellationToken::new();
    let running = client.ambient().spawn("cache", cache.run(cancel.clone()));

    // A book is on the shelf of each of its topics.
    let books = cache.informer::<ConfigMap>();
    books.add_index(BY_TOPIC, topics)?;
    let (sender, mut news) = mpsc::unbounded_channel();
    let registration = books.add_handler(move |event| {
        let what = match event {
            ObjectEvent::Added { .. } => "new",
            ObjectEvent::Updated { .. } => "changed",
            ObjectEvent::Deleted { .. } => "gone",
            _ => return,
        };
        // Nobody listens any more when the program ends.
        let _ = sender.send(format!("{what}: {}", event.key().name));
    });
    registration.wait_for_sync(Duration::from_secs(30)).await?;

    for (name, topics) in [("compilers", "languages machines"), ("grammar", "languages"), ("gears", "machines")] {
        client.create(&book(&namespace, name, topics)?).await?;
        println!("{}", news.recv().await.ok_or("the handler is gone")?);
    }
    let client = DelegatingClient::new(client, cache);
    show(&client, ListQuery::by_index(BY_TOPIC, "languages")).await?;
    show(&client, ListQuery::by_index(BY_TOPIC, "languages").indexed(BY_TOPIC, "machines")).await?;

    // The reads after these writes see them.
    client.apply(&book(&namespace, "gears", "machines languages")?).await?;
    client.delete::<ConfigMap>((namespace.as_str(), "grammar")).await?;
    show(&client, ListQuery::by_index(BY_TOPIC, "languages").within(&namespace)).await?;

    for book in client.list::<ConfigMap>(&ListQuery::all()).await? {
        client.delete::<ConfigMap>((namespace.as_str(), book.metadata.name.as_deref().unwrap_or_default())).await?;
    }
    println!("left: {}", client.list::<ConfigMap>(&ListQuery::all()).await?.len());
    cancel.cancel();
    running.await??;
    Ok(())
}

fn topics(book: &ConfigMap) -> Vec<String> {
    let topics = book.data.as_ref().and_then(|data| data.get("topics"));
    topics.into_iter().flat_map(|topics| topics.split(' ')).map(str::to_owned).collect()
}

fn book(namespace: &str, name: &str, topics: &str) -> Result<ConfigMap, serde_json::Error> {
    let metadata = json!({"namespace": namespace, "name": name, "labels": {"app": APP}});
    serde_json::from_value(json!({"metadata": metadata, "data": {"topics": topics}}))
}

async fn show(client: &DelegatingClient, query: ListQuery) -> Result<(), CacheError> {
    let books: Vec<Arc<ConfigMap>> = client.list(&query).await?;
    let topics: Vec<_> = query.indexes.iter().map(|(_, topic)| topic.as_str()).collect();
    let names: Vec<_> = books.iter().filter_map(|book| book.metadata.name.as_deref()).collect();
    println!("{}: {}", topics.join(" and "), names.join(", "));
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
        _ => Err("usage: shelves [--kubeconfig FILE]".into()),
    }
}
