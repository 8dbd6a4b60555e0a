use std::error::Error as StdError;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use controller_runtime_scheme::{Object, ObjectExt, ObjectKey};

use crate::class::{Classify, ErrorClass};
use crate::error::ClientError;
use crate::finalizer::{add_finalizer, has_finalizer, remove_finalizer};

/// The error of a function that finalizes.
pub type FinalizerError = Box<dyn StdError + Send + Sync>;

/// How far a finalizer is with an object that is being deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finalization {
    /// All is cleaned up: the finalizer can go.
    Done,
    /// It is under way: the finalizer stays, and the function is asked again at the next reconcile.
    Pending,
}

/// Several finalizers of one kind, each with the function that cleans up after it.
///
/// [`Api::finalize`](crate::Api::finalize) adds those that are missing to an object that lives, and runs their
/// functions, one after the other in the order in which they were registered, when it is being deleted. Deletion goes
/// on when all are gone. A function may be called again after it was done, because the write that removes its finalizer
/// can fail: it must bear that.
///
/// ```
/// use std::sync::Arc;
///
/// use controller_runtime_client::{Client, Finalization, FinalizeError, Finalizers};
/// use controller_runtime_scheme::Kind;
/// use k8s_openapi::api::core::v1::ConfigMap;
///
/// async fn settle(client: &Client, object: &ConfigMap) -> Result<(), FinalizeError> {
///     let finalizers = Finalizers::new()
///         .register("example.com/bucket", |object: Arc<ConfigMap>| async move {
///             println!("removing the bucket of {:?}", object.metadata.name);
///             Ok(Finalization::Done)
///         });
///     let (object, changes) = client.api(Kind::typed()).finalize(object, &finalizers).await?;
///     println!("{:?} {:?}", object.metadata.name, changes.removed);
///     Ok(())
/// }
/// ```
pub struct Finalizers<K> {
    entries: Vec<(String, Run<K>)>,
}

type Run<K> =
    Box<dyn Fn(Arc<K>) -> Pin<Box<dyn Future<Output = Result<Finalization, FinalizerError>> + Send>> + Send + Sync>;

/// What [`Finalizers`] did to an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finalized {
    /// The finalizers that were added.
    pub added: Vec<String>,
    /// Those that are done and were removed.
    pub removed: Vec<String>,
    /// Those that are still under way.
    pub pending: Vec<String>,
}

impl Finalized {
    /// Whether the object's finalizers changed.
    pub fn is_changed(&self) -> bool {
        !self.added.is_empty() || !self.removed.is_empty()
    }
}

/// Some finalizers failed, or their removal could not be written. The class is that of the write's error, else that a
/// retry may help.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FinalizeError {
    /// Functions failed. What the others did has been written.
    #[error("cannot finalize {key}: {}", in_words(failures))]
    Failed {
        /// The object.
        key: ObjectKey,
        /// The finalizers whose functions failed, with their errors.
        failures: Vec<(String, FinalizerError)>,
        /// What was done nevertheless.
        done: Finalized,
    },
    /// The object's finalizers could not be written.
    #[error("{0}")]
    Client(#[from] ClientError),
}

impl Classify for FinalizeError {
    fn class(&self) -> ErrorClass {
        match self {
            Self::Failed { .. } => ErrorClass::Transient { retry_after: None },
            Self::Client(error) => error.class(),
        }
    }

    fn is_stale_write(&self) -> bool {
        matches!(self, Self::Client(error) if error.is_stale_write())
    }
}

fn in_words(failures: &[(String, FinalizerError)]) -> String {
    let each: Vec<_> = failures.iter().map(|(name, error)| format!("{name}: {error}")).collect();
    each.join("; ")
}

/// What came of running the finalizers in memory.
pub(crate) struct Outcome {
    pub(crate) done: Finalized,
    pub(crate) failures: Vec<(String, FinalizerError)>,
}

impl<K: Object> Finalizers<K> {
    /// None yet.
    pub fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// Adds a finalizer and the function that cleans up after it. The API wants names with a domain, such as
    /// `example.com/bucket`. One that is registered already is replaced.
    #[must_use]
    pub fn register<F>(
        mut self,
        name: impl Into<String>,
        clean_up: impl Fn(Arc<K>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Finalization, FinalizerError>> + Send + 'static,
    {
        let name = name.into();
        let run: Run<K> = Box::new(move |object| Box::pin(clean_up(object)));
        match self.entries.iter_mut().find(|(registered, _)| *registered == name) {
            Some(entry) => entry.1 = run,
            None => self.entries.push((name, run)),
        }
        self
    }

    /// The names, in the order in which they were registered.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| name.as_str())
    }

    /// Adds or runs the finalizers; what changes, changes in `object` only.
    pub(crate) async fn run(&self, object: &mut K) -> Outcome {
        let mut outcome = Outcome { done: Finalized::default(), failures: Vec::new() };
        if !object.is_deleting() {
            for name in self.names() {
                if add_finalizer(object, name) {
                    outcome.done.added.push(name.to_owned());
                }
            }
            return outcome;
        }
        let last = Arc::new(object.clone());
        for (name, run) in &self.entries {
            if !has_finalizer(object, name) {
                continue;
            }
            match run(last.clone()).await {
                Ok(Finalization::Done) => {
                    remove_finalizer(object, name);
                    outcome.done.removed.push(name.clone());
                }
                Ok(Finalization::Pending) => outcome.done.pending.push(name.clone()),
                Err(error) => outcome.failures.push((name.clone(), error)),
            }
        }
        outcome
    }
}

impl<K: Object> Default for Finalizers<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> fmt::Debug for Finalizers<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries.iter().map(|(name, _)| name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use k8s_openapi::api::core::v1::ConfigMap;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
    use parking_lot::Mutex;

    use super::{Finalization, Finalizers};

    fn object(finalizers: &[&str], deleting: bool) -> ConfigMap {
        let finalizers = finalizers.iter().map(|&name| name.to_owned()).collect();
        let deletion_timestamp = deleting.then_some(Time(jiff::Timestamp::UNIX_EPOCH));
        let metadata = ObjectMeta { finalizers: Some(finalizers), deletion_timestamp, ..ObjectMeta::default() };
        ConfigMap { metadata, ..ConfigMap::default() }
    }

    #[tokio::test]
    async fn an_object_that_lives_gets_what_it_lacks() {
        let done = |_: Arc<ConfigMap>| async { Ok(Finalization::Done) };
        let finalizers =
            Finalizers::new().register("a.dev/1", done).register("a.dev/2", done).register("a.dev/1", done);
        assert_eq!(finalizers.names().collect::<Vec<_>>(), ["a.dev/1", "a.dev/2"]);
        let mut lives = object(&["a.dev/2", "b.dev/x"], false);
        let outcome = finalizers.run(&mut lives).await;
        assert_eq!(outcome.done.added, ["a.dev/1"]);
        assert!(outcome.done.is_changed() && outcome.failures.is_empty());
        assert_eq!(lives.metadata.finalizers.as_ref().unwrap(), &["a.dev/2", "b.dev/x", "a.dev/1"]);
        assert!(!finalizers.run(&mut lives).await.done.is_changed());
    }

    #[tokio::test]
    async fn an_object_that_goes_loses_what_is_done() {
        let ran = Arc::new(Mutex::new(Vec::new()));
        let note = |name: &'static str, result: Result<Finalization, &'static str>| {
            let ran = ran.clone();
            move |_: Arc<ConfigMap>| {
                ran.lock().push(name);
                let result = result.map_err(Into::into);
                async move { result }
            }
        };
        let finalizers = Finalizers::new()
            .register("a.dev/done", note("done", Ok(Finalization::Done)))
            .register("a.dev/waits", note("waits", Ok(Finalization::Pending)))
            .register("a.dev/absent", note("absent", Ok(Finalization::Done)))
            .register("a.dev/fails", note("fails", Err("no")));
        let mut goes = object(&["b.dev/x", "a.dev/fails", "a.dev/waits", "a.dev/done"], true);
        let outcome = finalizers.run(&mut goes).await;
        assert_eq!(*ran.lock(), ["done", "waits", "fails"]);
        assert_eq!(outcome.done.removed, ["a.dev/done"]);
        assert_eq!(outcome.done.pending, ["a.dev/waits"]);
        assert_eq!(outcome.failures.len(), 1);
        assert_eq!(goes.metadata.finalizers.unwrap(), ["b.dev/x", "a.dev/fails", "a.dev/waits"]);
    }
}
