use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::item::Item;
use crate::shared::Handle;

/// The future of [`Queue::get`](crate::Queue::get).
#[must_use = "futures do nothing unless awaited"]
pub struct Get<'a, K: Eq + 'static> {
    shared: &'a Arc<Handle<K>>,
    id: Option<u64>,
}

impl<'a, K: Eq + 'static> Get<'a, K> {
    pub(crate) fn new(shared: &'a Arc<Handle<K>>) -> Self {
        Self { shared, id: None }
    }
}

impl<K: Eq + 'static> Future for Get<'_, K> {
    type Output = Option<Item<K>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // A queue that is never empty must not keep its worker from letting others run.
        let budget = std::task::ready!(tokio::task::coop::poll_proceed(cx));
        let (taken, id, ended) = self.shared.take(Some((self.id, cx.waker())));
        self.id = id;
        if taken.is_none() && !ended {
            return Poll::Pending;
        }
        budget.made_progress();
        Poll::Ready(taken.map(|taken| Item::new(self.shared.clone(), taken)))
    }
}

impl<K: Eq + 'static> Drop for Get<'_, K> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.shared.leave(id);
        }
    }
}

impl<K: Eq + 'static> fmt::Debug for Get<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Get").finish_non_exhaustive()
    }
}
