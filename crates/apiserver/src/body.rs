use std::any::Any;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use controller_runtime_ambient::CancellationToken;
use futures::Stream;
use http_body::{Frame, SizeHint};
use tokio_util::sync::WaitForCancellationFutureOwned;

/// The body of a response: whole, or a stream of frames as for watches. It never fails; a watch that breaks says so in
/// its last frame.
pub struct Body {
    content: Content,
    /// Ends a stream when the server stops.
    stop: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    /// Dropped with the body.
    held: Option<Box<dyn Any + Send>>,
}

enum Content {
    Whole(Option<Bytes>),
    Stream(Pin<Box<dyn Stream<Item = Bytes> + Send>>),
}

impl Body {
    /// A body without content.
    pub(crate) fn empty() -> Self {
        Self::of(Content::Whole(None))
    }

    /// A body that is there already.
    pub(crate) fn full(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self::of(Content::Whole((!bytes.is_empty()).then_some(bytes)))
    }

    /// A body that comes in frames for as long as the stream goes on.
    pub(crate) fn stream(stream: impl Stream<Item = Bytes> + Send + 'static) -> Self {
        Self::of(Content::Stream(Box::pin(stream)))
    }

    /// Ends the body, if it is a stream, when `stop` is cancelled.
    pub(crate) fn until(mut self, stop: &CancellationToken) -> Self {
        if matches!(self.content, Content::Stream(_)) {
            self.stop = Some(Box::pin(stop.clone().cancelled_owned()));
        }
        self
    }

    /// Keeps `held` for as long as the body lives.
    pub(crate) fn holding(mut self, held: impl Any + Send) -> Self {
        self.held = Some(Box::new(held));
        self
    }

    fn of(content: Content) -> Self {
        Self { content, stop: None, held: None }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = &mut *self;
        let next = match &mut this.content {
            Content::Whole(bytes) => Poll::Ready(bytes.take()),
            Content::Stream(stream) => {
                let stopped = this.stop.as_mut().is_some_and(|stop| stop.as_mut().poll(cx).is_ready());
                if stopped {
                    this.content = Content::Whole(None);
                    return Poll::Ready(None);
                }
                stream.as_mut().poll_next(cx)
            }
        };
        next.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.content, Content::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            Content::Stream(_) => SizeHint::default(),
        }
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let content = match &self.content {
            Content::Whole(bytes) => format!("{} bytes", bytes.as_ref().map_or(0, Bytes::len)),
            Content::Stream(_) => "stream".to_owned(),
        };
        f.debug_tuple("Body").field(&content).finish()
    }
}

#[cfg(test)]
mod tests {
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
        let body = Body::full("abc").until(&stop);
        stop.cancel();
        assert_eq!(body.collect().await.unwrap().to_bytes(), "abc");
    }

    #[tokio::test]
    async fn what_a_body_holds_goes_with_it() {
        let held = std::sync::Arc::new(());
        let body = Body::empty().holding(std::sync::Arc::clone(&held));
        assert_eq!(std::sync::Arc::strong_count(&held), 2);
        drop(body);
        assert_eq!(std::sync::Arc::strong_count(&held), 1);
    }
}
