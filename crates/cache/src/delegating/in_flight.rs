use controller_runtime_client::{ClientError, ErrorClass};
use controller_runtime_scheme::ApiResource;
use tokio::time::Instant;

use crate::cache::Cache;
use crate::informer::{Target, Write};

/// A write that is under way. Unless its outcome is told, reads after it ask the server what became of it: a future
/// that is dropped, or times out, may have written.
pub(super) struct InFlight<'a> {
    cache: &'a Cache,
    resource: &'a ApiResource,
    /// None once the outcome is told, and for dry runs, which write nothing.
    target: Option<Target>,
    began: Instant,
}

impl<'a> InFlight<'a> {
    pub(super) fn new(cache: &'a Cache, resource: &'a ApiResource, target: Option<Target>) -> Self {
        Self { cache, resource, target, began: Instant::now() }
    }

    /// When it began.
    pub(super) fn began(&self) -> Instant {
        self.began
    }

    /// It was answered so.
    pub(super) fn wrote(mut self, write: &Write) {
        if self.target.take().is_some() {
            self.cache.wrote(self.resource, write);
        }
    }

    /// It was answered, and the answer does not say what the object is now.
    pub(super) fn wrote_somehow(self) {
        drop(self);
    }

    /// Nothing was written.
    pub(super) fn did_nothing(mut self) {
        self.target = None;
    }

    /// It failed so.
    pub(super) fn failed(self, error: &ClientError) {
        if tells_nothing_new(error) {
            self.did_nothing();
        }
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        if let Some(target) = self.target.take() {
            self.cache.wrote(self.resource, &Write::Unsure(target));
        }
    }
}

/// Whether the error says for sure that nothing was written, and nothing about the object that the cache may lack.
///
/// A conflict, an object that exists already, and one that isn't found do tell something: whoever reads again must see
/// what the server saw, or the same decision fails the same way.
fn tells_nothing_new(error: &ClientError) -> bool {
    match error {
        ClientError::Status { status, .. } => match error.class() {
            ErrorClass::Conflict => error.has_cause("FieldManagerConflict"),
            ErrorClass::AlreadyExists | ErrorClass::NotFound => false,
            _ => (400..500).contains(&status.code) && status.code != 408,
        },
        ClientError::Refused { .. }
        | ClientError::UnknownKind { .. }
        | ClientError::Owner(_)
        | ClientError::Configuration { .. } => true,
        _ => false,
    }
}
