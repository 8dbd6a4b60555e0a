use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use controller_runtime_client::{ClientError, ErrorClass};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::error::Denial;
use crate::options::Plan;

/// What one reflector of an informer covers, a namespace or everything, and how far it is.
///
/// Versions of one resource on one server are comparable numbers (KEP-5504). Zero stands for "none" and for a version
/// that isn't a number.
#[derive(Debug)]
pub(crate) struct Scope {
    pub(crate) plan: Plan,
    synced: AtomicBool,
    seen: AtomicU64,
    written: AtomicU64,
    written_at: Mutex<Option<Instant>>,
    /// Whether there is a failure, so that nobody locks when there is none.
    failing: AtomicBool,
    failure: Mutex<Option<Failure>>,
}

/// Why the last list or watch failed.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    KindNotServed,
    Forbidden(Denial),
    Other(String),
}

impl Scope {
    pub(crate) fn new(plan: Plan) -> Self {
        Self {
            plan,
            synced: AtomicBool::new(false),
            seen: AtomicU64::new(0),
            written: AtomicU64::new(0),
            written_at: Mutex::new(None),
            failing: AtomicBool::new(false),
            failure: Mutex::new(None),
        }
    }

    /// The only namespace it has; none for more than one, and for a cluster-scoped kind.
    pub(crate) fn namespace(&self) -> Option<&str> {
        self.plan.namespace.as_deref()
    }

    /// Whether it has anything of the namespace, or, without one, at all.
    pub(crate) fn covers(&self, namespace: Option<&str>) -> bool {
        self.plan.covers(namespace)
    }

    pub(crate) fn is_synced(&self) -> bool {
        self.synced.load(Ordering::Acquire)
    }

    pub(crate) fn set_synced(&self) {
        self.synced.store(true, Ordering::Release);
        self.works();
    }

    /// The cache is as new as this version.
    pub(crate) fn advance(&self, version: &str) {
        self.seen.fetch_max(number(Some(version)), Ordering::AcqRel);
        self.works();
    }

    /// The version that the cache is as new as; zero before the first list.
    pub(crate) fn seen(&self) -> u64 {
        self.seen.load(Ordering::Acquire)
    }

    /// The last list or watch did not fail.
    fn works(&self) {
        if self.failing.swap(false, Ordering::AcqRel) {
            *self.failure.lock() = None;
        }
    }

    /// A list that began then shows this version. It may be lower than before, when the server was restored from a
    /// backup; what was written before the list began is in it, whatever its number.
    pub(crate) fn listed(&self, version: &str, began: Instant) {
        self.seen.store(number(Some(version)), Ordering::Release);
        let mut written_at = self.written_at.lock();
        if written_at.is_some_and(|at| at < began) {
            *written_at = None;
            self.written.store(0, Ordering::Release);
        }
    }

    /// There is this version of something that it covers.
    pub(crate) fn wrote(&self, version: u64) {
        let mut written_at = self.written_at.lock();
        *written_at = Some(Instant::now());
        self.written.fetch_max(version, Ordering::AcqRel);
    }

    pub(crate) fn is_caught_up(&self) -> bool {
        self.seen.load(Ordering::Acquire) >= self.written.load(Ordering::Acquire)
    }

    /// A list or watch of the resource failed.
    pub(crate) fn failed(&self, error: &ClientError, kind: &str, resource: &str) {
        let failure = match (error.class(), error.request()) {
            (ErrorClass::KindNotServed, _) => Failure::KindNotServed,
            (ErrorClass::Forbidden, Some(request)) => Failure::Forbidden(Denial {
                kind: kind.to_owned(),
                verb: request.verb,
                resource: resource.to_owned(),
                namespace: request.namespace.clone(),
                message: error.status().map_or_else(|| error.to_string(), |status| status.message.clone()),
            }),
            _ => Failure::Other(error.to_string()),
        };
        *self.failure.lock() = Some(failure);
        self.failing.store(true, Ordering::Release);
    }

    /// What the server forbids, if that is why nothing comes.
    pub(crate) fn denial(&self) -> Option<Denial> {
        match self.failure()? {
            Failure::Forbidden(denial) => Some(denial),
            _ => None,
        }
    }

    pub(crate) fn failure(&self) -> Option<Failure> {
        if self.failing.load(Ordering::Acquire) { self.failure.lock().clone() } else { None }
    }
}

pub(crate) fn number(version: Option<&str>) -> u64 {
    version.and_then(|version| version.parse().ok()).unwrap_or(0)
}
