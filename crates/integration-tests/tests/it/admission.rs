//! Admission webhooks: who is asked about what, and what the answers mean.

use http::Method;
use integration_tests::{Answer, Fixture, Webhook};
use serde_json::{Value, json};

const API: &str = "/apis/admissionregistration.k8s.io/v1";
const JSON: Option<&str> = Some("application/json");

/// A webhook that is asked about the config maps of the test's namespace.
struct Admission {
    fixture: Fixture,
    hook: Webhook,
    configurations: Vec<String>,
}

impl Admission {
    async fn start(name: &str) -> Self {
        Self { fixture: Fixture::start(name).await, hook: Webhook::start().await, configurations: Vec::new() }
    }

    /// Registers the webhook with these changes of the usual settings, and waits until it is asked.
    async fn register(&mut self, plural: &str, changes: Value) {
        let namespace = self.fixture.namespace().to_owned();
        let mut webhook = json!({
            "name": "w.it.dev", "sideEffects": "None", "admissionReviewVersions": ["v1"], "timeoutSeconds": 5,
            "clientConfig": self.hook.client_config(),
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
            "rules": [{
                "operations": ["*"], "apiGroups": [""], "apiVersions": ["*"], "resources": ["configmaps"],
            }],
        });
        for (key, value) in changes.as_object().into_iter().flatten() {
            webhook[key] = value.clone();
        }
        let name = format!("{namespace}-{}", self.configurations.len());
        let object = json!({"metadata": {"name": name}, "webhooks": [webhook]});
        let answer = self.fixture.post(&format!("{API}/{plural}"), &object).await;
        assert_eq!(answer.code, 201, "{answer:?}");
        self.configurations.push(format!("{API}/{plural}/{name}"));
        // A real server asks a webhook a moment after it was registered.
        self.hook.seen().await;
        let deadline = tokio::time::Instant::now() + std::time::Duration::from_mins(1);
        while self.hook.seen().await.is_empty() {
            assert!(tokio::time::Instant::now() < deadline, "the webhook isn't asked after a minute");
            let probe = json!({"metadata": {"name": "probe", "labels": {"chosen": "yes"}}});
            self.fixture.post(&format!("{}?dryRun=All", self.maps()), &probe).await;
        }
    }

    fn maps(&self) -> String {
        self.fixture.core("configmaps")
    }

    async fn create(&self, name: &str) -> Answer {
        self.fixture.post(&self.maps(), &json!({"metadata": {"name": name}, "data": {"a": "1"}})).await
    }

    async fn stop(self) {
        for path in &self.configurations {
            self.fixture.delete(path, &Value::Null).await;
        }
        self.hook.stop().await;
        self.fixture.stop().await;
    }
}

fn message(answer: &Answer) -> &str {
    answer.body["message"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn answers_allow_refuse_change_or_fail() {
    let mut admission = Admission::start("admission-answers").await;
    admission.register("mutatingwebhookconfigurations", json!({})).await;
    let failed = "Internal error occurred: failed calling webhook \"w.it.dev\": ";
    let denied = "admission webhook \"w.it.dev\" denied the request";
    let respond = |response: Value| move |review: &Value| (200, Webhook::response(review, response.clone()));
    for (name, response, code, text) in [
        ("allow", json!({"allowed": true}), 201, ""),
        ("deny", json!({"allowed": false}), 400, format!("{denied} without explanation").as_str()),
        ("teapot", json!({"allowed": false, "status": {"code": 418, "message": "no"}}), 418, &format!("{denied}: no")),
        (
            "success",
            json!({"allowed": false, "status": {"code": 200, "reason": "Why"}}),
            400,
            &format!("{denied}: Why"),
        ),
        (
            "no-type",
            json!({"allowed": true, "patch": "W10="}),
            500,
            &format!(
                "{failed}received invalid webhook response: webhook returned response.patch but not response.patchType"
            ),
        ),
        (
            "no-patch",
            json!({"allowed": true, "patchType": "JSONPatch"}),
            500,
            &format!(
                "{failed}received invalid webhook response: webhook returned response.patchType but not response.patch"
            ),
        ),
    ] {
        admission.hook.answers(respond(response)).await;
        let answer = admission.create(name).await;
        assert_eq!((answer.code, message(&answer)), (code, text), "{name}: {answer:?}");
    }
    admission.hook.answers(|review| (200, json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": {"uid": "x", "allowed": review.is_object()}}))).await;
    let answer = admission.create("wrong-uid").await;
    let asked = admission.hook.seen().await.pop().unwrap()["request"]["uid"].as_str().unwrap().to_owned();
    let expected = format!("{failed}received invalid webhook response: expected response.uid=\"{asked}\", got \"x\"");
    assert_eq!((answer.code, message(&answer)), (500, expected.as_str()));
    admission.hook.answers(|_| (500, json!("boom"))).await;
    assert_eq!(admission.create("broken").await.code, 500);

    let add = json!([{"op": "add", "path": "/data/x", "value": "1"}]);
    admission.hook.answers(move |review| (200, Webhook::patch(review, &add))).await;
    let answer = admission.create("changed").await;
    assert_eq!((answer.code, &answer.body["data"]), (201, &json!({"a": "1", "x": "1"})));
    let misses = json!([{"op": "add", "path": "/metadata/annotations/k", "value": "1"}]);
    admission.hook.answers(move |review| (200, Webhook::patch(review, &misses))).await;
    let answer = admission.create("misses").await;
    assert_eq!(answer.code, 500, "{answer:?}");
    assert!(message(&answer).contains("missing path"), "{answer:?}");
    admission.stop().await;
}

#[tokio::test]
async fn reviews_tell_what_is_done() {
    let mut admission = Admission::start("admission-reviews").await;
    admission.register("validatingwebhookconfigurations", json!({})).await;
    let path = format!("{}/one", admission.maps());
    admission.create("one").await;
    let merge = Some("application/merge-patch+json");
    admission.fixture.request(Method::PATCH, &path, merge, &json!({"data": {"a": "2"}})).await;
    admission.fixture.delete(&format!("{path}?dryRun=All"), &Value::Null).await;
    admission.fixture.delete(&path, &Value::Null).await;
    let seen = admission.hook.seen().await;
    let told: Vec<_> = seen
        .iter()
        .map(|review| {
            let request = &review["request"];
            json!([
                request["operation"],
                request["name"],
                request["dryRun"],
                request["options"]["kind"],
                request["object"]["data"]["a"],
                request["oldObject"]["data"]["a"],
            ])
        })
        .collect();
    let expected = json!([
        ["CREATE", "one", false, "CreateOptions", "1", null],
        ["UPDATE", "one", false, "UpdateOptions", "2", "1"],
        ["DELETE", "one", true, "DeleteOptions", null, "2"],
        ["DELETE", "one", false, "DeleteOptions", null, "2"],
    ]);
    assert_eq!(Value::from(told), expected);
    let request = &seen[0]["request"];
    assert_eq!(request["kind"], json!({"group": "", "version": "v1", "kind": "ConfigMap"}));
    assert_eq!(request["resource"], json!({"group": "", "version": "v1", "resource": "configmaps"}));
    assert_eq!(request["namespace"], admission.fixture.namespace());
    assert_eq!(request["userInfo"]["username"], "admin");
    assert!(request["object"]["metadata"]["uid"].is_string(), "{request}");
    admission.stop().await;
}

#[tokio::test]
async fn a_failure_that_is_ignored_lets_pass_and_a_denial_never() {
    let mut admission = Admission::start("admission-ignore").await;
    let settings = json!({"failurePolicy": "Ignore", "objectSelector": {"matchLabels": {"chosen": "yes"}}});
    admission.register("validatingwebhookconfigurations", settings).await;
    let chosen = |name: &str| json!({"metadata": {"name": name, "labels": {"chosen": "yes"}}});
    admission.hook.answers(|_| (500, json!("boom"))).await;
    assert_eq!(admission.fixture.post(&admission.maps(), &chosen("broken")).await.code, 201);
    admission.hook.answers(|review| (200, Webhook::response(review, json!({"allowed": false})))).await;
    assert_eq!(admission.fixture.post(&admission.maps(), &chosen("denied")).await.code, 400);
    assert_eq!(admission.create("not-chosen").await.code, 201);
    admission.stop().await;
}

#[tokio::test]
async fn only_what_the_rules_name_is_asked() {
    let mut admission = Admission::start("admission-rules").await;
    let rules =
        json!([{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}]);
    admission.register("validatingwebhookconfigurations", json!({"rules": rules})).await;
    admission.create("one").await;
    let path = format!("{}/one", admission.maps());
    admission.fixture.delete(&path, &Value::Null).await;
    let secret = json!({"metadata": {"name": "one"}});
    admission.fixture.post(&admission.fixture.core("secrets"), &secret).await;
    let asked = admission.hook.seen().await;
    assert_eq!(asked.iter().map(|review| &review["request"]["operation"]).collect::<Vec<_>>(), ["CREATE"]);

    let wrong = json!({"metadata": {"name": "wrong"}, "webhooks": [{"name": "short"}]});
    let path = format!("{API}/validatingwebhookconfigurations");
    let answer = admission.fixture.request(Method::POST, &path, JSON, &wrong).await;
    assert_eq!(
        message(&answer),
        "ValidatingWebhookConfiguration.admissionregistration.k8s.io \"wrong\" is invalid: [webhooks[0].name: Invalid \
         value: \"short\": should be a domain with at least three segments separated by dots, webhooks[0].sideEffects: \
         Required value: must specify one of None, NoneOnDryRun, webhooks[0].clientConfig: Required value: exactly one \
         of url or service is required, webhooks[0].admissionReviewVersions: Required value: must specify one of v1, \
         v1beta1]"
    );
    admission.stop().await;
}

#[tokio::test]
async fn a_webhook_is_asked_again_about_what_others_changed() {
    let mut admission = Admission::start("admission-again").await;
    let count = json!([{"op": "add", "path": "/data/first", "value": "1"}]);
    admission
        .register("mutatingwebhookconfigurations", json!({"name": "first.it.dev", "reinvocationPolicy": "IfNeeded"}))
        .await;
    let second = Webhook::start().await;
    let add = json!([{"op": "add", "path": "/data/second", "value": "1"}]);
    second.answers(move |review| (200, Webhook::patch(review, &add))).await;
    let changes = json!({"name": "second.it.dev", "clientConfig": second.client_config()});
    // The first one is asked already, so what is awaited here is its own probe.
    admission.register("mutatingwebhookconfigurations", changes).await;
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_mins(1);
    while second.seen().await.is_empty() {
        assert!(tokio::time::Instant::now() < deadline, "the second webhook isn't asked after a minute");
        let probe = json!({"metadata": {"name": "probe"}, "data": {"a": "1"}});
        admission.fixture.post(&format!("{}?dryRun=All", admission.maps()), &probe).await;
    }
    admission
        .hook
        .answers(move |review| {
            let seen = review["request"]["object"]["data"]["second"].is_string();
            (200, if seen { Webhook::patch(review, &count) } else { Webhook::allow(review) })
        })
        .await;
    let answer = admission.create("one").await;
    assert_eq!((answer.code, &answer.body["data"]), (201, &json!({"a": "1", "first": "1", "second": "1"})));
    second.stop().await;
    admission.stop().await;
}
