use std::collections::BTreeMap;

use controller_runtime_client::Selector;
use controller_runtime_scheme::ObjectKey;
use tokio::time::Instant;

/// What is known of a write of ours, as far as reads must see it.
#[derive(Clone, Debug)]
pub(crate) enum Write {
    /// The object is in this version.
    Object(Written),
    /// The object with this uid is gone.
    Gone { key: ObjectKey, uid: String },
    /// Nobody knows what became of it, or whether the cache knows what the server does: the server must be asked.
    Unsure(Target),
}

/// An object as the server answered it.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) key: ObjectKey,
    pub(crate) uid: Option<String>,
    pub(crate) version: String,
    pub(crate) labels: BTreeMap<String, String>,
    /// When the write began.
    pub(crate) began: Instant,
}

/// What a write is about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Target {
    Object(ObjectKey),
    /// Any objects of the namespace (of all, if none) that have the labels.
    Objects {
        namespace: Option<String>,
        labels: Selector,
    },
}

impl Target {
    pub(crate) fn namespace(&self) -> Option<&str> {
        match self {
            Self::Object(key) => key.namespace.as_deref(),
            Self::Objects { namespace, .. } => namespace.as_deref(),
        }
    }
}

impl Write {
    pub(crate) fn target(&self) -> Target {
        match self {
            Self::Object(Written { key, .. }) | Self::Gone { key, .. } => Target::Object(key.clone()),
            Self::Unsure(target) => target.clone(),
        }
    }
}

/// What a read asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ask<'a> {
    Object(&'a ObjectKey),
    /// The objects of the namespace; of all, if none.
    Objects(Option<&'a str>),
}

impl<'a> Ask<'a> {
    pub(crate) fn namespace(self) -> Option<&'a str> {
        match self {
            Self::Object(key) => key.namespace.as_deref(),
            Self::Objects(namespace) => namespace,
        }
    }

    /// Whether a write to the target can change the answer.
    pub(crate) fn concerns(self, target: &Target) -> bool {
        let meet = |a: Option<&str>, b: Option<&str>| a.is_none() || b.is_none() || a == b;
        match (self, target) {
            (Self::Object(asked), Target::Object(key)) => asked == key,
            (ask, target) => meet(ask.namespace(), target.namespace()),
        }
    }
}
