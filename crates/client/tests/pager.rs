//! Lists that are read page by page, while the server forgets their tokens.

mod scripted;

use controller_runtime_client::{Client, ClientError, ListOptions, Pager};
use controller_runtime_scheme::Kind;
use k8s_openapi::api::core::v1::ConfigMap;
use scripted::{Log, config_map, scripted};
use serde_json::{Value, json};

fn page(names: &[&str], token: &str) -> (u16, Value) {
    let items: Vec<_> = names.iter().map(|name| config_map(name, "1", "1")).collect();
    (200, json!({"metadata": {"resourceVersion": "9", "continue": token}, "items": items}))
}

fn expired(token: &str) -> (u16, Value) {
    let metadata = json!({"continue": token});
    (410, json!({"kind": "Status", "metadata": metadata, "message": "too old", "reason": "Expired", "code": 410}))
}

fn pager(client: &Client) -> Pager<ConfigMap> {
    client.api(Kind::<ConfigMap>::typed()).pager(&ListOptions::in_namespace("ns").limit(2))
}

/// The names on each page, and how the list ended.
async fn read(mut pager: Pager<ConfigMap>) -> (Vec<Vec<String>>, Option<ClientError>) {
    let mut seen = Vec::new();
    loop {
        match pager.next().await {
            Ok(Some(page)) => seen.push(page.into_iter().filter_map(|object| object.metadata.name).collect()),
            Ok(None) => return (seen, None),
            Err(error) => return (seen, Some(error)),
        }
    }
}

async fn check(answers: Vec<(u16, Value)>, expected: &[&[&str]]) -> Log {
    let (client, log) = scripted(answers);
    let (pages, error) = read(pager(&client)).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(pages, expected);
    log
}

#[tokio::test]
async fn a_list_comes_in_pages() {
    let log = check(vec![page(&["a", "b"], "t1"), page(&["c"], "")], &[&["a", "b"], &["c"]]).await;
    insta::assert_snapshot!(log.lock().join("\n"), @r"
    GET /api/v1/namespaces/ns/configmaps?limit=2
    GET /api/v1/namespaces/ns/configmaps?limit=2&continue=t1
    ");
    check(vec![page(&[], "")], &[&[]]).await;
}

#[tokio::test]
async fn an_expired_token_is_replaced_by_the_servers() {
    let answers = vec![page(&["a", "b"], "t1"), expired("t2"), page(&["c"], "")];
    let log = check(answers, &[&["a", "b"], &["c"]]).await;
    assert_eq!(log.lock()[2], "GET /api/v1/namespaces/ns/configmaps?limit=2&continue=t2");
}

#[tokio::test]
async fn without_a_token_the_list_begins_again_and_nothing_comes_twice() {
    let answers = vec![
        page(&["a", "b"], "t1"),
        page(&["c", "d"], "t2"),
        expired(""),
        page(&["a", "b"], "t3"),
        page(&["c", "e"], "t4"),
        page(&["f"], ""),
    ];
    check(answers, &[&["a", "b"], &["c", "d"], &["e"], &["f"]]).await;
}

#[tokio::test]
async fn a_server_that_forgets_at_once_ends_the_list() {
    let again = || [page(&["a", "b"], "t"), expired("")];
    let (client, log) = scripted((0..9).flat_map(|_| again()).collect());
    let (pages, error) = read(pager(&client)).await;
    assert_eq!(pages, [["a", "b"]]);
    assert!(error.unwrap().is_expired());
    assert_eq!(log.lock().len(), 8, "the first time and three more");
}

#[tokio::test]
async fn an_error_leaves_the_pager_where_it_was() {
    let forbidden = json!({"kind": "Status", "reason": "Forbidden", "code": 403});
    let (client, _) = scripted(vec![page(&["a"], "t1"), (403, forbidden), page(&["b"], "")]);
    let mut pager = pager(&client);
    assert_eq!(pager.next().await.unwrap().unwrap().items.len(), 1);
    pager.next().await.unwrap_err();
    assert_eq!(pager.next().await.unwrap().unwrap().items[0].metadata.name.as_deref(), Some("b"));
    assert!(pager.next().await.unwrap().is_none());
}
