use std::hash::{BuildHasher, Hash};
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::Waker;
use std::time::Duration;

use hashbrown::DefaultHashBuilder;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::add::Add;
use crate::entry::{Moment, Slot};
use crate::limiter::RateLimiter;
use crate::lock::Mutex;
use crate::observer::Observer;
use crate::state::{Effects, Phase, Snapshot, State, Taken};

/// What the queue, its items and its timer share.
pub(crate) struct Shared<K> {
    state: Mutex<State<K>>,
    hasher: DefaultHashBuilder,
    /// Moment zero.
    epoch: Instant,
    pub(crate) limiter: Arc<dyn RateLimiter<K>>,
    observer: Option<Arc<dyn Observer>>,
    pub(crate) rearm: Notify,
    /// Tells those who drain that all is done.
    idle: Notify,
    /// How many keys have failures, so that forgetting one of a queue without any needs no lock. Written under the lock.
    failing: AtomicUsize,
}

/// The queue as one of its clones and the items that were taken through that hold it. Each clone counts its items by
/// itself: one count of all would go from core to core.
pub(crate) struct Handle<K>(Arc<Shared<K>>);

impl<K> Handle<K> {
    pub(crate) fn new(shared: Arc<Shared<K>>) -> Arc<Self> {
        Arc::new(Self(shared))
    }

    /// The handle of a new clone.
    pub(crate) fn another(&self) -> Arc<Self> {
        Self::new(self.0.clone())
    }

    pub(crate) fn downgrade(&self) -> Weak<Shared<K>> {
        Arc::downgrade(&self.0)
    }
}

impl<K> Deref for Handle<K> {
    type Target = Shared<K>;

    fn deref(&self) -> &Shared<K> {
        &self.0
    }
}

impl<K: Eq + 'static> Shared<K> {
    pub(crate) fn new(
        patience: Duration,
        limiter: Arc<dyn RateLimiter<K>>,
        observer: Option<Arc<dyn Observer>>,
    ) -> Self {
        Self {
            state: Mutex::new(State::new(patience)),
            hasher: DefaultHashBuilder::default(),
            epoch: Instant::now(),
            limiter,
            observer,
            rearm: Notify::new(),
            idle: Notify::new(),
            failing: AtomicUsize::new(0),
        }
    }

    pub(crate) fn now(&self) -> Moment {
        Moment::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(Moment::MAX)
    }

    /// `None` for a moment that the clock never reaches.
    pub(crate) fn instant(&self, moment: Moment) -> Option<Instant> {
        self.epoch.checked_add(Duration::from_nanos(moment))
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
        self.update_at(|_| now, change)
    }

    /// [`Shared::update`] at a time that depends on the state.
    fn update_at<R>(
        &self,
        time: impl FnOnce(&State<K>) -> Moment,
        change: impl FnOnce(&mut State<K>, Moment, &mut Effects) -> R,
    ) -> R {
        let mut effects = Effects::default();
        let (result, waker) = {
            let mut state = self.state.lock();
            let now = time(&state);
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

    pub(crate) fn add(&self, key: K, how: Add)
    where
        K: Hash,
    {
        let hash = self.hash(&key);
        self.update(|state, now, effects| {
            if let Some(slot) = state.admit(hash, key) {
                self.trigger(state, slot, now, how, effects);
            }
        });
    }

    /// Triggers a known key.
    pub(crate) fn trigger(&self, state: &mut State<K>, slot: Slot, now: Moment, how: Add, effects: &mut Effects) {
        if state.phase != Phase::Open {
            return;
        }
        let mut delay = how.after;
        if how.rate_limited
            && let Some((key, failures)) = state.fail(slot)
        {
            let now = self.instant(now).unwrap_or(self.epoch);
            delay = delay.max(self.limiter.delay(key, failures, now));
            self.failing.store(state.failing(), Ordering::Release);
        }
        let at = now.saturating_add(Moment::try_from(delay.as_nanos()).unwrap_or(Moment::MAX));
        state.trigger(slot, now, at, how.priority, effects);
        effects.put_off |= delay > Duration::ZERO;
    }

    /// Takes a key, or registers `waiter` for the next one and gives its id. The flag says that none will come.
    pub(crate) fn take(&self, waiter: Option<(Option<u64>, &Waker)>) -> (Option<Taken<K>>, Option<u64>, bool) {
        let (taken, id, ended) = self.update(|state, now, effects| {
            if let Some((Some(id), _)) = waiter {
                state.waiters.arrived(id);
            }
            let taken = state.take(now, effects);
            let ended = taken.is_none() && state.has_ended();
            let id = match waiter {
                Some((id, waker)) if taken.is_none() && !ended => Some(state.waiters.register(id, waker)),
                _ => None,
            };
            (taken, id, ended)
        });
        if let (Some(observer), Some(taken)) = (&self.observer, &taken) {
            observer.taken(taken.waited);
        }
        (taken, id, ended)
    }

    /// A worker is done with a key.
    pub(crate) fn done(&self, slot: Slot) {
        // Reading the clock costs as much as all the rest, and is for those who want to know how long the work took.
        let time = |state: &State<K>| match state.next_due() {
            None if self.observer.is_none() => state.last_seen(),
            _ => self.now(),
        };
        let (worked, idle, gone) = self.update_at(time, |state, now, effects| {
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
        self.forget_with(|state| state.forget(slot));
    }

    pub(crate) fn forget_key(&self, key: &K)
    where
        K: Hash,
    {
        self.forget_with(|state| state.forget_key(self.hash(key), key));
    }

    fn forget_with(&self, forget: impl FnOnce(&mut State<K>) -> Option<Arc<K>>) {
        // Who counted a failure before this began has stored that there is one.
        if self.failing.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut state = self.state.lock();
        if let Some(key) = forget(&mut state) {
            self.limiter.forget(&key);
            self.failing.store(state.failing(), Ordering::Release);
        }
    }

    pub(crate) fn failures(&self, slot: Slot) -> u32 {
        self.state.lock().failures_at(slot)
    }

    pub(crate) fn failures_of(&self, key: &K) -> u32
    where
        K: Hash,
    {
        self.state.lock().failures(self.hash(key), key)
    }

    pub(crate) fn next_due(&self) -> Option<Moment> {
        self.state.lock().next_due()
    }

    pub(crate) fn is_shutting_down(&self) -> bool {
        self.state.lock().phase != Phase::Open
    }

    pub(crate) fn len(&self) -> usize {
        self.update(|state, now, effects| {
            state.promote(now, effects);
            state.len()
        })
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        self.update(State::snapshot)
    }

    pub(crate) fn enter(&self, phase: Phase) {
        let (wakers, idle) = {
            let mut state = self.state.lock();
            (state.enter(phase), state.is_idle())
        };
        wakers.into_iter().for_each(Waker::wake);
        if idle {
            self.idle.notify_waiters();
        }
    }

    /// Waits until nothing is ready and no worker has a key.
    pub(crate) async fn wait_idle(&self) {
        loop {
            let idle = self.idle.notified();
            if self.state.lock().is_idle() {
                return;
            }
            idle.await;
        }
    }

    /// A waiter goes away. When it had been woken for a key that it doesn't take, the next one is.
    pub(crate) fn leave(&self, id: u64) {
        self.update(|state, _, _| state.waiters.arrived(id));
    }
}
