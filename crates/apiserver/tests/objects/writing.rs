use serde_json::{Value, json};

use crate::api::Api;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::test]
async fn a_new_server_has_its_namespaces_and_its_service() {
    let api = Api::new();
    assert_eq!(
        api.get("/api/v1/namespaces").await.names(),
        ["default", "kube-node-lease", "kube-public", "kube-system"]
    );
    let service = api.ok("GET", "/api/v1/namespaces/default/services/kubernetes", Value::Null).await;
    assert_eq!(service.text("/spec/clusterIP"), "10.0.0.1");
    let namespace = api.ok("GET", "/api/v1/namespaces/default", Value::Null).await;
    assert_eq!(namespace.at("/metadata/labels"), json!({"kubernetes.io/metadata.name": "default"}));
    assert_eq!(namespace.at("/status/phase"), "Active");
}

#[tokio::test]
async fn creates_that_cannot_be_served_are_refused_as_the_reference_does() {
    let api = Api::new();
    api.ok("POST", MAPS, json!({"metadata": {"name": "a"}})).await;
    for (method, path, body, expected) in [
        (
            "POST",
            "/api/v1/namespaces/nope/configmaps",
            json!({"metadata": {"name": "x"}}),
            (404, "NotFound", "namespaces \"nope\" not found"),
        ),
        ("POST", MAPS, json!({"metadata": {"name": "a"}}), (409, "AlreadyExists", "configmaps \"a\" already exists")),
        (
            "POST",
            MAPS,
            json!({}),
            (
                422,
                "Invalid",
                "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required",
            ),
        ),
        (
            "POST",
            MAPS,
            json!({"metadata": {"name": "X_"}}),
            (
                422,
                "Invalid",
                "ConfigMap \"X_\" is invalid: metadata.name: Invalid value: \"X_\": a lowercase RFC 1123 subdomain",
            ),
        ),
        (
            "POST",
            MAPS,
            json!({"metadata": {"name": "x", "namespace": "other"}}),
            (400, "BadRequest", "the namespace of the provided object does not match"),
        ),
        (
            "POST",
            MAPS,
            json!({"metadata": {"name": "x", "resourceVersion": "5"}}),
            (500, "", "resourceVersion should not be set on objects to be created"),
        ),
        (
            "POST",
            MAPS,
            json!({"metadata": {"name": "x"}, "data": {"a": 1}}),
            (
                400,
                "BadRequest",
                "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
            ),
        ),
        (
            "POST",
            MAPS,
            json!({"metadata": {"name": "x", "labels": {"a": 1}}}),
            (
                400,
                "BadRequest",
                "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
            ),
        ),
        (
            "POST",
            MAPS,
            json!({"metadata": {"name": "x", "creationTimestamp": "zz"}}),
            (
                400,
                "BadRequest",
                "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: parsing time \"zz\" as \"2006-01-02T15:04:05Z07:00\"",
            ),
        ),
        (
            "POST",
            MAPS,
            json!([]),
            (
                400,
                "BadRequest",
                "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: json: cannot unmarshal array",
            ),
        ),
    ] {
        api.refused(method, path, body, expected).await;
    }
}

#[tokio::test]
async fn updates_and_paths_that_cannot_be_served_are_refused_as_the_reference_does() {
    let api = Api::new();
    api.ok("POST", MAPS, json!({"metadata": {"name": "a"}})).await;
    for (method, path, body, expected) in [
        (
            "PUT",
            "/api/v1/namespaces/default/configmaps/a",
            json!({"metadata": {"name": "b"}}),
            (400, "BadRequest", "the name of the object (b) does not match the name on the URL (a)"),
        ),
        (
            "PUT",
            "/api/v1/namespaces/default/configmaps/a",
            json!({"metadata": {}}),
            (400, "BadRequest", "the name of the object (a based on URL) was undeterminable: name must be provided"),
        ),
        (
            "PUT",
            "/api/v1/namespaces/default/configmaps/a",
            json!({"metadata": {"name": "a", "resourceVersion": "1"}}),
            (409, "Conflict", "Operation cannot be fulfilled on configmaps \"a\": the object has been modified"),
        ),
        (
            "PUT",
            "/api/v1/namespaces/default/configmaps/a",
            json!({"metadata": {"name": "a", "uid": "zz"}}),
            (
                409,
                "Conflict",
                "Operation cannot be fulfilled on configmaps \"a\": StorageError: invalid object, Code: 4, Key: /registry/configmaps/default/a",
            ),
        ),
        (
            "PUT",
            "/api/v1/namespaces/default/configmaps/a",
            json!({"metadata": {"name": "a", "deletionGracePeriodSeconds": 3}}),
            (
                422,
                "Invalid",
                "ConfigMap \"a\" is invalid: metadata.deletionGracePeriodSeconds: Invalid value: 3: field is immutable",
            ),
        ),
        (
            "PUT",
            "/api/v1/namespaces/default/configmaps/nn",
            json!({"metadata": {"name": "nn"}}),
            (404, "NotFound", "configmaps \"nn\" not found"),
        ),
        ("GET", "/api/v1/nope", Value::Null, (404, "NotFound", "the server could not find the requested resource")),
        (
            "GET",
            "/api/v1/namespaces/default/nodes",
            Value::Null,
            (404, "NotFound", "the server could not find the requested resource"),
        ),
        (
            "GET",
            "/api/v1/namespaces/default/configmaps/a/status",
            Value::Null,
            (404, "NotFound", "the server could not find the requested resource"),
        ),
        (
            "PUT",
            MAPS,
            json!({}),
            (405, "MethodNotAllowed", "the server does not allow this method on the requested resource"),
        ),
        (
            "POST",
            "/api/v1/namespaces/default/configmaps/a",
            json!({}),
            (405, "MethodNotAllowed", "the server does not allow"),
        ),
        ("POST", "/api/v1/configmaps", json!({}), (405, "MethodNotAllowed", "the server does not allow")),
        (
            "GET",
            "/api/v1/namespaces/default/configmaps/nn",
            Value::Null,
            (404, "NotFound", "configmaps \"nn\" not found"),
        ),
    ] {
        api.refused(method, path, body, expected).await;
    }
    let answer = api.get("/apis/nope/v1/x").await;
    assert_eq!((answer.code, answer.body), (404, json!("404 page not found\n")));
}

#[tokio::test]
async fn unknown_and_duplicate_fields_are_dropped_warned_of_or_refused() {
    let api = Api::new();
    let body = r#"{"metadata":{"name":"x","foo":1},"spec":{},"data":{"a":"b","a":"c"}}"#;
    let strict = api.send_as("POST", &format!("{MAPS}?fieldValidation=Strict"), "application/json", body).await;
    assert_eq!(
        (strict.code, strict.text("/message").as_str()),
        (
            400,
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: unknown field \"metadata.foo\", unknown field \"spec\", duplicate field \"data.a\""
        )
    );
    let warned = api.send_as("POST", MAPS, "application/json", body).await;
    let warnings: Vec<_> = warned.headers.get_all("warning").iter().map(|value| value.to_str().unwrap()).collect();
    assert_eq!(
        warnings,
        [
            r#"299 - "unknown field \"metadata.foo\"""#,
            r#"299 - "unknown field \"spec\"""#,
            r#"299 - "duplicate field \"data.a\"""#
        ]
    );
    assert_eq!((warned.code, warned.at("/data"), warned.at("/spec")), (201, json!({"a": "c"}), Value::Null));
    let ignored = api.send_as("PUT", &format!("{MAPS}/x?fieldValidation=Ignore"), "application/json", body).await;
    assert_eq!((ignored.code, ignored.headers.get("warning")), (200, None));
    let bad = api.send("POST", &format!("{MAPS}?fieldValidation=Foo"), json!({})).await;
    assert_eq!((bad.code, bad.text("/details/causes/0/field")), (422, "fieldValidation".to_owned()));
}

#[tokio::test]
async fn bodies_may_be_yaml_and_malformed_ones_are_refused() {
    let api = Api::new();
    let created = api.send_as("POST", MAPS, "application/yaml", "metadata:\n  name: yy\ndata: {a: \"1\"}\n").await;
    assert_eq!((created.code, created.at("/data")), (201, json!({"a": "1"})), "{}", created.body);
    for (content_type, body, code) in [
        ("application/json", "{", 400),
        ("application/json", "", 400),
        ("application/yaml", "a: {b", 400),
        ("text/plain", "{}", 415),
        ("application/vnd.kubernetes.protobuf", "k8s", 400),
    ] {
        let answer = api.send_as("POST", MAPS, content_type, body).await;
        assert_eq!(answer.code, code, "{content_type} {body}: {}", answer.body);
    }
}

#[tokio::test]
async fn a_write_that_changes_nothing_leaves_the_revision() {
    let api = Api::new();
    let created = api.ok("POST", MAPS, json!({"metadata": {"name": "a", "labels": {}}, "data": {"x": "1"}})).await;
    let path = format!("{MAPS}/a");
    let again = api.ok("PUT", &path, created.body.clone()).await;
    assert_eq!(again.body, created.body);
    let unconditional = api.ok("PUT", &path, json!({"metadata": {"name": "a"}, "data": {"x": "1"}})).await;
    assert_eq!(unconditional.revision(), created.revision());
    let changed = api.ok("PUT", &path, json!({"metadata": {"name": "a"}, "data": {"x": "2"}})).await;
    assert_ne!(changed.revision(), created.revision());
    assert_eq!(changed.text("/metadata/uid"), created.text("/metadata/uid"));
    assert_eq!(changed.text("/metadata/creationTimestamp"), "2026-01-01T00:00:00Z");
}

#[tokio::test]
async fn names_are_generated() {
    let api = Api::new();
    let one = api.ok("POST", MAPS, json!({"metadata": {"generateName": "gen-"}})).await;
    let two = api.ok("POST", MAPS, json!({"metadata": {"generateName": "gen-"}})).await;
    assert!(one.text("/metadata/name").starts_with("gen-") && one.text("/metadata/name").len() == 9);
    assert_ne!(one.text("/metadata/name"), two.text("/metadata/name"));
}

#[tokio::test]
async fn a_dry_run_stores_nothing() {
    let api = Api::new();
    let dry = api.ok("POST", &format!("{MAPS}?dryRun=All"), json!({"metadata": {"name": "dry"}})).await;
    assert!(!dry.text("/metadata/uid").is_empty() && dry.revision().is_empty());
    assert_eq!(api.get(&format!("{MAPS}/dry")).await.code, 404);
    let real = api.ok("POST", MAPS, json!({"metadata": {"name": "real"}, "data": {"a": "1"}})).await;
    let path = format!("{MAPS}/real");
    let changed =
        api.ok("PUT", &format!("{path}?dryRun=All"), json!({"metadata": {"name": "real"}, "data": {"a": "2"}})).await;
    assert_eq!((changed.at("/data/a"), changed.revision()), (json!("2"), real.revision()));
    api.ok("DELETE", &format!("{path}?dryRun=All"), Value::Null).await;
    api.ok("DELETE", &path, json!({"dryRun": ["All"]})).await;
    assert_eq!(api.get(&path).await.body, real.body);
    api.refused("POST", &format!("{MAPS}?dryRun=foo"), json!({}), (422, "Invalid", "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"foo\"]: supported values: \"All\"")).await;
    api.refused(
        "POST",
        &format!("{MAPS}?dryRun=All"),
        json!({"metadata": {"name": "real"}}),
        (409, "AlreadyExists", ""),
    )
    .await;
}

#[tokio::test]
async fn generation_counts_changes_of_the_spec() {
    let api = Api::new();
    let path = "/apis/apps/v1/namespaces/default/deployments";
    let deployment = |replicas: u32, image: &str| {
        json!({"metadata": {"name": "d"}, "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": image}]}},
        }})
    };
    let created = api.ok("POST", path, deployment(1, "i")).await;
    assert_eq!(created.at("/metadata/generation"), 1);
    let one = format!("{path}/d");
    assert_eq!(api.ok("PUT", &one, deployment(1, "i")).await.revision(), created.revision());
    assert_eq!(api.ok("PUT", &one, deployment(2, "i")).await.at("/metadata/generation"), 2);
    let mut status = api.get(&one).await.body;
    status["status"] = json!({"replicas": 2});
    status["spec"]["replicas"] = json!(7);
    let written = api.ok("PUT", &format!("{one}/status"), status).await;
    assert_eq!(
        (written.at("/metadata/generation"), written.at("/spec/replicas"), written.at("/status/replicas")),
        (json!(2), json!(2), json!(2))
    );
    let scale = api.ok("GET", &format!("{one}/scale"), Value::Null).await;
    assert_eq!((scale.at("/spec/replicas"), scale.text("/status/selector")), (json!(2), "a=b".to_owned()));
    let mut wanted = scale.body;
    wanted["spec"]["replicas"] = json!(5);
    let scaled = api.ok("PUT", &format!("{one}/scale"), wanted).await;
    assert_eq!((scaled.text("/kind"), scaled.at("/spec/replicas")), ("Scale".to_owned(), json!(5)));
    let now = api.get(&one).await;
    assert_eq!(
        (now.at("/metadata/generation"), now.at("/spec/replicas"), now.at("/status/replicas")),
        (json!(3), json!(5), json!(2))
    );
}

#[tokio::test]
async fn values_of_the_wrong_type_are_refused_with_the_field_that_has_them() {
    let api = Api::new();
    for (body, expected) in [
        (json!({"spec": {"replicas": "1"}}), "string into Go struct field DeploymentSpec.spec.replicas of type int32"),
        (
            json!({"spec": {"replicas": 1.5}}),
            "number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            json!({"spec": {"template": {"spec": {"containers": [{"name": 1}]}}}}),
            "number into Go struct field Container.spec.template.spec.containers.name of type string",
        ),
        (
            json!({"spec": {"template": {"spec": {"containers": {"name": 1}}}}}),
            "object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container",
        ),
        (json!({"metadata": "x"}), "string into Go struct field Deployment.metadata of type v1.ObjectMeta"),
        (json!({"spec": []}), "array into Go struct field Deployment.spec of type v1.DeploymentSpec"),
    ] {
        let message = format!(
            "Deployment in version \"v1\" cannot be handled as a Deployment: json: cannot unmarshal {expected}"
        );
        let path = "/apis/apps/v1/namespaces/default/deployments";
        api.refused("POST", path, body, (400, "BadRequest", &message)).await;
    }
}

#[tokio::test]
async fn what_etcd_would_not_take_is_refused() {
    let api = Api::new();
    let text = "x".repeat(2_000_000);
    let body = json!({"metadata": {"name": "big"}, "spec": {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {
            "containers": [{"name": "c", "image": "i", "env": [{"name": "A", "value": text}]}]}},
    }});
    let path = "/apis/apps/v1/namespaces/default/deployments";
    api.refused("POST", path, body, (500, "", "etcdserver: request is too large")).await;
}

#[tokio::test]
async fn a_service_that_is_not_created_takes_no_address() {
    let api = Api::new();
    let path = "/api/v1/namespaces/default/services";
    let service = |name: &str, address: Value, revision: Value| json!({"metadata": {"name": name, "resourceVersion": revision}, "spec": {"clusterIP": address, "ports": [{"port": 80}]}});
    let first = api.ok("POST", path, service("a", Value::Null, Value::Null)).await;
    let free = json!("10.0.0.50");
    assert_eq!(api.send("POST", path, service("a", free.clone(), Value::Null)).await.code, 409);
    assert_eq!(api.send("POST", path, service("b", free.clone(), json!("1"))).await.code, 500);
    let second = api.ok("POST", path, service("c", Value::Null, Value::Null)).await;
    assert_ne!(first.at("/spec/clusterIP"), second.at("/spec/clusterIP"));
    api.ok("POST", path, service("d", free, Value::Null)).await;
}
