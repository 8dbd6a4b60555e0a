//! Webhooks of services that run in this process. Only the embedded server has them.

use std::convert::Infallible;

use bytes::Bytes;
use controller_runtime_apiserver::{ApiServer, WebhookService};
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tower::{ServiceExt, service_fn};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const CONFIGURATIONS: &str = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

async fn create(server: &ApiServer, path: &str, object: &Value) -> (u16, Value) {
    let request = Request::builder().method(Method::POST).uri(path).header("content-type", "application/json");
    let request = request.body(Full::from(object.to_string())).unwrap();
    let response = server.service().oneshot(request).await.unwrap();
    let code = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (code, serde_json::from_slice(&bytes).unwrap())
}

/// Allows what is called as it says, at the path that the configuration names.
async fn allow_only_good(request: Request<Full<Bytes>>) -> Result<Response<Full<Bytes>>, Infallible> {
    assert_eq!(request.uri().path(), "/maps");
    let bytes = request.into_body().collect().await?.to_bytes();
    let review: Value = serde_json::from_slice(&bytes).unwrap();
    let asked = &review["request"];
    let status = json!({"message": format!("{} isn't good", asked["name"])});
    let response = json!({"uid": asked["uid"], "allowed": asked["name"] == "good", "status": status});
    let answer = json!({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response});
    Ok(Response::new(Full::from(answer.to_string())))
}

fn configuration(service: &str) -> Value {
    json!({"metadata": {"name": service}, "webhooks": [{
        "name": format!("{service}.example.com"), "admissionReviewVersions": ["v1"], "sideEffects": "None",
        "clientConfig": {"service": {"namespace": "hooks", "name": service, "path": "/maps"}},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}],
    }]})
}

fn service(name: &str) -> WebhookService {
    WebhookService { namespace: "hooks".to_owned(), name: name.to_owned() }
}

fn map(name: &str) -> Value {
    json!({"metadata": {"name": name}})
}

#[tokio::test]
async fn a_service_of_this_process_is_asked_without_a_connection() {
    let server = ApiServer::builder().webhook_service_in_process(service("maps"), service_fn(allow_only_good)).build();
    assert_eq!(create(&server, CONFIGURATIONS, &configuration("maps")).await.0, 201);
    let (code, refusal) = create(&server, MAPS, &map("bad")).await;
    let said = "admission webhook \"maps.example.com\" denied the request: \"bad\" isn't good";
    assert_eq!((code, refusal["message"].as_str()), (400, Some(said)));
    assert_eq!(create(&server, MAPS, &map("good")).await.0, 201);
    server.shutdown().await;
}

#[tokio::test]
async fn a_service_that_fails_or_is_nowhere_fails_the_request() {
    let failing = service_fn(|_| async { Err::<Response<Full<Bytes>>, _>("out of order") });
    let server = ApiServer::builder().webhook_service_in_process(service("failing"), failing).build();
    for (name, said) in [("failing", "out of order"), ("absent", "service \"absent\" not found")] {
        assert_eq!(create(&server, CONFIGURATIONS, &configuration(name)).await.0, 201);
        let (code, refusal) = create(&server, MAPS, &map("a")).await;
        let message = refusal["message"].as_str().unwrap_or_default();
        assert!(code == 500 && message.ends_with(said), "{refusal}");
        let path = format!("{CONFIGURATIONS}/{name}");
        let gone = Request::builder().method(Method::DELETE).uri(path).body(Full::<Bytes>::default()).unwrap();
        assert!(server.service().oneshot(gone).await.unwrap().status().is_success());
    }
    server.shutdown().await;
}
