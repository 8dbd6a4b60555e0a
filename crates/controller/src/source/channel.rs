use std::error::Error as StdError;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::{Events, Source};
use crate::event::Event;

/// How many events a [`channel`] holds, as in Go's controller-runtime.
const BUFFER: usize = 1024;

/// Where a program puts what its controller is to be told of; see [`channel`]. Cloning is cheap.
#[derive(Debug)]
pub struct ChannelSender<W> {
    sender: mpsc::Sender<Arc<W>>,
}

/// The controller's end of a [`channel`].
#[derive(Debug)]
pub struct ChannelSource<W> {
    receiver: mpsc::Receiver<Arc<W>>,
}

/// The controller that would take the events is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the controller of this channel has ended")]
#[non_exhaustive]
pub struct ChannelClosed;

/// An event could not be put into a channel without waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TrySendError {
    /// The controller does not keep up.
    #[error("the channel is full")]
    Full,
    /// The controller that would take the events is gone.
    #[error("the controller of this channel has ended")]
    Closed,
}

/// Brings events from the program itself to a controller, as [`Event::Generic`]: at most 1024 wait, and whoever sends
/// more waits for room.
///
/// What is sent is an object, or an [`ObjectKey`](controller_runtime_scheme::ObjectKey) where that is all there is. When
/// the last sender is dropped, no more events come, and the controller goes on.
pub fn channel<W>() -> (ChannelSender<W>, ChannelSource<W>) {
    channel_with_buffer(BUFFER)
}

/// A [`channel`] that holds so many events, at least one.
pub fn channel_with_buffer<W>(events: usize) -> (ChannelSender<W>, ChannelSource<W>) {
    let (sender, receiver) = mpsc::channel(events.max(1));
    (ChannelSender { sender }, ChannelSource { receiver })
}

impl<W> ChannelSender<W> {
    /// Tells of an object; waits while the channel is full. Cancel safe: what is dropped before it is ready has not been
    /// sent.
    pub async fn send(&self, object: impl Into<Arc<W>>) -> Result<(), ChannelClosed> {
        self.sender.send(object.into()).await.map_err(|_| ChannelClosed)
    }

    /// Tells of an object, if there is room.
    pub fn try_send(&self, object: impl Into<Arc<W>>) -> Result<(), TrySendError> {
        self.sender.try_send(object.into()).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => TrySendError::Full,
            mpsc::error::TrySendError::Closed(_) => TrySendError::Closed,
        })
    }
}

impl<W> Clone for ChannelSender<W> {
    fn clone(&self) -> Self {
        Self { sender: self.sender.clone() }
    }
}

impl<W: Send + Sync + 'static> Source<W> for ChannelSource<W> {
    fn name(&self) -> String {
        "channel".to_owned()
    }

    async fn run(mut self, events: Events<W>) -> Result<(), Box<dyn StdError + Send + Sync>> {
        events.synced();
        while let Some(object) = self.receiver.recv().await {
            events.emit(&Event::Generic { object });
        }
        Ok(())
    }
}
