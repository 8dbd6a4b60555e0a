//! An informer that lists and watches through functions of a user's own.

mod scripted;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bytes::Bytes;
use controller_runtime_cache::{CacheOptions, KindOptions, ListPage, ListWatchFns, Payload, WatchItem, WatchItems};
use controller_runtime_client::{ClientError, ListOptions, RequestInfo, Status, Verb, WatchEventType, WatchOptions};
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use scripted::{Scripted, listen, next, object};
use serde_json::Value;

fn json(value: &Value) -> Payload<ConfigMap> {
    Payload::Json(Bytes::from(value.to_string()))
}

fn decoded(value: Value) -> Payload<ConfigMap> {
    Payload::Object(Arc::new(serde_json::from_value(value).expect("it is a ConfigMap")))
}

fn refused(verb: Verb, code: u16, reason: &str) -> ClientError {
    let request = RequestInfo::new(verb, "ConfigMap/v1");
    let status = Status::failure("refused", reason).with_code(code);
    ClientError::Status { request: Box::new(request), status: Box::new(status), retry_after: None }
}

/// The options that list in two pages, as text and as an object, and watch once, then expire.
fn options() -> CacheOptions {
    let watches = AtomicU32::new(0);
    let list = async |options: ListOptions| {
        let (item, continue_token) = match options.continue_token.as_deref() {
            None => (json(&object("a", "1", "x")), Some("next".to_owned())),
            Some("next") => (decoded(object("b", "2", "x")), None),
            Some(_) => return Err(refused(Verb::List, 400, "BadRequest")),
        };
        Ok(ListPage { items: vec![item], resource_version: "5".to_owned(), continue_token })
    };
    let watch = move |options: WatchOptions| {
        let first = !options.send_initial_events && watches.fetch_add(1, Ordering::Relaxed) == 0;
        async move {
            if options.send_initial_events {
                return Err(refused(Verb::Watch, 422, "Invalid"));
            }
            let items = if first {
                vec![
                    Ok(WatchItem { event: WatchEventType::Modified, object: decoded(object("a", "6", "y")) }),
                    Ok(WatchItem { event: WatchEventType::Deleted, object: json(&object("b", "7", "x")) }),
                    Err(refused(Verb::Watch, 410, "Expired")),
                ]
            } else {
                Vec::new()
            };
            let stream: WatchItems<ConfigMap> = futures::stream::iter(items).chain(futures::stream::pending()).boxed();
            Ok(stream)
        }
    };
    let special = KindOptions::builder().list_watch::<ConfigMap>(ListWatchFns::new(list, watch)).build();
    CacheOptions::builder().kind_of::<ConfigMap>(special).build()
}

#[tokio::test(start_paused = true)]
async fn a_users_own_functions_are_followed_like_a_server() {
    let scripted = Scripted::streaming(options()).await;
    let informer = scripted.cache.informer::<ConfigMap>();
    let (mut events, _registration) = listen(&informer);
    informer.wait_for_sync(Duration::from_secs(1)).await.unwrap();
    assert_eq!(next(&mut events).await, ["initial a x", "initial b x"]);
    assert_eq!(next(&mut events).await, ["update a x -> y", "delete b x"]);
    assert_eq!(next(&mut events).await, ["update a y -> x", "add b x"]);
}
