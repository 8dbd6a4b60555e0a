//! What an environment does, on the backend that `CONTROLLER_RUNTIME_BACKEND` names.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::time::Duration;

use controller_runtime_testenv::{Crds, Environment, Error};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube_client::api::{DeleteParams, DynamicObject, GroupVersionKind, PostParams};
use kube_client::config::KubeConfigOptions;
use kube_client::{Api, Client, Config};
use kube_core::ApiResource;
use serde_json::json;

const WIDGETS: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.environment.testenv.dev
spec:
  group: environment.testenv.dev
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer}}}
";

fn map(name: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}})).unwrap()
}

#[tokio::test]
async fn namespaces_have_names_of_their_own() {
    let env = Environment::start().await.unwrap();
    let (one, two) = (env.namespace("twin").await.unwrap(), env.namespace("twin").await.unwrap());
    assert_ne!(one, two);
    assert!(one.starts_with("twin-"), "{one}");
    env.eventually::<Namespace>(controller_runtime_scheme::ObjectKey::cluster(&one)).exists().await.unwrap();
    env.stop().await.unwrap();
}

#[tokio::test]
async fn a_state_is_awaited() {
    let env = Environment::start().await.unwrap();
    let namespace = env.namespace("state").await.unwrap();
    let api = Api::<ConfigMap>::namespaced(env.kube_client(), &namespace);
    let eventually = env.eventually::<ConfigMap>((&*namespace, "one"));

    let (seen, created) =
        tokio::join!(eventually.exists(), async { api.create(&PostParams::default(), &map("one")).await });
    assert_eq!(seen.unwrap().metadata.uid, created.unwrap().metadata.uid);

    let change = async {
        let mut changed = api.get("one").await?;
        changed.data = Some([("key".to_owned(), "value".to_owned())].into());
        api.replace("one", &PostParams::default(), &changed).await
    };
    let (seen, changed) = tokio::join!(eventually.satisfies("has data", |map| map.data.is_some()), change);
    assert_eq!(seen.unwrap(), changed.unwrap());

    let (gone, deleted) =
        tokio::join!(eventually.is_gone(), async { api.delete("one", &DeleteParams::default()).await });
    gone.unwrap();
    deleted.unwrap();
    env.stop().await.unwrap();
}

#[tokio::test]
async fn a_state_that_does_not_come_is_reported() {
    let env = Environment::start().await.unwrap();
    let namespace = env.namespace("late").await.unwrap();
    let eventually = env.eventually::<ConfigMap>((&*namespace, "one")).within(Duration::from_millis(100));
    let expected = format!("ConfigMap {namespace}/one: \"exists\" isn't true after 100ms; last seen: no such object");
    assert_eq!(eventually.exists().await.unwrap_err().to_string(), expected);

    let api = Api::<ConfigMap>::namespaced(env.kube_client(), &namespace);
    api.create(&PostParams::default(), &map("one")).await.unwrap();
    let error = eventually.satisfies("has data", |map| map.data.is_some()).await.unwrap_err();
    assert!(matches!(&error, Error::Timeout { last, .. } if last.contains("\"name\":\"one\"")), "{error}");
    env.stop().await.unwrap();
}

#[tokio::test]
async fn definitions_are_served_once_installed() {
    let env = Environment::start().await.unwrap();
    env.install(&Crds::from_yaml(WIDGETS).unwrap()).await.unwrap();
    let namespace = env.namespace("widgets").await.unwrap();
    let kind =
        ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("environment.testenv.dev", "v1", "Widget"), "widgets");
    let widget = DynamicObject::new("one", &kind).data(json!({"spec": {"size": 3}}));
    let api = Api::<DynamicObject>::namespaced_with(env.kube_client(), &namespace, &kind);
    let created = api.create(&PostParams::default(), &widget).await.unwrap();
    assert_eq!(created.data, json!({"spec": {"size": 3}}));
    env.stop().await.unwrap();
}

#[tokio::test]
async fn a_refused_definition_is_named() {
    let env = Environment::start().await.unwrap();
    let crds = Crds::from_yaml(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: schemaless.testenv.dev}\n\
         spec:\n  group: testenv.dev\n  scope: Namespaced\n  names: {kind: Schemaless, plural: schemaless}\n  \
         versions: [{name: v1, served: true, storage: true}]\n",
    );
    let error = env.install(&crds.unwrap()).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot install YAML, document 1 (from line 1)");
    let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
    assert!(source.contains("schemaless.testenv.dev") && source.contains("schema"), "{source}");
    env.stop().await.unwrap();
}

#[tokio::test]
async fn the_kubeconfig_works() {
    let env = Environment::start().await.unwrap();
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(env.kubeconfig().await.unwrap(), &options).await.unwrap();
    let client = Client::try_from(config).unwrap();
    let namespace = Api::<Namespace>::all(client).get("default").await.unwrap();
    assert_eq!(namespace, Api::<Namespace>::all(env.kube_client()).get("default").await.unwrap());
    env.stop().await.unwrap();
}
