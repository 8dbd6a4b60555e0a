use serde_json::Value;

use crate::metadata::fields;
use crate::resource::Resource;
use crate::verbs::{Call, DeleteOptions};

/// What is done with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Update,
    Delete,
}

impl Operation {
    /// As rules and reviews name it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}

/// One write, as webhooks see it.
#[derive(Debug)]
pub(super) struct Attributes<'a> {
    pub(super) call: &'a Call,
    pub(super) operation: Operation,
    pub(super) name: String,
    pub(super) namespace: String,
    /// The object as it would be; none for a deletion.
    pub(super) object: Option<&'a Value>,
    /// The object as it is; none for a creation.
    pub(super) old: Option<&'a Value>,
    pub(super) dry_run: bool,
    /// The kind of the request's options.
    pub(super) options: &'static str,
    /// What a deletion asks for.
    pub(super) delete_options: Option<&'a DeleteOptions>,
}

impl<'a> Attributes<'a> {
    pub(super) fn new(
        call: &'a Call,
        operation: Operation,
        object: Option<&'a Value>,
        old: Option<&'a Value>,
        dry_run: bool,
        options: &'static str,
    ) -> Self {
        let name = call.name.clone().or_else(|| object.map(|object| fields::text(object, "name").to_owned()));
        Self {
            call,
            operation,
            name: name.unwrap_or_default(),
            namespace: call.namespace.clone(),
            object,
            old,
            dry_run,
            options,
            delete_options: None,
        }
    }
}

/// Webhooks and policies are not asked about themselves: nobody could remove one that refuses everything.
pub(super) fn is_exempt(resource: &Resource) -> bool {
    resource.group == "admissionregistration.k8s.io"
}
