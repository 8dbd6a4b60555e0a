//! On one thread, in process and on a paused clock, the same seed gives the same history.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use controller_runtime_ambient::{Ambient, CancellationToken};
use controller_runtime_client::OwnedBy;
use controller_runtime_controller::{Action, Context, Controller, Error, Reconciler, Result};
use controller_runtime_manager::Manager;
use controller_runtime_scheme::ObjectExt;
use controller_runtime_testenv::{Backend, Door, Environment};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use serde_json::json;

/// Makes a secret for each config map, fails now and then, and takes its time.
struct Busy {
    attempts: AtomicUsize,
}

impl Reconciler<ConfigMap> for Busy {
    async fn reconcile(&self, cx: &Context, parent: Arc<ConfigMap>) -> Result<Action> {
        if self.attempts.fetch_add(1, Ordering::SeqCst) % 3 == 1 {
            return Err(Error::transient("now and then"));
        }
        tokio::time::sleep(Duration::from_millis(cx.ambient().random() % 50)).await;
        let key = parent.key();
        let metadata = json!({"name": key.name, "namespace": key.namespace});
        let child: Secret = serde_json::from_value(json!({"metadata": metadata}))?;
        cx.apply(&child.owned_by(&*parent)?).await?;
        Ok(Action::done())
    }
}

/// All requests that a busy operator makes, as the server has seen them.
fn history(seed: u64) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let ambient = Ambient::seeded(seed);
        let env = Environment::builder()
            .backend(Backend::Embedded)
            .door(Door::InProcess)
            .ambient(ambient.clone())
            .start()
            .await
            .unwrap();
        let namespace = env.namespace("busy").await.unwrap();
        let manager = Manager::builder(env.kube_client()).ambient(ambient.clone()).build().await.unwrap();
        let reconciler = Busy { attempts: AtomicUsize::new(0) };
        Controller::for_kind::<ConfigMap>().owns::<Secret>().max_concurrent(3).run(reconciler, &manager).unwrap();
        let cancel = CancellationToken::new();
        let token = cancel.clone();
        let running = ambient.spawn("manager", async move { manager.start(token).await });
        for number in 0..8 {
            let metadata = json!({"generateName": "parent-", "namespace": namespace});
            let parent = json!({"metadata": metadata, "data": {"number": number.to_string()}});
            let parent: ConfigMap = serde_json::from_value(parent).unwrap();
            env.client().create(&parent).await.unwrap();
            tokio::time::sleep(Duration::from_millis(7)).await;
        }
        // Long enough for watches to end and begin again.
        tokio::time::sleep(Duration::from_mins(15)).await;
        cancel.cancel();
        running.join().await.unwrap().unwrap();
        let history = env.api_server().unwrap().request_log().iter().map(|record| format!("{record:?}")).collect();
        env.stop().await.unwrap();
        history
    })
}

#[test]
fn the_same_seed_gives_the_same_requests() {
    let (first, second) = (history(1), history(1));
    assert!(first.len() > 30, "{first:#?}");
    for (at, (first, second)) in first.iter().zip(&second).enumerate() {
        assert_eq!(first, second, "request {at}");
    }
    assert_eq!(first.len(), second.len());
    assert_ne!(first, history(2), "the seed is what makes the history");
}
