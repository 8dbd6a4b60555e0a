use std::fmt;
use std::future::Future;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use controller_runtime_ambient::{Ambient, Task};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::entry::{Moment, Slot};
use crate::item::Item;
use crate::limiter::ItemBackoff;
use crate::observer::Observer;
use crate::state::{Effects, Phase, Snapshot, State};
use crate::timer;

/// A queue of keys; see the [crate's documentation](crate) for its rules. Cloning is cheap; clones are the same queue.
///
/// When the last clone is dropped, keys that wait for their time are not delivered any more.
pub struct Queue<K> {
    shared: Arc<Shared<K>>,
    // Its owners are the clones of the queue, not the items that workers hold.
    timer: Arc<Task<()>>,
}

impl<K> Clone for Queue<K> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone(), timer: self.timer.clone() }
    }
}

/// What the queue, its items and its timer share.
pub(crate) struct Shared<K> {
    state: Mutex<State<K>>,
    hasher: BuildHasherDefault<DefaultHasher>,
    /// Moment zero.
    epoch: Instant,
    backoff: ItemBackoff,
    observer: Option<Arc<dyn Observer>>,
    pub(crate) rearm: Notify,
    /// Tells those who drain that all is done.
    idle: Notify,
}

/// A queue that may be gone: it keeps neither the queue nor its timer alive.
pub struct WeakQueue<K> {
    shared: Weak<Shared<K>>,
}

/// How a queue is made; see [`Queue::builder`].
#[derive(Clone, Debug)]
pub struct QueueBuilder<K> {
    keys: PhantomData<fn() -> K>,
    ambient: Ambient,
    backoff: ItemBackoff,
    observer: Option<Arc<dyn Observer>>,
    patience: Duration,
}

/// How a key is added: see [`Queue::add_with`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Add {
    after: Duration,
    backoff: bool,
    priority: i32,
}

impl Add {
    /// At once, with priority 0.
    pub fn now() -> Self {
        Self::default()
    }

    /// After `delay`.
    pub fn after(delay: Duration) -> Self {
        Self { after: delay, ..Self::default() }
    }

    /// After the key's back-off, and count a failure of it.
    pub fn with_backoff() -> Self {
        Self { backoff: true, ..Self::default() }
    }

    /// Not before `delay`, even where the back-off is shorter.
    #[must_use]
    pub fn at_least_after(mut self, delay: Duration) -> Self {
        self.after = self.after.max(delay);
        self
    }

    /// Higher goes first; the default is 0. While a key is queued its priority only rises.
    #[must_use]
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }
}

impl<K: Eq + Hash + Send + Sync + 'static> QueueBuilder<K> {
    /// How long keys wait after failures; by default 5 ms, doubling up to 1000 s.
    #[must_use]
    pub fn backoff(mut self, backoff: ItemBackoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// Who learns what happens; by default nobody.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// How long a key of low priority may be ready before every fourth take goes to the oldest key whatever its
    /// priority; by default 10 s.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The queue. It starts a task that wakes workers when a waiting key is due.
    ///
    /// # Panics
    /// When called outside a tokio runtime.
    pub fn build(self) -> Queue<K> {
        let shared = Arc::new(Shared {
            state: Mutex::new(State::new(self.patience)),
            hasher: BuildHasherDefault::default(),
            epoch: Instant::now(),
            backoff: self.backoff,
            observer: self.observer,
            rearm: Notify::new(),
            idle: Notify::new(),
        });
        let timer = self.ambient.spawn("workqueue timer", timer::run(shared.clone()));
        Queue { shared, timer: Arc::new(timer) }
    }
}

impl<K: Eq + Hash + Send + Sync + 'static> Queue<K> {
    /// A queue with the defaults.
    ///
    /// # Panics
    /// When called outside a tokio runtime.
    pub fn new(ambient: &Ambient) -> Self {
        Self::builder(ambient).build()
    }

    /// A queue that isn't the default one.
    pub fn builder(ambient: &Ambient) -> QueueBuilder<K> {
        QueueBuilder {
            keys: PhantomData,
            ambient: ambient.clone(),
            backoff: ItemBackoff::default(),
            observer: None,
            patience: Duration::from_secs(10),
        }
    }

    /// Makes a key ready, at once. Nothing happens when it is ready already or the queue is shut down.
    pub fn add(&self, key: K) {
        self.add_with(key, Add::now());
    }

    /// Makes a key ready after `delay`, unless it is going to be earlier anyway.
    pub fn add_after(&self, key: K, delay: Duration) {
        self.add_with(key, Add::after(delay));
    }

    /// Makes a key ready after its back-off and counts a failure of it.
    pub fn add_with_backoff(&self, key: K) {
        self.add_with(key, Add::with_backoff());
    }

    /// Makes a key ready as `how` says.
    pub fn add_with(&self, key: K, how: Add) {
        let hash = self.shared.hash(&key);
        self.shared.update(|state, now, effects| {
            if let Some(slot) = state.admit(hash, key) {
                self.shared.trigger(state, slot, now, how, effects);
            }
        });
    }

    /// Forgets a key's failures. A trigger that it waits for stays.
    pub fn forget(&self, key: &K) {
        let hash = self.shared.hash(key);
        self.shared.state.lock().forget_key(hash, key);
    }

    /// How often a key was added with back-off since it was last forgotten.
    pub fn num_requeues(&self, key: &K) -> u32 {
        let hash = self.shared.hash(key);
        self.shared.state.lock().failures(hash, key)
    }

    /// Takes the next key; waits until one is ready. `None` when the queue is shut down, or drained and empty.
    ///
    /// Cancel safe: a key is taken only when the future gives it.
    pub fn get(&self) -> Get<'_, K> {
        Get { queue: self, id: None }
    }

    /// Takes the next key if one is ready.
    pub fn try_get(&self) -> Option<Item<K>> {
        self.shared.take(None).0
    }

    /// How many keys are ready. Keys that wait for their time or that workers have don't count.
    pub fn len(&self) -> usize {
        self.shared.update(|state, now, effects| {
            state.promote(now, effects);
            state.len()
        })
    }

    /// Whether no key is ready.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is in the queue, for metrics.
    pub fn snapshot(&self) -> Snapshot {
        self.shared.update(State::snapshot)
    }

    /// The queue, for those who look at it as long as it is there.
    pub fn downgrade(&self) -> WeakQueue<K> {
        WeakQueue { shared: Arc::downgrade(&self.shared) }
    }

    /// Closes the queue: keys that are ready or waiting are dropped, [`Queue::get`] gives `None`, adds do nothing.
    pub fn shutdown(&self) {
        self.shared.enter(Phase::Closed);
    }

    /// Stops adds and drops what waits for its time, lets workers take what is ready, and waits until they are done
    /// with all they took. After [`Queue::shutdown`] it waits for what they have.
    ///
    /// Dropping the future leaves the queue draining.
    pub async fn drain(&self) {
        self.shared.enter(Phase::Draining);
        loop {
            let idle = self.shared.idle.notified();
            if self.shared.state.lock().is_idle() {
                return;
            }
            idle.await;
        }
    }
}

impl<K: Eq> WeakQueue<K> {
    /// What is in the queue; `None` when it is gone.
    pub fn snapshot(&self) -> Option<Snapshot> {
        self.shared.upgrade().map(|shared| shared.update(State::snapshot))
    }
}

impl<K> Clone for WeakQueue<K> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<K> fmt::Debug for WeakQueue<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakQueue").finish_non_exhaustive()
    }
}

impl<K> fmt::Debug for Queue<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("backoff", &self.shared.backoff).finish_non_exhaustive()
    }
}

impl<K: Eq> Shared<K> {
    pub(crate) fn now(&self) -> Moment {
        Moment::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(Moment::MAX)
    }

    pub(crate) fn instant(&self, moment: Moment) -> Instant {
        self.epoch + Duration::from_nanos(moment)
    }

    fn hash(&self, key: &K) -> u64
    where
        K: Hash,
    {
        self.hasher.hash_one(key)
    }

    /// Changes the state under the lock; afterwards wakes a waiter if there is a key for it, and tells the timer and the
    /// observer.
    pub(crate) fn update<R>(&self, change: impl FnOnce(&mut State<K>, Moment, &mut Effects) -> R) -> R {
        let now = self.now();
        let mut effects = Effects::default();
        let (result, waker) = {
            let mut state = self.state.lock();
            let result = change(&mut state, now, &mut effects);
            (result, if state.len() > 0 { state.waiters.next(now) } else { None })
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        if effects.rearm {
            self.rearm.notify_one();
        }
        if let Some(observer) = &self.observer {
            (0..effects.added).for_each(|_| observer.added());
            if effects.put_off {
                observer.retried();
            }
        }
        result
    }

    /// Triggers a known key.
    pub(crate) fn trigger(&self, state: &mut State<K>, slot: Slot, now: Moment, how: Add, effects: &mut Effects) {
        if state.phase != Phase::Open {
            return;
        }
        let backoff = if how.backoff { self.backoff.delay(state.fail(slot)) } else { Duration::ZERO };
        let delay = how.after.max(backoff);
        let at = now.saturating_add(Moment::try_from(delay.as_nanos()).unwrap_or(Moment::MAX));
        state.trigger(slot, now, at, how.priority, effects);
        effects.put_off |= delay > Duration::ZERO;
    }

    /// Takes a key, or registers `waiter` for the next one and gives its id. The flag says that none will come.
    fn take(self: &Arc<Self>, waiter: Option<(Option<u64>, &Waker)>) -> (Option<Item<K>>, Option<u64>, bool) {
        let (taken, id, ended) = self.update(|state, now, effects| {
            if let Some((Some(id), _)) = waiter {
                state.waiters.arrived(id);
            }
            let taken = state.take(now, effects);
            let ended = taken.is_none() && state.phase != Phase::Open;
            let id = match waiter {
                Some((id, waker)) if taken.is_none() && !ended => Some(state.waiters.register(id, waker)),
                _ => None,
            };
            (taken, id, ended)
        });
        let item = taken.map(|taken| {
            if let Some(observer) = &self.observer {
                observer.taken(taken.waited);
            }
            Item::new(self.clone(), taken)
        });
        (item, id, ended)
    }

    /// A worker is done with a key.
    pub(crate) fn done(&self, slot: Slot) {
        let (worked, idle, gone) = self.update(|state, now, effects| {
            let worked = state.done(slot, now, effects);
            let idle = state.phase != Phase::Open && state.is_idle();
            // Those who wait for a last key of a draining queue learn that none comes.
            let gone = if idle { state.waiters.all() } else { Vec::new() };
            (worked, idle, gone)
        });
        gone.into_iter().for_each(Waker::wake);
        if idle {
            self.idle.notify_waiters();
        }
        if let Some(observer) = &self.observer {
            observer.done(worked);
        }
    }

    pub(crate) fn forget(&self, slot: Slot) {
        self.state.lock().forget(slot);
    }

    pub(crate) fn failures(&self, slot: Slot) -> u32 {
        self.state.lock().failures_at(slot)
    }

    pub(crate) fn next_due(&self) -> Option<Moment> {
        self.state.lock().next_due()
    }

    fn enter(&self, phase: Phase) {
        let (wakers, idle) = {
            let mut state = self.state.lock();
            (state.enter(phase), state.is_idle())
        };
        wakers.into_iter().for_each(Waker::wake);
        if idle {
            self.idle.notify_waiters();
        }
    }

    /// A waiter goes away. When it had been woken for a key that it doesn't take, the next one is.
    fn leave(&self, id: u64) {
        self.update(|state, _, _| state.waiters.arrived(id));
    }
}

/// The future of [`Queue::get`].
#[must_use = "futures do nothing unless awaited"]
pub struct Get<'a, K: Eq> {
    queue: &'a Queue<K>,
    id: Option<u64>,
}

impl<K: Eq> Future for Get<'_, K> {
    type Output = Option<Item<K>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // A queue that is never empty must not keep its worker from letting others run.
        let budget = std::task::ready!(tokio::task::coop::poll_proceed(cx));
        let (item, id, ended) = self.queue.shared.take(Some((self.id, cx.waker())));
        self.id = id;
        if item.is_none() && !ended {
            return Poll::Pending;
        }
        budget.made_progress();
        Poll::Ready(item)
    }
}

impl<K: Eq> Drop for Get<'_, K> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.queue.shared.leave(id);
        }
    }
}

impl<K: Eq> fmt::Debug for Get<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Get").finish_non_exhaustive()
    }
}
