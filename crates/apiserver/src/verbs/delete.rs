use std::borrow::Cow;
use std::sync::Arc;

use http::StatusCode;
use jiff::SignedDuration;
use serde_json::Value;

use super::call::view;
use super::create::unwritable;
use super::delete_options::{DeleteOptions, Propagation};
use super::modify::storage_path;
use super::{Call, Reply, conversion, lifecycle};
use crate::admission;
use crate::core::Core;
use crate::metadata::fields;
use crate::resource::Resource;
use crate::status::{self, ApiError, GroupResource};
use crate::store::{Object, ObjectKey, WriteError};
use crate::strategy::Change;

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";
const ATTEMPTS: usize = 100;

/// What became of an object that was to be deleted.
#[derive(Debug)]
pub(crate) enum Deleted {
    /// It is gone, or would be; this is its last state.
    Gone(Value),
    /// Something keeps it: finalizers or a grace period.
    Pending(Pending),
}

/// An object whose deletion has begun.
#[derive(Debug)]
pub(crate) enum Pending {
    Stored(Arc<Object>),
    DryRun(Value),
}

/// Deletes an object, or begins to.
pub(super) async fn delete(call: &Call) -> Result<Reply, ApiError> {
    let options = DeleteOptions::of(call)?;
    let resource = &call.resource;
    let key = call.key();
    warn(call, &options);
    if let Some(why) = resource.strategy.refuses_delete(&key.name) {
        return Err(ApiError::forbidden(resource.group_resource(), &key.name, why));
    }
    if let Some(stored) = call.core.store.get(&call.collection(), &key) {
        Box::pin(conversion::seen(call, &stored)).await?;
    }
    admission::admit_delete(call, &key, &options).await?;
    match delete_object(&call.core, resource, &key, &options)? {
        Deleted::Gone(last) if resource.strategy.returns_deleted_object() => Ok(Reply::Made(StatusCode::OK, last)),
        Deleted::Gone(last) => {
            let body = status::deleted(resource.group_resource(), &key.name, fields::text(&last, "uid"));
            Ok(Reply::Made(StatusCode::OK, body))
        }
        Deleted::Pending(pending) => {
            // Only who asks in the deprecated way is told that it takes longer.
            let code = if options.orphan_dependents == Some(false) { StatusCode::ACCEPTED } else { StatusCode::OK };
            Ok(match pending {
                Pending::Stored(object) => Reply::Stored(code, object),
                Pending::DryRun(object) => Reply::Made(code, object),
            })
        }
    }
}

/// Tells who names no propagation policy what that means for the kind.
pub(super) fn warn(call: &Call, options: &DeleteOptions) {
    let unsaid = options.propagation.is_none() && options.orphan_dependents.is_none();
    if let Some(text) = call.resource.strategy.delete_warning().filter(|_| unsaid) {
        call.warn(text.to_owned());
    }
}

/// Deletes one object, or begins to.
pub(crate) fn delete_object(
    core: &Arc<Core>,
    resource: &Resource,
    key: &ObjectKey,
    options: &DeleteOptions,
) -> Result<Deleted, ApiError> {
    let collection = resource.storage_name().to_string();
    for _ in 0..ATTEMPTS {
        let Some(stored) = core.store.get(&collection, key) else {
            return Err(ApiError::not_found(resource.group_resource(), &key.name));
        };
        lifecycle::check_delete(resource, &key.name)?;
        if options.unreadable_only {
            let why = format!(
                "StorageError: invalid object, Code: 4, Key: /registry/{}, ResourceVersion: 0, AdditionalErrorMsg: unsafe \
                 deletion is not allowed because the object is decodable from storage",
                storage_path(resource, &stored)
            );
            return Err(ApiError::conflict(resource.group_resource(), &key.name, &why));
        }
        check_preconditions(resource, &stored, options)?;
        if let Some(deleted) = attempt(core, resource, &stored, options)? {
            return Ok(deleted);
        }
    }
    Err(ApiError::modified(resource.group_resource(), &key.name))
}

fn check_preconditions(resource: &Resource, stored: &Object, options: &DeleteOptions) -> Result<(), ApiError> {
    if lifecycle::is_namespace(resource) {
        return lifecycle::check_preconditions(stored, options);
    }
    let kind = GroupResource { group: &resource.group, resource: &resource.kind };
    let uid = fields::text(stored.value(), "uid");
    if let Some(wanted) = options.uid.as_deref().filter(|wanted| *wanted != uid) {
        let why = format!(
            "the UID in the precondition ({wanted}) does not match the UID in record ({uid}). The object might have \
             been deleted and then recreated"
        );
        return Err(ApiError::conflict(kind, &stored.key.name, &why));
    }
    let revision = stored.revision.to_string();
    if let Some(wanted) = options.resource_version.as_deref().filter(|wanted| *wanted != revision) {
        let why = format!(
            "the ResourceVersion in the precondition ({wanted}) does not match the ResourceVersion in record \
             ({revision}). The object might have been modified"
        );
        return Err(ApiError::conflict(kind, &stored.key.name, &why));
    }
    Ok(())
}

/// One attempt; `None` when somebody else wrote in between.
fn attempt(
    core: &Arc<Core>,
    resource: &Resource,
    stored: &Arc<Object>,
    options: &DeleteOptions,
) -> Result<Option<Deleted>, ApiError> {
    // What deletion changes is the same in all versions of a custom resource.
    let live = match resource.strategy.versions() {
        Some(_) => Cow::Borrowed(stored.value()),
        None => view(resource, stored.value()),
    };
    let is_first = !fields::is_deleting(&live);
    if !is_first && lifecycle::is_kept(resource, &live) {
        return Ok(Some(Deleted::Pending(Pending::Stored(Arc::clone(stored)))));
    }
    let mut next = live.clone().into_owned();
    if is_first {
        resource.strategy.prepare_delete(&mut next, &core.now());
    }
    let begun_by_kind = fields::is_deleting(&next) && !fields::is_deleting(&live);
    if !begun_by_kind {
        let finalizers = finalizers(resource, &live, options);
        fields::set_finalizers(&mut next, &finalizers);
        let grace = grace(resource, &live, options);
        if finalizers.is_empty() && grace == 0 && !(is_first && lifecycle::is_namespace(resource)) {
            return Ok(remove(core, resource, stored, options));
        }
        mark(core, resource, &mut next, &live, grace);
    }
    if next == *live {
        return Ok(Some(Deleted::Pending(Pending::Stored(Arc::clone(stored)))));
    }
    if options.dry_run {
        return Ok(Some(Deleted::Pending(Pending::DryRun(next))));
    }
    match core.store.update(stored, conversion::content_of_changed(resource, next)) {
        Ok(written) => {
            let change = Change { old: Some(stored.value()), new: Some(written.value()) };
            resource.strategy.committed(change, core);
            Ok(Some(Deleted::Pending(Pending::Stored(written))))
        }
        Err(WriteError::Changed | WriteError::Exists(_)) => Ok(None),
        Err(error) => Err(unwritable(resource, &stored.key.name, &error)),
    }
}

/// Removes the object; `None` when somebody else wrote in between.
fn remove(core: &Arc<Core>, resource: &Resource, stored: &Arc<Object>, options: &DeleteOptions) -> Option<Deleted> {
    if options.dry_run {
        return Some(Deleted::Gone(view(resource, stored.value()).into_owned()));
    }
    let last = core.store.delete(stored).ok()?;
    resource.strategy.committed(Change { old: Some(stored.value()), new: None }, core);
    let live = view(resource, last.value());
    let mut gone = live.clone().into_owned();
    // Where there is graceful deletion, the last state says that it took no time.
    if resource.strategy.grace_period(&live, options.grace_period_seconds).is_some() {
        mark(core, resource, &mut gone, &live, 0);
    }
    Some(Deleted::Gone(gone))
}

/// Seconds that the object still has; less than before at most.
fn grace(resource: &Resource, live: &Value, options: &DeleteOptions) -> i64 {
    let asked = options.grace_period_seconds.map(|seconds| if seconds < 0 { 1 } else { seconds });
    let grace = resource.strategy.grace_period(live, asked).unwrap_or_default();
    match fields::get(live, "deletionGracePeriodSeconds").and_then(Value::as_i64) {
        Some(running) if asked.is_none() => running,
        Some(running) => running.min(grace),
        None => grace,
    }
}

/// Writes down that the deletion has begun.
fn mark(core: &Core, resource: &Resource, next: &mut Value, live: &Value, grace: i64) {
    let running = fields::get(live, "deletionGracePeriodSeconds").and_then(Value::as_i64);
    if fields::is_deleting(live) && running == Some(grace) {
        return;
    }
    let deadline = core.ambient.now().saturating_add(SignedDuration::from_secs(grace));
    let deadline = deadline.unwrap_or_else(|_| core.ambient.now());
    fields::set(next, "deletionTimestamp", crate::core::timestamp(deadline));
    if !lifecycle::is_namespace(resource) || fields::is_deleting(live) {
        fields::set(next, "deletionGracePeriodSeconds", grace);
    }
    lifecycle::mark_terminating(resource, next);
    let generation = fields::get(live, "generation").and_then(Value::as_i64);
    if let Some(generation) = generation.filter(|one| *one > 0 && !fields::is_deleting(live)) {
        fields::set(next, "generation", generation.saturating_add(1));
    }
}

/// The finalizers with which the object waits for its dependents as the request wants it.
fn finalizers(resource: &Resource, live: &Value, options: &DeleteOptions) -> Vec<String> {
    let present = fields::finalizers(live);
    let asked = match options.orphan_dependents {
        Some(true) => Some(Propagation::Orphan),
        Some(false) => Some(Propagation::Background),
        None => options.propagation,
    };
    let inherited = || {
        if present.contains(&ORPHAN) || (resource.strategy.orphans_by_default() && !present.contains(&FOREGROUND)) {
            Propagation::Orphan
        } else if present.contains(&FOREGROUND) {
            Propagation::Foreground
        } else {
            Propagation::Background
        }
    };
    let added = match asked.unwrap_or_else(inherited) {
        _ if !resource.strategy.has_dependents() => None,
        Propagation::Orphan => Some(ORPHAN),
        Propagation::Foreground => Some(FOREGROUND),
        Propagation::Background => None,
    };
    let keep = |one: &&str| added == Some(*one) || !matches!(*one, ORPHAN | FOREGROUND);
    let mut finalizers: Vec<String> = present.into_iter().filter(keep).map(str::to_owned).collect();
    if let Some(added) = added.filter(|added| !finalizers.iter().any(|one| one == added)) {
        finalizers.push(added.to_owned());
    }
    finalizers
}
