//! Many environments live in one process and don't meet.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::collections::BTreeSet;

use controller_runtime_testenv::{Backend, Door, Environment};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube_client::Api;
use kube_client::api::{ListParams, PostParams};

async fn hundred(door: Door) {
    let start = |_| Environment::builder().backend(Backend::Embedded).door(door).start();
    let environments = futures::future::try_join_all((0..100).map(start)).await.unwrap();
    for (index, env) in environments.iter().enumerate() {
        let map = serde_json::json!({"metadata": {"name": format!("map-{index}")}});
        let map = serde_json::from_value::<ConfigMap>(map).unwrap();
        Api::default_namespaced(env.kube_client()).create(&PostParams::default(), &map).await.unwrap();
    }
    let mut uids = BTreeSet::new();
    for (index, env) in environments.iter().enumerate() {
        let maps = Api::<ConfigMap>::default_namespaced(env.kube_client()).list(&ListParams::default()).await.unwrap();
        let names = maps.items.iter().map(|map| map.metadata.name.clone().unwrap()).collect::<Vec<_>>();
        assert_eq!(names, [format!("map-{index}")]);
        let namespace = Api::<Namespace>::all(env.kube_client()).get("default").await.unwrap();
        uids.insert(namespace.metadata.uid.unwrap());
    }
    assert_eq!(uids.len(), 100, "each server has its own objects");
    for env in environments {
        env.stop().await.unwrap();
    }
}

#[tokio::test]
async fn a_hundred_in_process() {
    hundred(Door::InProcess).await;
}

#[tokio::test]
async fn a_hundred_over_https() {
    hundred(Door::Https).await;
}
