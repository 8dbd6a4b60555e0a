use std::collections::BTreeMap;

use controller_runtime_schema::{FieldError, FieldPath};

use super::{Call, view};
use crate::pipeline::query::{Query, unsigned};
use crate::resource::Resource;
use crate::selector::{FieldSelector, LabelSelector};
use crate::status::{ApiError, quote};
use crate::store::{Object, RevisionError};

/// How the revision of a list or watch is to be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RevisionMatch {
    /// The parameter is absent.
    Unset,
    /// This revision or any newer one.
    NotOlderThan,
    /// Exactly this revision.
    Exact,
}

/// What the parameters of a list, watch or deletecollection ask for.
#[derive(Clone, Debug)]
pub(super) struct ListOptions {
    pub(super) selection: Selection,
    /// `None` when absent.
    pub(super) revision: Option<u64>,
    pub(super) revision_match: RevisionMatch,
    pub(super) limit: usize,
    pub(super) continue_token: String,
    pub(super) timeout_seconds: Option<u64>,
    pub(super) bookmarks: bool,
    pub(super) send_initial_events: Option<bool>,
}

/// Which objects are wanted, by labels and fields.
#[derive(Clone, Debug, Default)]
pub(super) struct Selection {
    labels: LabelSelector,
    fields: FieldSelector,
}

impl ListOptions {
    /// Reads the parameters; `watch` says for which verb.
    pub(super) fn of(call: &Call, watch: bool) -> Result<Self, ApiError> {
        let query = &call.query;
        let mut fields = FieldSelector::parse(query.text("fieldSelector")).map_err(ApiError::bad_request)?;
        check_fields(&call.resource, &fields)?;
        if let Some(name) = &call.name {
            fields.require("metadata.name", name);
        }
        let labels = LabelSelector::parse(query.text("labelSelector")).map_err(ApiError::bad_request)?;
        let limit = query.number("limit")?.unwrap_or_default();
        let timeout = query.number("timeoutSeconds")?;
        let send_initial_events = query.optional_flag("sendInitialEvents");
        let revision_match = check_match(query, watch, send_initial_events)?;
        Ok(Self {
            selection: Selection { labels, fields },
            revision: revision_in(query, watch)?,
            revision_match,
            limit: usize::try_from(limit).unwrap_or_default(),
            continue_token: query.text("continue").to_owned(),
            timeout_seconds: timeout.and_then(|seconds| u64::try_from(seconds).ok()),
            bookmarks: query.flag("allowWatchBookmarks"),
            send_initial_events,
        })
    }
}

impl Selection {
    /// Whether every object is wanted.
    pub(super) fn is_everything(&self) -> bool {
        self.labels.is_everything() && self.fields.is_everything()
    }

    /// Whether the object is wanted.
    pub(super) fn matches(&self, resource: &Resource, object: &Object) -> bool {
        let value = view(resource, object.value());
        if !self.labels.matches(&value) {
            return false;
        }
        if self.fields.is_everything() {
            return true;
        }
        let own_fields = self.fields.terms().iter().any(|term| !is_metadata(&term.field));
        let own = if own_fields { resource.strategy.selectable(&value) } else { BTreeMap::new() };
        self.fields.matches(|field| match field {
            "metadata.name" => object.key.name.clone(),
            "metadata.namespace" => object.key.namespace.clone(),
            other => own.get(other).cloned().unwrap_or_default(),
        })
    }
}

fn is_metadata(field: &str) -> bool {
    matches!(field, "metadata.name" | "metadata.namespace")
}

fn check_fields(resource: &Resource, selector: &FieldSelector) -> Result<(), ApiError> {
    let labels = resource.strategy.selectable_labels();
    for term in selector.terms() {
        let field = term.field.as_str();
        let known =
            is_metadata(field) || labels.contains(&field) || resource.selectable_fields.iter().any(|own| own == field);
        if known {
            continue;
        }
        let text = if labels.is_empty() && resource.strategy.typed() {
            format!("{} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"", quote(field))
        } else if resource.strategy.typed() && resource.kind == "Job" {
            format!("field label {} not supported for Job", quote(field))
        } else {
            format!("field label not supported: {field}")
        };
        return Err(ApiError::bad_request(text));
    }
    Ok(())
}

/// The `resourceVersion` parameter of a get; `None` when absent or 0, which both mean the newest state here.
pub(super) fn revision_of(query: &Query) -> Result<Option<u64>, ApiError> {
    Ok(revision_in(query, true)?.filter(|revision| *revision > 0))
}

fn revision_in(query: &Query, plain: bool) -> Result<Option<u64>, ApiError> {
    let text = query.text("resourceVersion");
    if text.is_empty() {
        return Ok(None);
    }
    unsigned(text).map(Some).ok_or_else(|| {
        let text = quote(text);
        let why = format!("resourceVersion: Invalid value: {text}: strconv.ParseUint: parsing {text}: invalid syntax");
        if plain {
            ApiError::unclassified(why)
        } else {
            ApiError::bad_request(format!("invalid resource version: {why}"))
        }
    })
}

fn check_match(query: &Query, watch: bool, initial: Option<bool>) -> Result<RevisionMatch, ApiError> {
    let text = query.text("resourceVersionMatch");
    let path = FieldPath::new("resourceVersionMatch");
    let mut errors = Vec::new();
    let mut forbid = |detail: &str| errors.push(FieldError::forbidden(&path, detail));
    if watch {
        if initial.is_some() && text != "NotOlderThan" {
            forbid("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
        }
        if !text.is_empty() && initial.is_none() {
            forbid("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
        }
    } else if !text.is_empty() {
        if query.text("resourceVersion").is_empty() {
            forbid("resourceVersionMatch is forbidden unless resourceVersion is provided");
        }
        if text == "Exact" && query.text("resourceVersion") == "0" {
            forbid("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
        }
    }
    if (watch || !text.is_empty()) && !query.text("continue").is_empty() {
        forbid("resourceVersionMatch is forbidden when continue is provided");
    }
    let supported: &[&str] = match (watch, initial) {
        (true, Some(_)) => &["NotOlderThan"],
        (true, None) => &["NotOlderThan", ""],
        _ => &["Exact", "NotOlderThan", ""],
    };
    if !text.is_empty() && !supported.contains(&text) {
        errors.push(FieldError::not_supported(&path, text, supported));
    }
    if !watch && initial.is_some() {
        let path = FieldPath::new("sendInitialEvents");
        errors.push(FieldError::forbidden(&path, "sendInitialEvents is forbidden for list"));
    }
    if !errors.is_empty() {
        return Err(ApiError::invalid("meta.k8s.io", "ListOptions", "", &errors));
    }
    Ok(match text {
        "Exact" => RevisionMatch::Exact,
        "NotOlderThan" => RevisionMatch::NotOlderThan,
        _ => RevisionMatch::Unset,
    })
}

/// What a list answers for a revision that it can't show.
pub(super) fn revision_error(error: RevisionError) -> ApiError {
    match error {
        RevisionError::TooOld { .. } => ApiError::expired("The resourceVersion for the provided list is too old."),
        RevisionError::TooNew { wanted, current } => ApiError::revision_too_large(wanted, current),
    }
}
