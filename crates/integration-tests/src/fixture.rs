use std::time::Duration;

use controller_runtime_testenv::{Backend, Crds, Environment};
use http::{Method, Request};
use http_body_util::BodyExt;
use kube_client::Config;
use kube_client::client::Body;
use kube_client::config::{AuthInfo, KubeConfigOptions};
use serde_json::Value;

use crate::answer::Answer;
use crate::skip::skip;
use crate::widget::widget_definition;

/// How long a state may take to come. Garbage collection on the reference control plane takes the longest.
pub(crate) const WITHIN: Duration = Duration::from_mins(1);
pub(crate) const POLL_EVERY: Duration = Duration::from_millis(20);

/// One test's environment, with a namespace and an API group that no other test uses.
#[derive(Debug)]
pub struct Fixture {
    env: Environment,
    namespace: String,
}

/// The content types of PATCH.
#[derive(Clone, Copy, Debug)]
pub enum PatchType<'a> {
    /// RFC 7396.
    Merge,
    /// RFC 6902.
    Json,
    /// Strategic merge patch.
    Strategic,
    /// Server-side apply by this field manager; with the flag it takes fields from others.
    Apply(&'a str, bool),
}

impl Fixture {
    /// Starts an environment on the backend that the environment variables name.
    pub async fn start(name: &str) -> Self {
        let env = Environment::start().await.unwrap();
        let namespace = env.namespace(name).await.unwrap();
        Self { env, namespace }
    }

    /// The same where roles decide what users may do.
    pub async fn start_with_rbac(name: &str) -> Self {
        let env = Environment::builder().rbac(true).start().await.unwrap();
        let namespace = env.namespace(name).await.unwrap();
        Self { env, namespace }
    }

    /// The same for tests that need garbage collection or the deletion of namespaces: none, with a visible line, where
    /// nobody does that.
    pub async fn start_with_controllers(name: &str) -> Option<Self> {
        let fixture = Self::start(name).await;
        if fixture.env.has_controllers() {
            return Some(fixture);
        }
        skip(name, "there is no kube-controller-manager");
        fixture.stop().await;
        None
    }

    /// The environment.
    pub fn env(&self) -> &Environment {
        &self.env
    }

    /// Whether the server is the embedded one.
    pub fn is_embedded(&self) -> bool {
        self.env.backend() == Backend::Embedded
    }

    /// The test's namespace.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The test's API group.
    pub fn group(&self) -> String {
        format!("{}.it.controller-runtime.dev", self.namespace)
    }

    /// Installs the kind `Widget` in the test's group; returns the path of the test's widgets.
    pub async fn install_widgets(&self) -> String {
        let group = self.group();
        self.env.install(&Crds::new().with(&widget_definition(&group)).unwrap()).await.unwrap();
        format!("/apis/{group}/v1/namespaces/{}/widgets", self.namespace)
    }

    /// The path of a resource of the core group in the test's namespace.
    pub fn core(&self, plural: &str) -> String {
        format!("/api/v1/namespaces/{}/{plural}", self.namespace)
    }

    /// Reads.
    pub async fn get(&self, path: &str) -> Answer {
        self.request(Method::GET, path, None, &Value::Null).await
    }

    /// Creates.
    pub async fn post(&self, path: &str, object: &Value) -> Answer {
        self.request(Method::POST, path, Some("application/json"), object).await
    }

    /// Replaces.
    pub async fn put(&self, path: &str, object: &Value) -> Answer {
        self.request(Method::PUT, path, Some("application/json"), object).await
    }

    /// Deletes; `options` may be null.
    pub async fn delete(&self, path: &str, options: &Value) -> Answer {
        let content_type = (!options.is_null()).then_some("application/json");
        self.request(Method::DELETE, path, content_type, options).await
    }

    /// Patches.
    pub async fn patch(&self, kind: PatchType<'_>, path: &str, body: &Value) -> Answer {
        let (content_type, query) = match kind {
            PatchType::Merge => ("application/merge-patch+json", String::new()),
            PatchType::Json => ("application/json-patch+json", String::new()),
            PatchType::Strategic => ("application/strategic-merge-patch+json", String::new()),
            PatchType::Apply(manager, force) => {
                ("application/apply-patch+yaml", format!("?fieldManager={manager}&force={force}"))
            }
        };
        self.request(Method::PATCH, &format!("{path}{query}"), Some(content_type), body).await
    }

    /// Any request; a null body is none.
    pub async fn request(&self, method: Method, path: &str, content_type: Option<&str>, body: &Value) -> Answer {
        self.request_with(&[], method, path, content_type, body).await
    }

    /// The same with more headers.
    pub async fn request_with(
        &self,
        headers: &[(&str, &str)],
        method: Method,
        path: &str,
        content_type: Option<&str>,
        body: &Value,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(content_type) = content_type {
            request = request.header("content-type", content_type);
        }
        let body = if body.is_null() { Vec::new() } else { serde_json::to_vec(body).unwrap() };
        send(&self.env.kube_client(), request.body(Body::from(body)).unwrap()).await
    }

    /// Reads a path as whoever has this bearer token, over HTTPS.
    pub async fn get_with_token(&self, token: &str, headers: &[(&str, &str)], path: &str) -> Answer {
        let mut kubeconfig = self.env.kubeconfig().await.unwrap();
        for user in &mut kubeconfig.auth_infos {
            user.auth_info = Some(AuthInfo { token: Some(token.to_owned().into()), ..AuthInfo::default() });
        }
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
        let client = kube_client::Client::try_from(config).unwrap();
        let mut request = Request::builder().uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        send(&client, request.body(Body::from(Vec::new())).unwrap()).await
    }

    /// Reads again and again until `condition` holds of the answer; returns that. Fails the test after a minute.
    #[track_caller]
    pub fn until(&self, path: &str, condition: impl Fn(&Answer) -> bool) -> impl Future<Output = Answer> {
        let caller = std::panic::Location::caller();
        async move {
            let mut last = None;
            let poll = async {
                loop {
                    let answer = self.get(path).await;
                    if condition(&answer) {
                        return answer;
                    }
                    last = Some(answer);
                    tokio::time::sleep(POLL_EVERY).await;
                }
            };
            let polled = tokio::time::timeout(WITHIN, poll).await;
            polled.unwrap_or_else(|_| panic!("{caller}: not after {WITHIN:?}; last seen: {last:?}"))
        }
    }

    /// Waits until there is nothing at `path`.
    pub async fn gone(&self, path: &str) {
        self.until(path, |answer| answer.code == 404).await;
    }

    /// Ends the environment.
    pub async fn stop(self) {
        self.env.stop().await.unwrap();
    }
}

async fn send(client: &kube_client::Client, request: Request<Body>) -> Answer {
    let what = format!("{} {}", request.method(), request.uri());
    let response = client.send(request).await.unwrap();
    let code = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    Answer::new(what, code, &bytes)
}
