//! A controller without a server: what is to be done comes through a channel, and fails the first time.
//!
//! `cargo run -p controller-runtime-controller --example channel`

mod host;

use std::convert::Infallible;
use std::sync::Arc;

use controller_runtime_ambient::CancellationToken;
use controller_runtime_cache::CacheOptions;
use controller_runtime_client::{Client, ClientOptions};
use controller_runtime_controller::{Action, Context, Controller, Error, Reconciler, Result, Watch, handler, source};
use controller_runtime_scheme::ObjectKey;
use kube_client::client::Body;
use tokio::sync::mpsc;

use host::OwnHost;

/// Greets each key, at the second attempt.
struct Greeter {
    greeted: mpsc::UnboundedSender<String>,
}

impl Reconciler<ObjectKey> for Greeter {
    async fn reconcile(&self, cx: &Context, key: Arc<ObjectKey>) -> Result<Action> {
        if cx.attempt() == 1 {
            return Err(Error::transient("not in the mood yet"));
        }
        self.greeted.send(format!("hello {key}, at attempt {}", cx.attempt()))?;
        Ok(Action::done())
    }
}

/// A client that reaches nobody.
fn nobody() -> Client {
    let service = tower::service_fn(|_: http::Request<Body>| async {
        let mut response = http::Response::new(Body::empty());
        *response.status_mut() = http::StatusCode::NOT_FOUND;
        Ok::<_, Infallible>(response)
    });
    Client::new(kube_client::Client::new(service, "default"), ClientOptions::new())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::result::Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let host = OwnHost::new(nobody(), CacheOptions::new());
    let (greeted, mut greetings) = mpsc::unbounded_channel();
    let (sender, channel) = source::channel();
    Controller::for_keys("greeter")
        .watches_with(Watch::source(channel), handler::key())
        .max_concurrent(2)
        .run(Greeter { greeted }, &host)?;
    let stop = CancellationToken::new();
    let program = async {
        for name in ["ada", "grace", "ada"] {
            sender.send(ObjectKey::cluster(name)).await?;
        }
        for _ in 0..2 {
            println!("{}", greetings.recv().await.unwrap_or_default());
        }
        stop.cancel();
        Ok::<_, source::ChannelClosed>(())
    };
    let (ran, sent) = futures::join!(host.run(stop.clone()), program);
    ran?;
    sent?;
    Ok(())
}
