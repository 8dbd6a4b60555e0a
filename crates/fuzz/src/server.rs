use bytes::Bytes;
use controller_runtime_ambient::Ambient;
use controller_runtime_apiserver::ApiServer;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use serde_json::json;
use tokio::runtime::Runtime;
use tower::ServiceExt;

/// The namespace's config maps, among which the targets read and write.
pub(crate) const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// An answer is never longer than this, as the objects here are few and small.
const LONGEST_ANSWER: usize = 1024 * 1024;

/// An embedded API server and what runs it.
///
/// A thread keeps one for all its inputs; what an input leaves behind is part of what the next one meets.
pub(crate) struct Server {
    runtime: Runtime,
    server: ApiServer,
}

impl Server {
    fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let server = runtime.block_on(async { ApiServer::builder().ambient(Ambient::seeded(1)).build() });
        let server = Self { runtime, server };
        for name in ["one", "two", "three"] {
            let map =
                json!({"metadata": {"name": name, "labels": {"a": name, "b": "x"}}, "data": {"a": "1", "b": "2"}});
            let (code, _) = server.send("POST", MAPS, &[], map.to_string());
            assert_eq!(code, StatusCode::CREATED);
        }
        server
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: impl Into<Bytes>) -> (StatusCode, Bytes) {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(body.into())).unwrap();
        self.runtime.block_on(async {
            let response = self.server.service().oneshot(request).await.unwrap();
            let code = response.status();
            (code, response.into_body().collect().await.unwrap().to_bytes())
        })
    }
}

thread_local! {
    static SERVER: Server = Server::start();
}

/// Sends a request, and demands that the server answers, not at length, and then others too. Some bad input is answered
/// with 500, as by kube-apiserver.
pub(crate) fn ask(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Bytes {
    SERVER.with(|server| {
        let (_, answer) = server.send(method, path, headers, body.to_vec());
        assert!(answer.len() < LONGEST_ANSWER, "the answer has {} bytes", answer.len());
        let (code, _) = server.send("GET", "/readyz", &[], Bytes::new());
        assert_eq!(code, StatusCode::OK, "the server goes on");
        answer
    })
}

/// A query of these parameters.
pub(crate) fn query(parameters: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish()
}
