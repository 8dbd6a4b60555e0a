use std::fmt;
use std::time::Duration;

use controller_runtime_scheme::{ConversionError, GroupVersionKind, ObjectKey};
use kube_core::Status;

use crate::class::{ErrorClass, class_of};
use crate::owner::OwnerError;

/// What a request does, as RBAC names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verb {
    /// Read one object.
    Get,
    /// Read many.
    List,
    /// Follow changes.
    Watch,
    /// Make an object.
    Create,
    /// Replace an object.
    Update,
    /// Change parts of an object with a patch.
    Patch,
    /// Change parts of an object by server-side apply; RBAC calls it `patch`.
    Apply,
    /// Remove an object.
    Delete,
    /// Remove many.
    DeleteCollection,
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Apply => "apply",
            Self::Delete => "delete",
            Self::DeleteCollection => "delete the collection of",
        })
    }
}

/// What was being done, to which object. Prints like `cannot get Deployment.apps/v1 shop/web`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestInfo {
    /// What was being done.
    pub verb: Verb,
    /// The kind, as [`Kind`](controller_runtime_scheme::Kind) prints it.
    pub kind: String,
    /// The namespace, where there is one.
    pub namespace: Option<String>,
    /// The object's name; none for requests about many objects.
    pub name: Option<String>,
    /// The subresource, where it isn't the object itself.
    pub subresource: Option<String>,
}

impl RequestInfo {
    /// What is done to objects of a kind, without a namespace, a name and a subresource.
    pub fn new(verb: Verb, kind: impl Into<String>) -> Self {
        Self { verb, kind: kind.into(), namespace: None, name: None, subresource: None }
    }

    /// The object's namespace and name, for requests about one object.
    pub fn key(&self) -> Option<ObjectKey> {
        let name = self.name.clone()?;
        Some(ObjectKey { namespace: self.namespace.clone(), name })
    }
}

impl fmt::Display for RequestInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} ", self.verb)?;
        if let Some(subresource) = &self.subresource {
            write!(f, "the {subresource} of ")?;
        }
        f.write_str(&self.kind)?;
        match (self.key(), &self.namespace) {
            (Some(key), _) => write!(f, " {key}"),
            (None, Some(namespace)) => write!(f, " in namespace {namespace}"),
            (None, None) => Ok(()),
        }
    }
}

/// A request failed. [`class`](Self::class) says what can be done about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The server answered with an error.
    #[error("{request}: {}", describe(status))]
    Status {
        /// What was being done.
        request: Box<RequestInfo>,
        /// The server's answer. `code` is the HTTP status, also where the body lacked it.
        status: Box<Status>,
        /// How long the server asks to wait, from the `Retry-After` header or the status's details.
        retry_after: Option<Duration>,
    },
    /// There was no complete answer within the request's deadline. A write may have happened.
    #[error("{request}: no answer within {after:?}")]
    Timeout {
        /// What was being done.
        request: Box<RequestInfo>,
        /// The deadline.
        after: Duration,
    },
    /// The connection failed: the server is unreachable, the TLS handshake or the credentials' plugin failed, or the
    /// answer broke off. A write may have happened.
    #[error("{request}: {}", chain(source))]
    Transport {
        /// What was being done.
        request: Box<RequestInfo>,
        /// What kube-client says.
        source: Box<kube_client::Error>,
    },
    /// The answer isn't what the API promises.
    #[error("{request}: the server's answer is not understood: {source}")]
    Answer {
        /// What was being done.
        request: Box<RequestInfo>,
        /// What was wrong with it.
        source: serde_json::Error,
    },
    /// An object does not fit its Rust type, or does not serialise.
    #[error("{request}: {source}")]
    Conversion {
        /// What was being done.
        request: Box<RequestInfo>,
        /// Which object and where.
        source: Box<ConversionError>,
    },
    /// The request was not sent, because it could not succeed.
    #[error("{request}: {problem}")]
    Refused {
        /// What was being done.
        request: Box<RequestInfo>,
        /// Why it was not sent.
        problem: RequestProblem,
    },
    /// The server serves no such kind (yet).
    #[error("the server serves no kind {} of {}", kind.kind, kind.api_version())]
    UnknownKind {
        /// The kind that was looked for.
        kind: Box<GroupVersionKind>,
    },
    /// The server serves no such resource (yet).
    #[error("the server serves no resource {resource} in {group_version}")]
    UnknownResource {
        /// The name that was looked for: plural, singular or short.
        resource: String,
        /// The group and version that were looked in.
        group_version: String,
    },
    /// An owner reference could not be set.
    #[error(transparent)]
    Owner(#[from] OwnerError),
    /// The configuration for reaching the server is unusable.
    #[error("cannot build a client from the configuration: {}", chain(source))]
    Configuration {
        /// What kube-client says.
        source: Box<kube_client::Error>,
    },
}

/// Why a request was not sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestProblem {
    /// The object has no name.
    #[error("the object has no name")]
    MissingName,
    /// The name cannot be a part of a URL's path.
    #[error("{0:?} is not a valid name")]
    InvalidName(String),
    /// The kind is namespaced and no namespace is given.
    #[error("the kind is namespaced and no namespace is given")]
    MissingNamespace,
    /// The kind is cluster-scoped and a namespace is given.
    #[error("the kind is cluster-scoped and the namespace {0:?} is given")]
    UnexpectedNamespace(String),
    /// The client is bound to one namespace, and the request is about another, or about all.
    #[error("the client is bound to the namespace {0:?}")]
    OtherNamespace(String),
    /// Only metadata is known of the object: writing it whole would remove the rest.
    #[error("an object of which only metadata is known cannot be written whole: patch or apply it")]
    MetadataOnly,
    /// Apply needs a field manager.
    #[error("server-side apply needs a field manager: set one in the client's options")]
    MissingFieldManager,
    /// The change is guarded by the object's version, and the object has none.
    #[error("the object has no resourceVersion to guard the change with")]
    MissingResourceVersion,
    /// A mutation changed the object's name or namespace.
    #[error("the mutation changed the object's name or namespace to {0}")]
    Renamed(ObjectKey),
    /// Somebody else changed the same list of the status, whose items can't be told apart.
    #[error("somebody else has changed a list of the status that this change replaces")]
    ListChanged,
    /// HTTP does not allow what the request contains.
    #[error("the request is not valid HTTP: {0}")]
    Http(String),
}

impl ClientError {
    /// What can be done about it.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Status { request, status, retry_after } => match class_of(status, *retry_after) {
                ErrorClass::KindNotServed if request.subresource.is_some() => ErrorClass::SubresourceNotServed,
                class => class,
            },
            Self::Timeout { .. } => ErrorClass::Transient { retry_after: None },
            Self::Transport { source, .. } => match **source {
                kube_client::Error::Auth(_) => ErrorClass::Unauthorized,
                kube_client::Error::TlsRequired | kube_client::Error::HttpError(_) => ErrorClass::Terminal,
                _ => ErrorClass::Transient { retry_after: None },
            },
            Self::UnknownKind { .. } | Self::UnknownResource { .. } => ErrorClass::KindNotServed,
            Self::Owner(OwnerError::AlreadyOwned { .. })
            | Self::Refused { problem: RequestProblem::ListChanged, .. } => ErrorClass::Conflict,
            Self::Answer { .. }
            | Self::Conversion { .. }
            | Self::Refused { .. }
            | Self::Owner(_)
            | Self::Configuration { .. } => ErrorClass::Terminal,
        }
    }

    /// What was being done, where the error comes from a request.
    pub fn request(&self) -> Option<&RequestInfo> {
        match self {
            Self::Status { request, .. }
            | Self::Timeout { request, .. }
            | Self::Transport { request, .. }
            | Self::Answer { request, .. }
            | Self::Conversion { request, .. }
            | Self::Refused { request, .. } => Some(request),
            Self::UnknownKind { .. } | Self::UnknownResource { .. } | Self::Owner(_) | Self::Configuration { .. } => {
                None
            }
        }
    }

    /// The server's answer, where there was one.
    pub fn status(&self) -> Option<&Status> {
        match self {
            Self::Status { status, .. } => Some(status),
            _ => None,
        }
    }

    /// The object does not exist (but its kind is served).
    pub fn is_not_found(&self) -> bool {
        self.class() == ErrorClass::NotFound
    }

    /// The server does not serve the kind.
    pub fn is_kind_not_served(&self) -> bool {
        self.class() == ErrorClass::KindNotServed
    }

    /// Somebody else changed the object, or owns the field.
    pub fn is_conflict(&self) -> bool {
        self.class() == ErrorClass::Conflict
    }

    /// An object of that name exists.
    pub fn is_already_exists(&self) -> bool {
        self.class() == ErrorClass::AlreadyExists
    }

    /// The server found the object to break its kind's rules.
    pub fn is_invalid(&self) -> bool {
        self.class() == ErrorClass::Invalid
    }

    /// The identity may not do this.
    pub fn is_forbidden(&self) -> bool {
        self.class() == ErrorClass::Forbidden
    }

    /// It may work when tried again: time-outs, 429, 5xx, a failed connection.
    pub fn is_transient(&self) -> bool {
        matches!(self.class(), ErrorClass::Transient { .. })
    }

    /// Whether the server names this cause in its answer, for example `NamespaceTerminating` or
    /// `FieldManagerConflict`.
    pub fn has_cause(&self, reason: &str) -> bool {
        let details = self.status().and_then(|status| status.details.as_ref());
        details.is_some_and(|details| details.causes.iter().any(|cause| cause.reason == reason))
    }

    /// The version or the continue token is too old for the server.
    pub fn is_expired(&self) -> bool {
        self.class() == ErrorClass::Expired
    }
}

fn describe(status: &Status) -> String {
    if status.message.is_empty() {
        format!("the server answered {} {}", status.code, status.reason).trim_end().to_owned()
    } else {
        status.message.clone()
    }
}

/// An error with its sources: transports bury the cause ("connection refused") deep.
fn chain(error: &kube_client::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}
