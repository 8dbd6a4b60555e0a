//! Bad input gets a clear error and loses nothing.

use controller_runtime_testenv::{Backend, Crds, Environment};
use http::Method;
use integration_tests::Fixture;
use k8s_openapi::api::core::v1::Namespace;
use kube_client::config::{KubeConfigOptions, Kubeconfig};
use kube_client::{Api, Client, Config};
use serde_json::{Value, json};

/// An error and all its sources.
fn whole(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

async fn client(kubeconfig: Kubeconfig) -> Client {
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}

#[tokio::test]
async fn malformed_yaml_installs_nothing() {
    let fixture = Fixture::start("malformed").await;
    let good = serde_json::to_string(&integration_tests::widget_definition(&fixture.group())).unwrap();
    let error = Crds::from_yaml(&format!("{good}\n---\nspec: {{open\n")).unwrap_err();
    assert!(error.to_string().starts_with("YAML, document 2 (from line 2): malformed YAML: "), "{error}");
    fixture.get(&format!("/apis/{}", fixture.group())).await.expect(404);

    let yaml = Some("application/yaml");
    let path = fixture.core("configmaps");
    let answer = fixture.request(Method::POST, &path, yaml, &"{open".into()).await;
    answer.refused(400, "BadRequest");
    assert_eq!(fixture.get(&path).await.expect(200)["items"], json!([]));
    fixture.stop().await;
}

#[tokio::test]
async fn a_definition_needs_a_schema() {
    let fixture = Fixture::start("schemaless").await;
    let mut definition = integration_tests::widget_definition(&fixture.group());
    definition["spec"]["versions"][0].as_object_mut().unwrap().remove("schema");
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let refused = fixture.post(path, &definition).await.refused(422, "Invalid");
    let cause = &refused["details"]["causes"][0];
    let expected = ("FieldValueRequired".into(), "spec.versions[0].schema.openAPIV3Schema".into());
    assert_eq!((&cause["reason"], &cause["field"]), (&expected.0, &expected.1));

    let error = fixture.env().install(&Crds::new().with(&definition).unwrap()).await.unwrap_err();
    let text = whole(&error);
    assert!(text.contains(&format!("widgets.{}", fixture.group())), "{text}");
    assert!(text.contains("openAPIV3Schema: Required value"), "{text}");
    fixture.get(&format!("{path}/widgets.{}", fixture.group())).await.refused(404, "NotFound");
    fixture.stop().await;
}

#[tokio::test]
async fn an_unknown_kind_is_refused() {
    let fixture = Fixture::start("unknown").await;
    let object = json!({"apiVersion": "v1", "kind": "Gadget", "metadata": {"name": "one"}});
    fixture.post(&fixture.core("gadgets"), &object).await.expect(404);
    fixture.get("/apis/absent.example.com/v1/things").await.expect(404);
    fixture.post(&fixture.core("configmaps"), &object).await.refused(400, "BadRequest");
    assert_eq!(fixture.get(&fixture.core("configmaps")).await.expect(200)["items"], json!([]));
    fixture.stop().await;
}

#[tokio::test]
async fn malformed_bodies_are_refused() {
    let fixture = Fixture::start("bodies").await;
    let path = fixture.core("configmaps");
    let json_type = Some("application/json");
    for body in [json!([]), json!("text"), json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": 1}})] {
        fixture.request(Method::POST, &path, json_type, &body).await.refused(400, "BadRequest");
    }
    fixture.post(&path, &json!({})).await.refused(422, "Invalid");
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "Upper_Case"}});
    fixture.post(&path, &map).await.refused(422, "Invalid");
    let refused = fixture.request(Method::POST, &path, Some("text/plain"), &map).await;
    refused.refused(415, "UnsupportedMediaType");
    assert_eq!(fixture.get(&path).await.expect(200)["items"], json!([]));
    fixture.stop().await;
}

#[tokio::test]
async fn a_wrong_token_is_refused() {
    let fixture = Fixture::start("token").await;
    let mut kubeconfig = fixture.env().kubeconfig().await.unwrap();
    let text = serde_json::to_string(&kubeconfig).unwrap();
    let mut value = serde_json::from_str::<Value>(&text).unwrap();
    value["users"][0]["user"] = json!({"token": "wrong"});
    kubeconfig = serde_json::from_value(value).unwrap();
    let error = Api::<Namespace>::all(client(kubeconfig).await).get("default").await.unwrap_err();
    assert!(matches!(&error, kube_client::Error::Api(status) if status.code == 401), "{error:?}");
    fixture.stop().await;
}

#[tokio::test]
async fn an_unreachable_server_is_an_error() {
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let kubeconfig = serde_json::from_value(json!({
        "clusters": [{"name": "a", "cluster": {"server": format!("https://127.0.0.1:{port}")}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "users": [{"name": "a", "user": {}}],
        "current-context": "a",
    }));
    let error = Api::<Namespace>::all(client(kubeconfig.unwrap()).await).get("default").await.unwrap_err();
    assert!(whole(&error).contains("refused"), "{}", whole(&error));
}

#[tokio::test]
async fn a_missing_backend_variable_is_not_a_wrong_one() {
    // An environment that is asked for by name doesn't look at the variables.
    let env = Environment::builder().backend(Backend::Embedded).start().await.unwrap();
    assert_eq!(env.backend(), Backend::Embedded);
    env.stop().await.unwrap();
}
