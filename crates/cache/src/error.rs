use std::time::Duration;

use controller_runtime_client::{Classify, ClientError, ErrorClass, Verb};
use controller_runtime_scheme::ObjectKey;

/// A read from the cache failed, or a write through the [`DelegatingClient`](crate::DelegatingClient).
///
/// Only [`NotFound`](Self::NotFound) says that an object does not exist; everything else says that the cache can't
/// tell.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// The object does not exist.
    #[error("{kind} {key} is not found")]
    NotFound {
        /// The kind.
        kind: String,
        /// The object.
        key: ObjectKey,
    },
    /// The object exists, and what the server has of it does not fit its type.
    #[error("cannot read {kind} {key} from the cache: it does not fit its type")]
    Undecodable {
        /// The kind.
        kind: String,
        /// The object.
        key: ObjectKey,
    },
    /// Nobody runs the cache yet.
    #[error("cannot read {kind} from the cache: the cache is not started")]
    NotStarted {
        /// The kind.
        kind: String,
    },
    /// Nobody has asked for an informer of the kind, and reads must not start one
    /// ([`reads_start_informers`](crate::CacheOptions::reads_start_informers)).
    #[error("cannot read {kind} from the cache: it has no informer, and reads start none")]
    NoInformer {
        /// The kind.
        kind: String,
    },
    /// The informer was taken out of the cache. A [`Reader`](crate::Reader) starts a new one.
    #[error("the informer of {kind} was removed from the cache")]
    Removed {
        /// The kind.
        kind: String,
    },
    /// The server does not let the cache list or watch.
    #[error(transparent)]
    Forbidden(Denial),
    /// The kind's cache is bounded and does not know what it doesn't hold.
    #[error("cannot list {kind} from the cache: it is bounded and does not hold all objects; list from the server")]
    ListRefused {
        /// The kind.
        kind: String,
    },
    /// The cache was stopped before it had what was asked for.
    #[error("cannot read {kind} from the cache: the cache is stopped")]
    Stopped {
        /// The kind.
        kind: String,
    },
    /// [`Cache::run`](crate::Cache::run) was called a second time.
    #[error("the cache has been started before")]
    AlreadyStarted,
    /// The first list did not succeed in time.
    #[error("timed out waiting for cache of {kind} after {after:?}{}", last.as_ref().map(|last| format!(": {last}")).unwrap_or_default())]
    SyncTimeout {
        /// The kind.
        kind: String,
        /// How long was waited.
        after: Duration,
        /// The last failure of the list.
        last: Option<String>,
    },
    /// The server does not serve the kind, for example because its CRD isn't installed. The cache goes on trying.
    #[error("timed out waiting for cache of {kind} after {after:?}: the server does not serve the kind")]
    KindNotServed {
        /// The kind.
        kind: String,
        /// How long was waited.
        after: Duration,
    },
    /// The cache has not seen an earlier write in time.
    #[error("the cache of {kind} has not seen our last write within {after:?}")]
    Stale {
        /// The kind.
        kind: String,
        /// How long was waited.
        after: Duration,
    },
    /// Nobody knows what became of an earlier write, and the server could not be asked.
    #[error("cannot tell whether the cache of {kind} shows our last write: {source}")]
    UnknownOutcome {
        /// The kind.
        kind: String,
        /// Why the server could not be asked.
        source: ClientError,
    },
    /// The cache does not hold the namespace.
    #[error("unknown namespace for the cache: {namespace:?}, asked for {kind}")]
    UnknownNamespace {
        /// The kind.
        kind: String,
        /// The namespace.
        namespace: String,
    },
    /// A namespaced kind needs a namespace, a cluster-scoped one has none.
    #[error("{key} cannot be the key of a {kind}: {}", if *namespaced { "the kind is namespaced" } else { "the kind is cluster-scoped" })]
    WrongScope {
        /// The kind.
        kind: String,
        /// The key.
        key: ObjectKey,
        /// Whether the kind is namespaced.
        namespaced: bool,
    },
    /// The namespace of a list can't be meant: objects of a cluster-scoped kind have none, and an empty name is none.
    #[error("cannot list {kind} in namespace {namespace:?}: {}", if namespace.is_empty() { "the name is empty" } else { "the kind is cluster-scoped" })]
    WrongNamespace {
        /// The kind.
        kind: String,
        /// The namespace.
        namespace: String,
    },
    /// No index has the name.
    #[error("the cache of {kind} has no index {index:?}")]
    MissingIndex {
        /// The kind.
        kind: String,
        /// The index.
        index: String,
    },
    /// The cache can't answer the field selector.
    #[error("the cache of {kind} cannot select by fields: {reason}")]
    FieldSelector {
        /// The kind.
        kind: String,
        /// What of the selector it is, and why.
        reason: String,
    },
    /// An index of the name exists.
    #[error("the cache of {kind} has an index {index:?} already")]
    IndexExists {
        /// The kind.
        kind: String,
        /// The index.
        index: String,
    },
    /// The request to the server failed.
    #[error(transparent)]
    Client(#[from] ClientError),
}

/// What the server does not let the cache do, in the words of RBAC.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the cache of {kind} may not {verb} {resource}{}: {message}", namespace.as_ref().map(|name| format!(" in namespace {name}")).unwrap_or_default())]
#[non_exhaustive]
pub struct Denial {
    /// The kind.
    pub kind: String,
    /// What was refused.
    pub verb: Verb,
    /// The resource: its plural, with its group where it has one.
    pub resource: String,
    /// The namespace; none for all, and for a cluster-scoped kind.
    pub namespace: Option<String>,
    /// What the server says.
    pub message: String,
}

impl CacheError {
    /// What can be done about it.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::NotFound { .. } => ErrorClass::NotFound,
            Self::KindNotServed { .. } => ErrorClass::KindNotServed,
            Self::Forbidden(_) => ErrorClass::Forbidden,
            Self::SyncTimeout { .. }
            | Self::Removed { .. }
            | Self::Stale { .. }
            | Self::Stopped { .. }
            | Self::NotStarted { .. } => ErrorClass::Transient { retry_after: None },
            Self::UnknownOutcome { source: error, .. } | Self::Client(error) => error.class(),
            Self::Undecodable { .. }
            | Self::AlreadyStarted
            | Self::UnknownNamespace { .. }
            | Self::WrongScope { .. }
            | Self::MissingIndex { .. }
            | Self::FieldSelector { .. }
            | Self::WrongNamespace { .. }
            | Self::ListRefused { .. }
            | Self::NoInformer { .. }
            | Self::IndexExists { .. } => ErrorClass::Terminal,
        }
    }

    /// The object does not exist.
    pub fn is_not_found(&self) -> bool {
        self.class() == ErrorClass::NotFound
    }

    /// Somebody else changed the object.
    pub fn is_conflict(&self) -> bool {
        self.class() == ErrorClass::Conflict
    }
}

impl Classify for CacheError {
    fn class(&self) -> ErrorClass {
        Self::class(self)
    }

    fn is_stale_write(&self) -> bool {
        matches!(self, Self::Client(error) if error.is_stale_write())
    }
}
