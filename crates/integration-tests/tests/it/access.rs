//! Who may do what: roles, bindings, impersonation, reviews and tokens of service accounts.

use http::Method;
use integration_tests::{Answer, Fixture};
use serde_json::{Value, json};

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const JSON: Option<&str> = Some("application/json");

/// Tests share the cluster's roles on a real server, so every name is the test's own.
struct Access {
    fixture: Fixture,
    made: Vec<String>,
}

impl Access {
    async fn start(name: &str) -> Self {
        Self { fixture: Fixture::start_with_rbac(name).await, made: Vec::new() }
    }

    /// A name of this test's own.
    fn name(&self, name: &str) -> String {
        format!("{}-{name}", self.fixture.namespace())
    }

    /// Creates a role or a binding of the whole cluster.
    async fn cluster(&mut self, plural: &str, object: &Value) {
        let answer = self.fixture.post(&format!("{RBAC}/{plural}"), object).await;
        assert_eq!(answer.code, 201, "{answer:?}");
        self.made.push(format!("{RBAC}/{plural}/{}", object["metadata"]["name"].as_str().unwrap()));
    }

    /// Creates a role with these rules and gives it to the user.
    async fn grant(&mut self, role: &str, user: &str, rules: Value) {
        let role = self.name(role);
        self.cluster("clusterroles", &json!({"metadata": {"name": role}, "rules": rules})).await;
        let binding = json!({
            "metadata": {"name": role}, "subjects": [{"kind": "User", "name": user}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        });
        self.cluster("clusterrolebindings", &binding).await;
    }

    async fn as_user(&self, user: &str, method: Method, path: &str, body: &Value) -> Answer {
        let headers = [("impersonate-user", user)];
        let content_type = JSON.filter(|_| !body.is_null());
        self.fixture.request_with(&headers, method, path, content_type, body).await
    }

    /// Asks as the user until it may: a real server learns of roles a moment after they are written.
    async fn allowed(&self, user: &str, path: &str) {
        let deadline = tokio::time::Instant::now() + std::time::Duration::from_mins(1);
        while self.as_user(user, Method::GET, path, &Value::Null).await.code != 200 {
            assert!(tokio::time::Instant::now() < deadline, "{user} may not get {path} after a minute");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }

    async fn stop(self) {
        for path in &self.made {
            self.fixture.delete(path, &Value::Null).await;
        }
        self.fixture.stop().await;
    }
}

fn check(answer: &Answer, code: u16, message: &str) {
    assert_eq!((answer.code, answer.body["message"].as_str().unwrap_or_default()), (code, message), "{answer:?}");
}

#[tokio::test]
async fn roles_allow_what_they_name() {
    let mut access = Access::start("roles").await;
    let user = access.name("jane");
    let maps = access.fixture.core("configmaps");
    let namespace = access.fixture.namespace().to_owned();
    let refused = format!(
        "configmaps is forbidden: User \"{user}\" cannot list resource \"configmaps\" in API group \"\" in the \
         namespace \"{namespace}\""
    );
    check(&access.as_user(&user, Method::GET, &maps, &Value::Null).await, 403, &refused);

    let rules = json!([{"verbs": ["list", "get"], "apiGroups": [""], "resources": ["configmaps"]}]);
    access.grant("reader", &user, rules).await;
    access.allowed(&user, &maps).await;
    let made = access.as_user(&user, Method::POST, &maps, &json!({"metadata": {"name": "a"}})).await;
    assert_eq!(made.code, 403, "{made:?}");
    let path = access.as_user(&user, Method::GET, "/metrics", &Value::Null).await;
    check(&path, 403, &format!("forbidden: User \"{user}\" cannot get path \"/metrics\""));

    // A role that isn't there is named in the refusal, as it may be the reason.
    let (binding, missing) = (access.name("dangling"), access.name("missing"));
    let object = json!({
        "metadata": {"name": binding}, "subjects": [{"kind": "User", "name": user}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": missing},
    });
    access.cluster("clusterrolebindings", &object).await;
    let why = format!("rbac: RBAC: clusterrole.rbac.authorization.k8s.io \"{missing}\" not found");
    let secrets = access.fixture.core("secrets");
    let refused = format!(
        "secrets is forbidden: User \"{user}\" cannot list resource \"secrets\" in API group \"\" in the namespace \
         \"{namespace}\": {why}"
    );
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_mins(1);
    loop {
        let answer = access.as_user(&user, Method::GET, &secrets, &Value::Null).await;
        if answer.body["message"] == refused || tokio::time::Instant::now() > deadline {
            check(&answer, 403, &refused);
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    access.stop().await;
}

#[tokio::test]
async fn nobody_hands_out_more_than_they_hold() {
    let mut access = Access::start("escalation").await;
    let user = access.name("jane");
    let held_rules = json!([
        {"verbs": ["create"], "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles", "rolebindings"]},
        {"verbs": ["list"], "apiGroups": [""], "resources": ["configmaps"]},
    ]);
    access.grant("maker", &user, held_rules).await;
    access.allowed(&user, &access.fixture.core("configmaps")).await;
    let namespace = access.fixture.namespace().to_owned();
    let roles = format!("{RBAC}/namespaces/{namespace}/roles");
    let held = json!({"metadata": {"name": "held"}, "rules": [
        {"verbs": ["list"], "apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["x"]},
    ]});
    let answer = access.as_user(&user, Method::POST, &roles, &held).await;
    assert_eq!(answer.code, 201, "{answer:?}");
    let more = json!({"metadata": {"name": "more"}, "rules": [
        {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["secrets", "configmaps"]},
    ]});
    let refused = |resource: &str, name: &str, rules: &str| {
        format!(
            "{resource}.rbac.authorization.k8s.io \"{name}\" is forbidden: user \"{user}\" \
             (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n{rules}"
        )
    };
    let expected = refused(
        "roles",
        "more",
        "{APIGroups:[\"\"], Resources:[\"configmaps\"], Verbs:[\"get\"]}\n\
         {APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\" \"list\"]}",
    );
    check(&access.as_user(&user, Method::POST, &roles, &more).await, 403, &expected);
    let bindings = format!("{RBAC}/namespaces/{namespace}/rolebindings");
    let binding = json!({
        "metadata": {"name": "all"}, "subjects": [{"kind": "User", "name": user}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
    });
    let expected = refused(
        "rolebindings",
        "all",
        "{APIGroups:[\"*\"], Resources:[\"*\"], Verbs:[\"*\"]}\n{NonResourceURLs:[\"*\"], Verbs:[\"*\"]}",
    );
    check(&access.as_user(&user, Method::POST, &bindings, &binding).await, 403, &expected);
    access.stop().await;
}

#[tokio::test]
async fn reviews_say_who_may_what() {
    let mut access = Access::start("reviews").await;
    let user = access.name("jane");
    let rules = json!([{"verbs": ["list"], "apiGroups": [""], "resources": ["configmaps"]}]);
    access.grant("reader", &user, rules).await;
    access.allowed(&user, &access.fixture.core("configmaps")).await;
    let name = access.name("reader");
    let reviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    let ask =
        |verb: &str| json!({"spec": {"user": user, "resourceAttributes": {"verb": verb, "resource": "configmaps"}}});
    let allowed = access.fixture.post(reviews, &ask("list")).await;
    let reason = format!("RBAC: allowed by ClusterRoleBinding \"{name}\" of ClusterRole \"{name}\" to User \"{user}\"");
    assert_eq!((allowed.code, &allowed.body["status"]), (201, &json!({"allowed": true, "reason": reason})));
    let refused = access.fixture.post(reviews, &ask("delete")).await;
    assert_eq!((refused.code, &refused.body["status"]), (201, &json!({"allowed": false})));
    let masters =
        json!({"spec": {"groups": ["system:masters"], "nonResourceAttributes": {"verb": "get", "path": "/x"}}});
    let masters = access.fixture.post(reviews, &masters).await;
    assert_eq!((masters.code, &masters.body["status"]), (201, &json!({"allowed": true})));
    let nobody = access.fixture.post(reviews, &json!({"spec": {}})).await;
    assert_eq!((nobody.code, nobody.body["reason"].as_str()), (422, Some("Invalid")));

    let own = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let spec = json!({"spec": {"nonResourceAttributes": {"verb": "get", "path": "/api"}}});
    let own = access.as_user(&user, Method::POST, own, &spec).await;
    let reason = "RBAC: allowed by ClusterRoleBinding \"system:discovery\" of ClusterRole \"system:discovery\" to Group \
                  \"system:authenticated\"";
    assert_eq!(own.body["status"], json!({"allowed": true, "reason": reason}));
    let who = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let headers = [("impersonate-user", "joe"), ("impersonate-group", "a"), ("impersonate-extra-scope", "s")];
    let who = access.fixture.request_with(&headers, Method::POST, who, JSON, &json!({})).await;
    let expected = json!({"username": "joe", "groups": ["a", "system:authenticated"], "extra": {"scope": ["s"]}});
    assert_eq!(who.body["status"]["userInfo"], expected);
    access.stop().await;
}

#[tokio::test]
async fn impersonation_must_be_allowed() {
    let mut access = Access::start("impersonation").await;
    let account = access.fixture.core("serviceaccounts");
    let made = access.fixture.post(&account, &json!({"metadata": {"name": "robot"}})).await;
    assert_eq!(made.code, 201, "{made:?}");
    let token = access.fixture.post(&format!("{account}/robot/token"), &json!({"spec": {}})).await;
    assert_eq!(token.code, 201, "{token:?}");
    let bearer = token.body["status"]["token"].as_str().unwrap().to_owned();
    let user = format!("system:serviceaccount:{}:robot", access.fixture.namespace());

    let review = "/apis/authentication.k8s.io/v1/tokenreviews";
    let spec = json!({"spec": {"token": token.body["status"]["token"]}});
    let review = access.fixture.post(review, &spec).await;
    assert_eq!(review.body["status"]["authenticated"], true, "{review:?}");
    assert_eq!(review.body["status"]["user"]["username"], user);

    let refused = |user: &str, verb: &str| {
        format!(
            "namespaces is forbidden: User \"{user}\" cannot {verb} resource \"namespaces\" in API group \"\" at the cluster scope"
        )
    };
    let namespaces = "/api/v1/namespaces";
    let joe = [("impersonate-user", "joe")];
    check(&access.fixture.get_with_token(&bearer, &[], namespaces).await, 403, &refused(&user, "list"));
    let answer = access.fixture.get_with_token(&bearer, &joe, namespaces).await;
    check(&answer, 403, &refused(&user, "impersonate-on:user-info:list"));
    let uid = [("impersonate-uid", "u")];
    check(
        &access.fixture.request_with(&uid, Method::GET, namespaces, None, &Value::Null).await,
        400,
        "requested &user.DefaultInfo{Name:\"\", UID:\"u\", Groups:[]string(nil), Extra:map[string][]string(nil)} \
         without impersonating a user name",
    );
    check(&access.fixture.get_with_token(&format!("{bearer}x"), &[], namespaces).await, 401, "Unauthorized");

    let rules = json!([
        {"verbs": ["impersonate"], "apiGroups": [""], "resources": ["users"], "resourceNames": ["joe"]},
        {"verbs": ["list"], "apiGroups": [""], "resources": ["configmaps"]},
    ]);
    access.grant("impersonator", &user, rules).await;
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_mins(1);
    loop {
        let answer = access.fixture.get_with_token(&bearer, &joe, namespaces).await;
        if answer.body["message"] == refused("joe", "list") || tokio::time::Instant::now() > deadline {
            check(&answer, 403, &refused("joe", "list"));
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    access.stop().await;
}

#[tokio::test]
async fn the_default_roles_exist_and_aggregate() {
    let mut access = Access::start("default-roles").await;
    let admin = access.fixture.get(&format!("{RBAC}/clusterroles/cluster-admin")).await;
    assert_eq!(admin.body["rules"][0], json!({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}));
    if access.fixture.is_embedded() {
        // A real server needs a controller for it that these tests don't run.
        let name = access.name("viewer");
        let label = "rbac.authorization.k8s.io/aggregate-to-view";
        let rule = json!({"apiGroups": ["x.dev"], "resources": ["xs"], "verbs": ["get"]});
        let viewer = json!({"metadata": {"name": name, "labels": {label: "true"}}, "rules": [rule]});
        access.cluster("clusterroles", &viewer).await;
        let has = |answer: &Answer| answer.body["rules"].as_array().is_some_and(|rules| rules.contains(&rule));
        access.fixture.until(&format!("{RBAC}/clusterroles/view"), has).await;
        access.fixture.until(&format!("{RBAC}/clusterroles/admin"), has).await;
    }
    access.stop().await;
}
