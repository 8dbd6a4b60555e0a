use std::convert::Infallible;

use controller_runtime_ambient::Ambient;
use controller_runtime_cache::{Cache, CacheOptions, DelegatingClient};
use controller_runtime_client::{Client, ClientOptions};
use kube_client::client::Body;

/// A client for tests that send nothing: every request is answered with 404.
pub(crate) fn client(ambient: &Ambient) -> DelegatingClient {
    let service = tower::service_fn(|_: http::Request<Body>| async {
        let mut response = http::Response::new(Body::empty());
        *response.status_mut() = http::StatusCode::NOT_FOUND;
        Ok::<_, Infallible>(response)
    });
    let client = Client::new(
        kube_client::Client::new(service, "default"),
        ClientOptions::builder().ambient(ambient.clone()).build(),
    );
    let cache = Cache::new(client.clone(), CacheOptions::new());
    DelegatingClient::new(client, cache)
}
