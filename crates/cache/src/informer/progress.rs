use std::pin::pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use controller_runtime_client::ClientError;
use controller_runtime_scheme::{ApiResource, Kind, Object};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::error::CacheError;
use crate::informer::scope::{Failure, Scope};

/// Where an informer is in its life, and how far its lists and watches are.
#[derive(Debug)]
pub(crate) struct Progress {
    kind: String,
    /// The plural, with the group where there is one.
    resource: String,
    scopes: Vec<Scope>,
    phase: AtomicU8,
    changed: Notify,
}

/// Where an informer is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Phase {
    /// Nobody runs the cache yet.
    Waiting = 0,
    Running = 1,
    /// The cache has ended.
    Stopped = 2,
    /// Somebody took it out of the cache.
    Removed = 3,
}

impl Progress {
    pub(crate) fn new<K: Object>(kind: &Kind<K>, scopes: Vec<Scope>) -> Self {
        let ApiResource { group, plural, .. } = kind.resource();
        let resource = if group.is_empty() { plural.clone() } else { format!("{plural}.{group}") };
        let kind = kind.to_string();
        Self { kind, resource, scopes, phase: AtomicU8::new(Phase::Waiting as u8), changed: Notify::new() }
    }

    pub(crate) fn scopes(&self) -> &[Scope] {
        &self.scopes
    }

    pub(crate) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Waiting,
            1 => Phase::Running,
            2 => Phase::Stopped,
            _ => Phase::Removed,
        }
    }

    /// What was removed stays so.
    pub(crate) fn set_phase(&self, phase: Phase) {
        self.phase.fetch_max(phase as u8, Ordering::AcqRel);
        self.changed.notify_waiters();
    }

    /// Somebody who waits should look again.
    pub(crate) fn notify(&self) {
        self.changed.notify_waiters();
    }

    pub(crate) fn failed(&self, scope: &Scope, error: &ClientError) {
        scope.failed(error, &self.kind, &self.resource);
        self.changed.notify_waiters();
    }

    pub(crate) fn has_synced(&self) -> bool {
        self.scopes.iter().all(Scope::is_synced)
    }

    /// Why it will not go on, if so.
    pub(crate) fn ended(&self) -> Option<CacheError> {
        let kind = self.kind.clone();
        match self.phase() {
            Phase::Waiting | Phase::Running => None,
            Phase::Stopped => Some(CacheError::Stopped { kind }),
            Phase::Removed => Some(CacheError::Removed { kind }),
        }
    }

    /// Waits until all first lists have come. What the server forbids isn't waited for.
    pub(crate) async fn wait_for_sync(&self, within: Duration) -> Result<(), CacheError> {
        let missing = || self.scopes.iter().filter(|scope| !scope.is_synced());
        let forbidden = || missing().find_map(Scope::denial);
        self.until(within, || self.has_synced() || self.ended().is_some() || forbidden().is_some()).await;
        if self.has_synced() {
            return Ok(());
        }
        let kind = self.kind.clone();
        Err(match (self.ended(), forbidden(), self.phase()) {
            (Some(ended), ..) => ended,
            (None, Some(denied), _) => CacheError::Forbidden(denied),
            (None, None, Phase::Waiting) => CacheError::NotStarted { kind },
            (None, None, _) => match missing().find_map(Scope::failure) {
                Some(Failure::KindNotServed) => CacheError::KindNotServed { kind, after: within },
                Some(Failure::Other(last)) => CacheError::SyncTimeout { kind, after: within, last: Some(last) },
                Some(Failure::Forbidden(_)) | None => CacheError::SyncTimeout { kind, after: within, last: None },
            },
        })
    }

    /// Waits until something is true, or for this long.
    pub(crate) async fn until(&self, within: Duration, ready: impl Fn() -> bool) {
        if ready() {
            return;
        }
        let wait = async {
            loop {
                let mut changed = pin!(self.changed.notified());
                changed.as_mut().enable();
                if ready() {
                    return;
                }
                changed.await;
            }
        };
        // The caller looks itself at what is true now.
        let _ = timeout(within, wait).await;
    }
}
