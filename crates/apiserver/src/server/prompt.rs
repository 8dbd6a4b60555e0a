use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use http_body::{Body, Frame, SizeHint};
use tokio::time::{Sleep, sleep};

/// A body that must be whole within a time, so that a client that sends little by little holds nothing for ever.
pub(super) struct Prompt<B> {
    body: B,
    limit: Duration,
    /// Started when the first frame is not there yet: most bodies need no timer.
    deadline: Option<Pin<Box<Sleep>>>,
}

/// The body was not whole in time.
#[derive(Debug, thiserror::Error)]
#[error("the body was not whole in time")]
pub(super) struct TooSlow;

impl<B> Prompt<B> {
    pub(super) fn new(body: B, limit: Duration) -> Self {
        Self { body, limit, deadline: None }
    }
}

impl<B> Body for Prompt<B>
where
    B: Body + Unpin,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Data = B::Data;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = pin!(&mut this.body).poll_frame(cx) {
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let limit = this.limit;
        let deadline = this.deadline.get_or_insert_with(|| Box::pin(sleep(limit)));
        deadline.as_mut().poll(cx).map(|()| Some(Err(TooSlow.into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
