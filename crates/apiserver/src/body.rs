use std::any::Any;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use controller_runtime_ambient::CancellationToken;
use futures::Stream;
use http_body::{Frame, SizeHint};
use tokio_util::sync::WaitForCancellationFutureOwned;

/// The body of a response: complete, or a stream of watch events that ends when the watch does. It never fails: a
/// watch that breaks says so in its last event.
pub struct Body {
    inner: Inner,
    /// Ends a stream when the server stops.
    stop: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    /// Dropped with the body.
    held: Option<Box<dyn Any + Send>>,
}

enum Inner {
    Full(Bytes),
    Stream(Pin<Box<dyn Stream<Item = Bytes> + Send>>),
}

impl Body {
    /// A body that is made while it is read. Dropping it ends whatever makes it.
    pub(crate) fn stream(frames: impl Stream<Item = Bytes> + Send + 'static) -> Self {
        Self::of(Inner::Stream(Box::pin(frames)))
    }

    /// The bytes of a complete body, `None` for a stream.
    pub fn bytes(&self) -> Option<&Bytes> {
        match &self.inner {
            Inner::Full(bytes) => Some(bytes),
            Inner::Stream(_) => None,
        }
    }

    /// Ends the body, if it is a stream, when `stop` is cancelled.
    pub(crate) fn until(mut self, stop: &CancellationToken) -> Self {
        if matches!(self.inner, Inner::Stream(_)) {
            self.stop = Some(Box::pin(stop.clone().cancelled_owned()));
        }
        self
    }

    /// Keeps `held`, beside what it holds already, for as long as the body lives.
    pub(crate) fn holding(mut self, held: impl Any + Send) -> Self {
        self.held = Some(match self.held.take() {
            Some(before) => Box::new((before, held)),
            None => Box::new(held),
        });
        self
    }

    fn of(inner: Inner) -> Self {
        Self { inner, stop: None, held: None }
    }
}

impl<B: Into<Bytes>> From<B> for Body {
    fn from(bytes: B) -> Self {
        Self::of(Inner::Full(bytes.into()))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = &mut *self;
        match &mut this.inner {
            Inner::Full(bytes) if bytes.is_empty() => Poll::Ready(None),
            Inner::Full(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Inner::Stream(frames) => {
                let stopped = this.stop.as_mut().is_some_and(|stop| stop.as_mut().poll(cx).is_ready());
                if stopped {
                    this.inner = Inner::Full(Bytes::new());
                    return Poll::Ready(None);
                }
                frames.as_mut().poll_next(cx).map(|next| next.map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.inner, Inner::Full(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.inner {
            Inner::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Inner::Stream(_) => SizeHint::default(),
        }
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.inner {
            Inner::Full(bytes) => f.debug_tuple("Full").field(bytes).finish(),
            Inner::Stream(_) => f.debug_tuple("Stream").finish_non_exhaustive(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use controller_runtime_ambient::CancellationToken;
    use futures::StreamExt;
    use http_body_util::BodyExt;

    use super::Body;

    #[tokio::test]
    async fn a_stream_ends_when_the_server_stops() {
        let stop = CancellationToken::new();
        let endless = futures::stream::iter([Bytes::from_static(b"a")]).chain(futures::stream::pending());
        let mut body = Body::stream(endless).until(&stop);
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "a");
        let (next, ()) = tokio::join!(body.frame(), async { stop.cancel() });
        assert!(next.is_none());
    }

    #[tokio::test]
    async fn a_whole_body_is_delivered_although_the_server_stops() {
        let stop = CancellationToken::new();
        let body = Body::from("abc").until(&stop);
        stop.cancel();
        assert_eq!(body.collect().await.unwrap().to_bytes(), "abc");
    }

    #[tokio::test]
    async fn what_a_body_holds_goes_with_it() {
        let held = Arc::new(());
        let body = Body::from("").holding(Arc::clone(&held)).holding(Arc::clone(&held));
        assert_eq!(Arc::strong_count(&held), 3);
        drop(body);
        assert_eq!(Arc::strong_count(&held), 1);
    }
}
