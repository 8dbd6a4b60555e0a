//! The server's doors: in process, HTTP/1.1 and HTTP/2, plain and TLS.

use crate::client::{Door, doors, local, request};
use bytes::Bytes;
use controller_runtime_ambient::Ambient;
use controller_runtime_apiserver::{ApiServer, Identity, ListenError, ListenOptions, Tls};
use http_body_util::Full;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::{Duration, timeout};

fn server() -> ApiServer {
    ApiServer::builder().token("admin-token").user("jane-token", Identity::new("jane")).build()
}

#[tokio::test]
async fn every_door_serves_health_and_version() {
    let server = server();
    for door in doors(&server).await {
        for path in ["/healthz", "/livez", "/readyz"] {
            let answer = door.get(path, None).await;
            assert_eq!((answer.code.as_u16(), answer.text()), (200, "ok"), "{door:?} {path}");
            assert_eq!(answer.headers["content-type"], "text/plain; charset=utf-8");
        }
        let version = door.get("/version", None).await.json();
        assert_eq!((&version["major"], &version["minor"]), (&"1".into(), &"37".into()), "{door:?}");
        assert_eq!(door.send(request("POST", "/version", Some("admin-token"), "")).await.code, 405);
    }
    server.shutdown().await;
}

#[tokio::test]
async fn health_can_be_asked_in_detail() {
    let server = server();
    let door = Door::InProcess(server.service());
    let verbose = door.get("/readyz?verbose&exclude=etcd&exclude=nope", None).await;
    insta::assert_snapshot!(verbose.text(), @r#"
    [+]ping ok
    [+]log ok
    [+]etcd excluded: ok
    [+]etcd-readiness ok
    [+]informer-sync ok
    [+]poststarthook/start-apiserver-admission-initializer ok
    [+]poststarthook/generic-apiserver-start-informers ok
    [+]poststarthook/priority-and-fairness-config-consumer ok
    [+]poststarthook/priority-and-fairness-filter ok
    [+]poststarthook/storage-object-count-tracker-hook ok
    [+]poststarthook/start-apiextensions-informers ok
    [+]poststarthook/start-apiextensions-controllers ok
    [+]poststarthook/crd-informer-synced ok
    [+]poststarthook/start-system-namespaces-controller ok
    [+]poststarthook/peer-endpoint-reconciler-controller ok
    [+]poststarthook/start-cluster-authentication-info-controller ok
    [+]poststarthook/start-kube-apiserver-identity-lease-controller ok
    [+]poststarthook/start-kube-apiserver-identity-lease-garbage-collector ok
    [+]poststarthook/storage-readiness ok
    [+]poststarthook/start-legacy-token-tracking-controller ok
    [+]poststarthook/start-service-ip-repair-controllers ok
    [+]poststarthook/rbac/bootstrap-roles ok
    [+]poststarthook/scheduling/bootstrap-system-priority-classes ok
    [+]poststarthook/priority-and-fairness-config-producer ok
    [+]poststarthook/bootstrap-controller ok
    [+]poststarthook/start-kubernetes-service-cidr-controller ok
    [+]poststarthook/start-kube-aggregator-informers ok
    [+]poststarthook/apiservice-status-local-available-controller ok
    [+]poststarthook/apiservice-status-remote-available-controller ok
    [+]poststarthook/apiservice-registration-controller ok
    [+]poststarthook/apiservice-discovery-controller ok
    [+]poststarthook/kube-apiserver-autoregistration ok
    [+]autoregister-completion ok
    [+]poststarthook/apiservice-openapi-controller ok
    [+]poststarthook/apiservice-openapiv3-controller ok
    [+]shutdown ok
    warn: some health checks cannot be excluded: no matches for "nope"
    readyz check passed
    "#);
    for (path, code, text) in [
        ("/livez/ping", 200, "ok"),
        ("/healthz/etcd", 200, "ok"),
        ("/livez/nope", 404, "404 page not found\n"),
        ("/livez/", 404, "404 page not found\n"),
        ("/livezz", 404, "404 page not found\n"),
    ] {
        let answer = door.get(path, None).await;
        assert_eq!((answer.code.as_u16(), answer.text()), (code, text), "{path}");
    }
    let head = door.send(request("HEAD", "/healthz", None, "")).await;
    assert_eq!((head.code.as_u16(), head.text()), (200, ""));
}

#[tokio::test]
async fn credentials_decide_who_may_enter() {
    let server = server();
    for door in doors(&server).await {
        let without = if door.is_network() { 403 } else { 404 };
        assert_eq!(door.get("/nope", None).await.code, without, "{door:?}");
        assert_eq!(door.get("/nope", Some("admin-token")).await.code, 404, "{door:?}");
        assert_eq!(door.get("/nope", Some("jane-token")).await.code, 404, "{door:?}");
        let refused = door.get("/healthz", Some("nobody")).await;
        insta::allow_duplicates! {
            insta::assert_snapshot!(refused.text(), @r#"{"apiVersion":"v1","code":401,"kind":"Status","message":"Unauthorized","metadata":{},"reason":"Unauthorized","status":"Failure"}"#);
        }
    }
    let log = server.request_log();
    let users: Vec<_> = log.iter().take(4).map(|record| (record.user.as_str(), record.code)).collect();
    assert_eq!(users, [("admin", Some(404)), ("admin", Some(404)), ("jane", Some(404)), ("", Some(401))]);
    server.shutdown().await;
}

#[tokio::test]
async fn clients_may_ask_about_themselves() {
    let server = server();
    let door = Door::InProcess(server.service());
    let who = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let answer = door.send(request("POST", who, Some("jane-token"), "{}")).await;
    assert_eq!(answer.code, 201);
    let user = &answer.json()["status"]["userInfo"];
    assert_eq!(user.to_string(), r#"{"groups":["system:authenticated"],"username":"jane"}"#);
    let may = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let spec = r#"{"spec":{"resourceAttributes":{"verb":"create","resource":"pods"}}}"#;
    for (body, code) in [(spec, 201), ("{}", 422), ("{", 400)] {
        let answer = door.send(request("POST", may, None, body)).await;
        assert_eq!(answer.code, code, "{}", answer.text());
    }
    let rules = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
    assert_eq!(door.send(request("POST", rules, None, r#"{"spec":{"namespace":"x"}}"#)).await.code, 201);
    assert_eq!(door.send(request("POST", rules, None, "{}")).await.code, 400);
    assert_eq!(door.get(who, None).await.code, 405);
    let network = Door::Http1(server.listen(local(Tls::Off)).await.unwrap());
    assert_eq!(network.send(request("POST", who, None, "{}")).await.code, 403);
    server.shutdown().await;
}

/// kubectl sends reviews as protocol buffers.
#[tokio::test]
async fn reviews_are_read_from_protobuf() {
    let server = server();
    let door = Door::InProcess(server.service());
    let mut may = request("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", None, "");
    may.headers_mut().insert("content-type", "application/vnd.kubernetes.protobuf".parse().unwrap());
    // {2: {2: {1: {2: "get", 5: "pods"}}}} in Kubernetes' envelope.
    *may.body_mut() = Full::new(Bytes::from_static(b"k8s\0\x12\x0f\x12\x0d\x0a\x0b\x12\x03get\x2a\x04pods"));
    let answer = door.send(may).await;
    assert_eq!(answer.json()["spec"], serde_json::json!({"resourceAttributes": {"verb": "get", "resource": "pods"}}));
    assert_eq!(answer.json()["status"]["allowed"], true);
}

#[tokio::test]
async fn two_seeded_servers_log_the_same() {
    async fn run() -> (String, Vec<controller_runtime_apiserver::RequestRecord>) {
        let server = ApiServer::builder().ambient(Ambient::seeded(5)).build();
        let door = Door::InProcess(server.service());
        for (method, path, body) in [("GET", "/version?a=b", ""), ("POST", "/nope", "{\"a\":1}")] {
            door.send(request(method, path, None, body)).await;
        }
        (server.token().to_owned(), server.request_log())
    }
    let (a, b) = (run().await, run().await);
    assert_eq!(a, b);
    insta::assert_debug_snapshot!(a.1, @r#"
    [
        RequestRecord {
            method: "GET",
            path: "/version",
            query: "a=b",
            user: "admin",
            user_agent: "",
            content_type: "",
            body: b"",
            code: Some(
                200,
            ),
        },
        RequestRecord {
            method: "POST",
            path: "/nope",
            query: "",
            user: "admin",
            user_agent: "",
            content_type: "application/json",
            body: b"{\"a\":1}",
            code: Some(
                404,
            ),
        },
    ]
    "#);
}

#[tokio::test]
async fn tokens_are_random_unless_given() {
    let random = ApiServer::builder().build();
    assert_ne!(random.token(), ApiServer::builder().build().token());
    assert_eq!(random.token().len(), 32);
    assert_eq!(server().token(), "admin-token");
}

#[tokio::test]
async fn a_kubeconfig_leads_to_its_listener() {
    let server = server();
    let tls = server.listen(local(Tls::SelfSigned)).await.unwrap();
    let text = server.kubeconfig(&tls);
    assert!(text.contains(&format!("server: \"https://127.0.0.1:{}\"", tls.local_addr().port())), "{text}");
    assert!(text.contains("certificate-authority-data: ") && text.contains("token: \"admin-token\""), "{text}");
    let plain = server.listen(local(Tls::Off)).await.unwrap();
    let text = server.kubeconfig(&plain);
    assert!(text.contains(&plain.url()) && plain.url().starts_with("http://"), "{text}");
    assert_eq!(plain.certificate_authority(), None);
    server.shutdown().await;
}

#[tokio::test]
async fn listeners_of_one_server_share_an_authority() {
    let server = server();
    let a = server.listen(local(Tls::SelfSigned)).await.unwrap();
    let v6 = ListenOptions { addr: "[::1]:0".parse().unwrap(), tls: Tls::SelfSigned };
    let b = server.listen(v6).await.unwrap();
    assert_eq!(a.certificate_authority(), b.certificate_authority());
    assert_eq!(Door::Https2(b).get("/healthz", None).await.text(), "ok");
    server.shutdown().await;
}

#[tokio::test]
async fn a_port_in_use_is_named() {
    let (first, second) = (server(), server());
    let taken = first.listen(local(Tls::Off)).await.unwrap().local_addr();
    let error = second.listen(ListenOptions { addr: taken, tls: Tls::Off }).await.unwrap_err();
    assert!(matches!(&error, ListenError::Bind { addr, .. } if *addr == taken), "{error:?}");
    assert_eq!(error.to_string(), format!("cannot listen on {taken}"));
    first.shutdown().await;
    second.listen(ListenOptions { addr: taken, tls: Tls::Off }).await.expect("the port is free after a shutdown");
    second.shutdown().await;
}

#[tokio::test]
async fn after_shutdown_nobody_enters() {
    let server = server();
    let listener = server.listen(local(Tls::Off)).await.unwrap();
    let mut idle = TcpStream::connect(listener.local_addr()).await.unwrap();
    assert_eq!(Door::InProcess(server.service()).get("/healthz", None).await.code, 200);
    timeout(Duration::from_secs(10), server.shutdown()).await.expect("an idle connection does not hold it up");
    assert_eq!(idle.read(&mut [0; 8]).await.unwrap_or(0), 0, "the idle connection is closed");
    TcpStream::connect(listener.local_addr()).await.expect_err("the listener is closed");
    assert_eq!(Door::InProcess(server.service()).get("/healthz", None).await.code, 503);
    let error = server.listen(local(Tls::Off)).await.unwrap_err();
    assert!(matches!(error, ListenError::Stopped { .. }), "{error:?}");
    server.shutdown().await;
}

#[tokio::test]
async fn dropping_a_server_closes_its_listeners() {
    let server = server();
    let listener = server.listen(local(Tls::Off)).await.unwrap();
    let mut idle = TcpStream::connect(listener.local_addr()).await.unwrap();
    assert_eq!(Door::Http1(listener).get("/healthz", None).await.text(), "ok");
    drop(server);
    assert_eq!(idle.read(&mut [0; 8]).await.unwrap_or(0), 0);
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused() {
    let server = server();
    for door in doors(&server).await {
        let fits = Full::new(Bytes::from(vec![b' '; 3 << 20]));
        let mut request = request("POST", "/nope", Some("admin-token"), "");
        *request.body_mut() = fits;
        assert_eq!(door.send(request.clone()).await.code, 404, "{door:?}");
        if door.is_network() {
            // Over the network the client may still be sending when it is refused: see bad_input.
            continue;
        }
        *request.body_mut() = Full::new(Bytes::from(vec![b' '; (3 << 20) + 1]));
        let answer = door.send(request).await;
        assert_eq!(answer.code, 413);
        assert_eq!(answer.json()["message"], "Request entity too large: limit is 3145728");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn requests_and_objects_are_counted() {
    let server = server();
    let door = Door::InProcess(server.service());
    let token = Some("admin-token");
    door.get("/api/v1/namespaces/default/configmaps", token).await;
    door.get("/api/v1/namespaces/default/madeup", token).await;
    let config_map = r#"{"metadata":{"name":"a"}}"#;
    door.send(request("POST", "/api/v1/namespaces/default/configmaps?dryRun=All", token, config_map)).await;
    door.send(request("POST", "/api/v1/namespaces/default/configmaps", token, config_map)).await;
    let text = door.get("/metrics", token).await.text().to_owned();
    let shown = |prefix: &str| text.lines().filter(|line| line.starts_with(prefix)).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(shown("apiserver_request_total{"), @r#"
    apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="configmaps",scope="namespace",subresource="",verb="LIST",version="v1"} 1
    apiserver_request_total{code="201",component="apiserver",dry_run="",group="",resource="configmaps",scope="resource",subresource="",verb="POST",version="v1"} 1
    apiserver_request_total{code="201",component="apiserver",dry_run="All",group="",resource="configmaps",scope="resource",subresource="",verb="POST",version="v1"} 1
    "#);
    insta::assert_snapshot!(shown(r#"apiserver_resource_objects{group="",resource="configmaps""#), @r#"apiserver_resource_objects{group="",resource="configmaps"} 2.0"#);
    insta::assert_snapshot!(shown("apiserver_current_inflight_requests"), @r#"
    apiserver_current_inflight_requests{request_kind="mutating"} 0
    apiserver_current_inflight_requests{request_kind="readOnly"} 1
    "#);
    assert!(!text.contains("madeup"), "a word of a client's own became a label");
    server.shutdown().await;
}
