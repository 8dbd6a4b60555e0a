use std::time::Duration;

use kube_core::{Expression, Selector};

/// What the server does about unknown or duplicate fields of what is written (KEP-2885).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldValidation {
    /// Drops them silently.
    Ignore,
    /// Drops them and answers with a warning.
    Warn,
    /// Refuses the write.
    Strict,
}

impl FieldValidation {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Ignore => "Ignore",
            Self::Warn => "Warn",
            Self::Strict => "Strict",
        }
    }
}

/// How old the data of a list may be (Kubernetes API concepts, "resource versions").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResourceVersionMatch {
    /// As of exactly the version.
    Exact,
    /// The version or a newer one.
    NotOlderThan,
}

impl ResourceVersionMatch {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "Exact",
            Self::NotOlderThan => "NotOlderThan",
        }
    }
}

/// Which objects to list, and how.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ListOptions {
    /// Only objects of this namespace. Default: of all.
    pub namespace: Option<String>,
    /// Only objects whose labels match. Default: all.
    pub labels: Selector,
    /// Only objects whose fields match, for example `metadata.name=web`. Which fields a kind allows is the server's
    /// decision; CRDs name theirs in `selectableFields`. Default: all.
    pub fields: Option<String>,
    /// At most so many objects in one answer. Default: everything, read in pages of 500.
    pub limit: Option<u32>,
    /// Continue where an earlier, limited list ended.
    pub continue_token: Option<String>,
    /// How new the data must be. Default: the newest.
    pub resource_version: Option<String>,
    /// What `resource_version` means. Default: the server's default for the request.
    pub resource_version_match: Option<ResourceVersionMatch>,
}

impl ListOptions {
    /// All objects of all namespaces.
    pub fn all() -> Self {
        Self::default()
    }

    /// All objects of one namespace.
    pub fn in_namespace(namespace: impl Into<String>) -> Self {
        Self { namespace: Some(namespace.into()), ..Self::default() }
    }

    /// Adds to the label selector.
    #[must_use]
    pub fn labels(mut self, selector: impl Into<Selector>) -> Self {
        self.labels.extend(selector.into());
        self
    }

    /// Adds `key=value` to the label selector.
    #[must_use]
    pub fn label(self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels(Expression::Equal(key.into(), value.into()))
    }

    /// Sets the field selector.
    #[must_use]
    pub fn fields(mut self, selector: impl Into<String>) -> Self {
        self.fields = Some(selector.into());
        self
    }

    /// Continues where an earlier, limited list ended ([`List::continue_token`](crate::List::continue_token)).
    #[must_use]
    pub fn continue_from(mut self, token: impl Into<String>) -> Self {
        self.continue_token = Some(token.into());
        self
    }

    /// Sets how many objects an answer holds at most.
    #[must_use]
    pub fn limit(mut self, limit: u32) -> Self {
        self.limit = Some(limit);
        self
    }
}

/// Which changes to watch, and from where.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct WatchOptions {
    /// Only objects of this namespace. Default: of all.
    pub namespace: Option<String>,
    /// Only objects whose labels match. Default: all.
    pub labels: Selector,
    /// Only objects whose fields match. Default: all.
    pub fields: Option<String>,
    /// The version to start after. Default: the newest, with an event for each existing object first.
    pub resource_version: Option<String>,
    /// How long the server keeps the watch open at most. Default: the server's choice.
    pub timeout: Option<Duration>,
    /// Whether the server sends its current version now and then. Default: no.
    pub bookmarks: bool,
    /// Whether the watch starts with the existing objects and a bookmark after them (KEP-3157). Default: no.
    pub send_initial_events: bool,
}

/// Who deletes the objects that an object owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Propagation {
    /// The garbage collector, after the object is gone.
    Background,
    /// The garbage collector, before the object goes.
    Foreground,
    /// Nobody: they lose their owner.
    Orphan,
}

impl Propagation {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Background => "Background",
            Self::Foreground => "Foreground",
            Self::Orphan => "Orphan",
        }
    }
}

/// How to delete.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DeleteOptions {
    /// Who deletes what the object owns. Default: the kind's default, for nearly all kinds the garbage collector in
    /// the background.
    pub propagation: Option<Propagation>,
    /// How long the object may take to end, for kinds that do (Pods). Default: the object's own.
    pub grace_period_seconds: Option<u32>,
    /// Only the object with this uid; another one is a conflict.
    pub uid: Option<String>,
    /// Only the object in this version; another one is a conflict.
    pub resource_version: Option<String>,
}

impl DeleteOptions {
    /// The defaults: no precondition.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets who deletes what the object owns.
    #[must_use]
    pub fn propagation(mut self, propagation: Propagation) -> Self {
        self.propagation = Some(propagation);
        self
    }

    /// Sets how long the object may take to end.
    #[must_use]
    pub fn grace_period(mut self, seconds: u32) -> Self {
        self.grace_period_seconds = Some(seconds);
        self
    }

    /// Deletes only the object with this uid.
    #[must_use]
    pub fn uid(mut self, uid: impl Into<String>) -> Self {
        self.uid = Some(uid.into());
        self
    }

    /// Deletes only the object in this version.
    #[must_use]
    pub fn resource_version(mut self, version: impl Into<String>) -> Self {
        self.resource_version = Some(version.into());
        self
    }
}

/// How writes are made; a [`Client`](crate::Client) carries it.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteOptions {
    pub(crate) dry_run: bool,
    pub(crate) field_manager: Option<String>,
    pub(crate) field_validation: Option<FieldValidation>,
    /// Apply reports a conflict instead of taking over fields.
    pub(crate) keep_conflicts: bool,
}
