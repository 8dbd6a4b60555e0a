//! Hooks of the process that are asked about writes. Only the embedded server has them.

use std::sync::Arc;
use std::time::Duration;

use controller_runtime_apiserver::{AdmissionAnswer, AdmissionHook, AdmissionOperation, AdmissionRequest, ApiServer};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tower::ServiceExt;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn send(server: &ApiServer, method: &str, path: &str, body: &Value) -> (u16, Value, Vec<String>) {
    let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let request = Request::builder().method(method).uri(path).header("content-type", kind).body(Full::from(body));
    let response: Response<_> = server.service().oneshot(request.unwrap()).await.unwrap();
    let (code, headers) = (response.status().as_u16(), response.headers().clone());
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let warnings = headers.get_all("warning").iter().map(|value| value.to_str().unwrap().to_owned()).collect();
    (code, serde_json::from_slice(&bytes).unwrap(), warnings)
}

/// Whatever is done with config maps and with what.
type Seen = Arc<Mutex<Vec<String>>>;

fn recorder(seen: &Seen, name: &str, mutating: bool) -> AdmissionHook {
    let (seen, name) = (Arc::clone(seen), name.to_owned());
    let label = name.clone();
    let ask = move |request: AdmissionRequest| {
        if request.resource == "configmaps" {
            let data = |object: &Option<Value>| object.as_ref().map_or("-".to_owned(), |it| it["data"].to_string());
            let (operation, user) = (request.operation, &request.user.name);
            let (old, new) = (data(&request.old_object), data(&request.object));
            let dry = if request.dry_run { " dry" } else { "" };
            let name = format!("{}/{}", request.namespace, request.name);
            seen.lock().push(format!("{label} {operation:?} {name} {user} {old} {new}{dry}"));
        }
        std::future::ready(AdmissionAnswer::allow())
    };
    if mutating { AdmissionHook::mutating(name, ask) } else { AdmissionHook::validating(name, ask) }
}

#[tokio::test]
async fn hooks_see_every_write_in_order() {
    let seen = Seen::default();
    let add = AdmissionHook::mutating("add", |request: AdmissionRequest| async move {
        match request.object {
            Some(mut object) if request.operation == AdmissionOperation::Create && request.resource == "configmaps" => {
                object["data"]["added"] = json!("yes");
                AdmissionAnswer::change(object).warn("something was added")
            }
            _ => AdmissionAnswer::allow(),
        }
    });
    let server = ApiServer::builder()
        .admission(recorder(&seen, "validating", false))
        .admission(recorder(&seen, "first", true))
        .admission(add)
        .admission(recorder(&seen, "second", true))
        .build();
    let object = json!({"metadata": {"name": "a"}, "data": {"k": "v"}});
    let (code, made, warnings) = send(&server, "POST", MAPS, &object).await;
    assert_eq!((code, &made["data"]), (201, &json!({"k": "v", "added": "yes"})));
    assert_eq!(warnings, ["299 - \"something was added\""]);
    let path = format!("{MAPS}/a");
    send(&server, "PATCH", &format!("{path}?dryRun=All"), &json!({"data": {"k": "w"}})).await;
    send(&server, "DELETE", &path, &Value::Null).await;
    server.shutdown().await;
    insta::assert_snapshot!(seen.lock().join("\n"), @r#"
    first Create default/a admin - {"k":"v"}
    second Create default/a admin - {"added":"yes","k":"v"}
    validating Create default/a admin - {"added":"yes","k":"v"}
    first Update default/a admin {"added":"yes","k":"v"} {"added":"yes","k":"w"} dry
    second Update default/a admin {"added":"yes","k":"v"} {"added":"yes","k":"w"} dry
    validating Update default/a admin {"added":"yes","k":"v"} {"added":"yes","k":"w"} dry
    first Delete default/a admin {"added":"yes","k":"v"} -
    second Delete default/a admin {"added":"yes","k":"v"} -
    validating Delete default/a admin {"added":"yes","k":"v"} -
    "#);
}

async fn refused(hook: AdmissionHook) -> (u16, String) {
    let server = ApiServer::builder().admission(hook).build();
    let (code, status, _) = send(&server, "POST", MAPS, &json!({"metadata": {"name": "a"}})).await;
    let (absent, ..) = send(&server, "GET", &format!("{MAPS}/a"), &Value::Null).await;
    assert_eq!(absent, 404);
    server.shutdown().await;
    (code, format!("{} {}", status["reason"].as_str().unwrap_or_default(), status["message"].as_str().unwrap()))
}

#[tokio::test(start_paused = true)]
async fn a_hook_can_refuse_and_must_answer_in_time() {
    let say = |answer: AdmissionAnswer| move |_: AdmissionRequest| std::future::ready(answer.clone());
    let (code, text) = refused(AdmissionHook::mutating("h", say(AdmissionAnswer::deny("no")))).await;
    assert_eq!((code, text.as_str()), (403, "Forbidden admission webhook \"h\" denied the request: no"));
    let teapot = AdmissionAnswer::deny_with_code(418, "short and stout");
    let (code, text) = refused(AdmissionHook::validating("h", say(teapot))).await;
    assert_eq!((code, text.as_str()), (418, " admission webhook \"h\" denied the request: short and stout"));
    let never = AdmissionHook::validating("h", |_| std::future::pending()).deadline(Duration::from_secs(3));
    let begun = tokio::time::Instant::now();
    let (code, text) = refused(never).await;
    let expected =
        "InternalError Internal error occurred: failed calling admission hook \"h\": context deadline exceeded";
    assert_eq!((code, text.as_str(), begun.elapsed().as_secs()), (500, expected, 3));
    let changed = AdmissionHook::validating("h", say(AdmissionAnswer::change(json!({}))));
    let (code, text) = refused(changed).await;
    let expected =
        "InternalError Internal error occurred: admission hook \"h\" validates and must not change the object";
    assert_eq!((code, text.as_str()), (500, expected));
}
