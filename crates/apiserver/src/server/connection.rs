//! Connections over TCP: what they may cost, and how they end.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use controller_runtime_ambient::{CancellationToken, TaskGroup};
use hyper::body::Incoming;
use hyper::rt::{Executor, Read, Write};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::door::Door;
use super::prompt::Prompt;
use super::tls_entrance::TlsEntrance;
use crate::access::Identity;
use crate::pipeline::authenticate::Peer;

/// Connections that one listener holds open at a time; more wait until one of them ends.
const MAX_CONNECTIONS: usize = 4096;
/// Requests at a time on one HTTP/2 connection.
const MAX_STREAMS: u32 = 250;
/// The largest request head, in bytes.
const MAX_HEAD: usize = 1 << 20;
/// How long a client may take for the TLS handshake, and for the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(32);
/// How long a client may take to send a request's body.
const REQUEST_TIMEOUT: Duration = Duration::from_mins(1);
/// How long a connection may be without requests.
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);
/// How long requests in flight may go on when the server stops.
const GRACE: Duration = Duration::from_secs(2);
/// How long the listener waits after the system refused it a connection, for want of file descriptors for example.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Accepts connections until the server stops, then waits for those that are open.
pub(super) async fn accept(door: Arc<Door>, listener: TcpListener, tls: Option<TlsEntrance>) {
    let connections = TaskGroup::new(&door.core.ambient, &door.stop);
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let next = async {
            let permit = Arc::clone(&permits).acquire_owned().await;
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            biased;
            () = door.stop.cancelled() => break,
            next = next => next,
        };
        match accepted {
            Ok((stream, _)) => {
                let (door, tls) = (Arc::clone(&door), tls.clone());
                connections.spawn("connection", async move {
                    serve(door, stream, tls).await;
                    drop(permit);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "could not accept a connection");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    connections.shutdown().await;
}

async fn serve(door: Arc<Door>, stream: TcpStream, tls: Option<TlsEntrance>) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "could not set TCP_NODELAY");
    }
    let Some(tls) = tls else {
        return serve_http(door, TokioIo::new(stream), Peer::Known(Identity::anonymous())).await;
    };
    let handshake = tokio::select! {
        biased;
        () = door.stop.cancelled() => return,
        handshake = timeout(HEAD_TIMEOUT, tls.acceptor.accept(stream)) => handshake,
    };
    match handshake {
        Ok(Ok(stream)) => {
            let peer = tls.peer(stream.get_ref().1.peer_certificates());
            serve_http(door, TokioIo::new(stream), peer).await;
        }
        Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
        Err(_) => tracing::debug!("a TLS handshake took too long"),
    }
}

async fn serve_http<I>(door: Arc<Door>, io: I, peer: Peer)
where
    I: Read + Write + Unpin + Send + 'static,
{
    let stop = door.stop.clone();
    let streams = Streams(TaskGroup::new(&door.core.ambient, &CancellationToken::new()));
    let activity = Arc::new(Activity::default());
    let peer = Arc::new(peer);
    let service = service_fn(|request: http::Request<Incoming>| {
        let (door, peer, guard) = (Arc::clone(&door), Arc::clone(&peer), Activity::begin(&activity));
        async move {
            let request = request.map(|body| Prompt::new(body, REQUEST_TIMEOUT));
            let response = door.answer(request, &peer).await;
            Ok::<_, Infallible>(response.map(|body| body.holding(guard)))
        }
    });
    let builder = builder(streams.clone());
    {
        let mut connection = pin!(builder.serve_connection(io, service));
        let mut deadline = None;
        loop {
            let idle = activity.watch_idle();
            tokio::select! {
                biased;
                ended = connection.as_mut() => {
                    if let Err(error) = ended {
                        tracing::debug!(%error, "a connection ended badly");
                    }
                    break;
                }
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => break,
                () = stop.cancelled(), if deadline.is_none() => {
                    connection.as_mut().graceful_shutdown();
                    deadline = Some(Instant::now() + GRACE);
                }
                () = idle, if deadline.is_none() => {
                    connection.as_mut().graceful_shutdown();
                    deadline = Some(Instant::now() + GRACE);
                }
            }
        }
    }
    // The connection is gone, and with it the other end of every stream: what has not noticed yet is aborted.
    if timeout(GRACE, streams.0.shutdown()).await.is_err() {
        tracing::debug!("a stream outlived its connection");
    }
}

fn builder(streams: Streams) -> auto::Builder<Streams> {
    let mut builder = auto::Builder::new(streams);
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_buf_size(MAX_HEAD);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(u32::try_from(MAX_HEAD).unwrap_or(u32::MAX))
        .keep_alive_interval(Duration::from_secs(30))
        .keep_alive_timeout(Duration::from_secs(20));
    builder
}

/// Where hyper runs the streams of one HTTP/2 connection.
#[derive(Clone)]
struct Streams(TaskGroup);

impl<F> Executor<F> for Streams
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, stream: F) {
        self.0.spawn("stream", stream);
    }
}

/// Whether anything happens on a connection.
#[derive(Debug, Default)]
struct Activity {
    begun: AtomicU64,
    ended: AtomicU64,
}

/// Held while a request, body of the response included, is in flight.
#[derive(Debug)]
pub(super) struct InFlight(Arc<Activity>);

impl Activity {
    fn begin(activity: &Arc<Self>) -> InFlight {
        activity.begun.fetch_add(1, Ordering::Relaxed);
        InFlight(Arc::clone(activity))
    }

    /// Returns once nothing was in flight for the time that a connection may be idle.
    async fn watch_idle(&self) {
        let mut limit = HEAD_TIMEOUT;
        loop {
            let before = self.begun.load(Ordering::Relaxed);
            if before > 0 {
                limit = IDLE_TIMEOUT;
            }
            sleep(limit).await;
            let (begun, ended) = (self.begun.load(Ordering::Relaxed), self.ended.load(Ordering::Relaxed));
            if begun == before && begun == ended {
                return;
            }
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::Relaxed);
    }
}
