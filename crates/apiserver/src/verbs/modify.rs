//! Changes to a stored object: what update, patch and apply have in common.

use std::sync::Arc;

use controller_runtime_schema::{FieldError, FieldPath};
use http::StatusCode;
use serde_json::Value;

use super::create::{committed, create_object, unwritable};
use super::{Call, Reply, WriteOptions, conversion, lifecycle, managed, scale};
use crate::access::rbac::check_escalation;
use crate::admission::{self, Operation};
use crate::managed_fields::{Conversions, Tracking};
use crate::metadata::{fields, owners, validate};
use crate::pipeline::decode;
use crate::pipeline::query::unsigned;
use crate::resource::Resource;
use crate::status::ApiError;
use crate::store::{Content, Object, WriteError};
use crate::strategy::StrategyContext;

/// A change that does not depend on a resourceVersion is tried again so often when others write in between.
const ATTEMPTS: usize = 100;

/// Replaces the named object by what `transform` makes of it.
///
/// `transform` gets the stored object in the version of the request, `None` when it does not exist (only if
/// `may_create`), and gives back a decoded and defaulted object with its managed fields. It runs again when a conversion
/// that it asks for has been made, and when somebody else wrote in between; a `resourceVersion` that it sets itself makes that a conflict.
pub(super) async fn modify(
    call: &Call,
    options: &WriteOptions,
    may_create: bool,
    mut transform: impl FnMut(Option<&Value>, &Conversions<'_>) -> Result<Value, ApiError>,
) -> Result<Reply, ApiError> {
    let name = call.key().name;
    for _ in 0..ATTEMPTS {
        let Some(stored) = call.core.store.get(&call.collection(), &call.key()) else {
            if !may_create {
                return Err(ApiError::not_found(call.resource.group_resource(), &name));
            }
            let mut object = managed::with_conversions(call, |versions| transform(None, versions)).await?;
            decode::check_place(call, &mut object)?;
            // The reference forgets the version before it stores what an update creates.
            fields::remove(&mut object, "resourceVersion");
            return create_object(call, object, options).await;
        };
        if let Some(reply) = attempt(call, options, &stored, &mut transform).await? {
            return Ok(reply);
        }
    }
    Err(ApiError::modified(call.resource.group_resource(), &name))
}

/// One attempt; `None` when somebody else wrote in between.
async fn attempt(
    call: &Call,
    options: &WriteOptions,
    stored: &Arc<Object>,
    transform: &mut impl FnMut(Option<&Value>, &Conversions<'_>) -> Result<Value, ApiError>,
) -> Result<Option<Reply>, ApiError> {
    let seen = Box::pin(conversion::seen_to_change(call, stored)).await?;
    let live = seen.value();
    let mut new = managed::with_conversions(call, |versions| transform(Some(live), versions)).await?;
    decode::check_place(call, &mut new)?;
    if is_scale(call) {
        scale::mutate(call, &mut new, live, options).await?;
    } else {
        admission::mutate(call, Operation::Update, &mut new, Some(live), options).await?;
    }
    owners::drop_duplicates(call, &mut new, true);
    check_preconditions(call, options, &mut new, stored)?;
    check_escalation(call, &new, Some(live))?;
    prepare(call, &mut new, live, stored);
    Tracking::settle(live, &mut new);
    check(call, options, &mut new, live)?;
    if call.subresource.is_none() {
        call.resource.strategy.warnings(&new, Some(live)).into_iter().for_each(|text| call.warn(text));
    }
    if is_scale(call) {
        scale::validate(call, &new, live, options).await?;
    } else {
        admission::validate(call, Operation::Update, &new, Some(live), options).await?;
    }
    let content = Box::pin(conversion::content(call, new)).await?;
    // Where the schema has changed, even what reads the same is written.
    if content.stored() == stored.stored() {
        return Ok(Some(Reply::Stored(StatusCode::OK, Arc::clone(stored))));
    }
    if options.dry_run {
        return Ok(Some(Reply::Made(StatusCode::OK, content.read)));
    }
    commit(call, stored, content)
}

/// Whether the request writes the object's scale, which is what admission then looks at.
fn is_scale(call: &Call) -> bool {
    call.subresource.as_deref() == Some("scale")
}

/// Stores the changed object, or removes it when nothing keeps it any more.
fn commit(call: &Call, stored: &Arc<Object>, content: Content) -> Result<Option<Reply>, ApiError> {
    let resource = &call.resource;
    let new = &content.read;
    let goes = fields::is_deleting(new)
        && fields::finalizers(new).is_empty()
        && fields::get(new, "deletionGracePeriodSeconds").and_then(Value::as_i64).unwrap_or_default() == 0
        && !lifecycle::is_kept(resource, new);
    let refused = |error| match error {
        WriteError::Changed | WriteError::Exists(_) => Ok(None),
        error => Err(unwritable(resource, &stored.key.name, &error)),
    };
    if goes {
        if let Err(error) = call.core.store.delete(stored) {
            return refused(error);
        }
        committed(call, Some(stored.value()), None);
        return Ok(Some(Reply::Made(StatusCode::OK, content.read)));
    }
    match call.core.store.update(stored, content) {
        Ok(written) => {
            committed(call, Some(stored.value()), Some(written.value()));
            Ok(Some(Reply::Stored(StatusCode::OK, written)))
        }
        Err(error) => refused(error),
    }
}

/// The revision and uid that the new object names must be the stored ones.
fn check_preconditions(call: &Call, options: &WriteOptions, new: &mut Value, stored: &Object) -> Result<(), ApiError> {
    let resource = &call.resource;
    let name = &stored.key.name;
    let uid = fields::text(new, "uid");
    let stored_uid = fields::text(stored.value(), "uid");
    if !options.is_partial && !uid.is_empty() && uid != stored_uid {
        let why = format!(
            "StorageError: invalid object, Code: 4, Key: /registry/{}, ResourceVersion: 0, AdditionalErrorMsg: \
             Precondition failed: UID in precondition: {uid}, UID in object meta: {stored_uid}",
            storage_path(resource, stored)
        );
        return Err(ApiError::conflict(resource.group_resource(), name, &why));
    }
    let text = fields::text(new, "resourceVersion").to_owned();
    let revision: u64 = if text.is_empty() {
        0
    } else {
        unsigned(&text).ok_or_else(|| {
            let text = crate::status::quote(&text);
            ApiError::unclassified(format!("strconv.ParseUint: parsing {text}: invalid syntax"))
        })?
    };
    if revision == 0 && !resource.strategy.unconditional_update() {
        let path = FieldPath::new("metadata.resourceVersion");
        let error = FieldError::invalid(&path, 0, "must be specified for an update");
        // The reference names the resource here, not its kind.
        return Err(ApiError::invalid(&resource.group, &resource.plural, name, &[error]));
    }
    if revision != 0 && revision != stored.revision {
        return Err(ApiError::modified(resource.group_resource(), name));
    }
    fields::copy(new, "resourceVersion", stored.value());
    Ok(())
}

pub(super) fn storage_path(resource: &Resource, stored: &Object) -> String {
    let group = if resource.strategy.typed() { String::new() } else { format!("{}/", resource.group) };
    let namespace = if stored.key.namespace.is_empty() { String::new() } else { format!("{}/", stored.key.namespace) };
    format!("{group}{}/{namespace}{}", resource.plural, stored.key.name)
}

/// Carries over what this endpoint does not change and counts the generation.
fn prepare(call: &Call, new: &mut Value, live: &Value, stored: &Object) {
    let resource = &call.resource;
    let strategy = &resource.strategy;
    match call.subresource.as_deref() {
        Some("status") => keep_all_but_status(new, live, strategy.status_keeps_metadata()),
        None if resource.has_status() => copy_member(new, "status", live),
        _ => {}
    }
    validate::carry_over(new, live);
    strategy.prepare_update(new, live, call.subresource.as_deref());
    let counts = call.subresource.as_deref() != Some("status");
    // What the version of the request can't say in the same way has changed.
    let before = if strategy.storage_version().is_some() { stored.value() } else { live };
    if counts && strategy.tracks_generation() && strategy.generation_changes(new, before, resource.has_status()) {
        let generation = fields::get(live, "generation").and_then(Value::as_i64).unwrap_or_default();
        fields::set(new, "generation", generation.saturating_add(1));
    }
}

fn keep_all_but_status(new: &mut Value, live: &Value, keeps_metadata: bool) {
    let mut kept = live.clone();
    copy_member(&mut kept, "status", new);
    if keeps_metadata {
        fields::copy(&mut kept, "managedFields", new);
    } else {
        copy_member(&mut kept, "metadata", new);
    }
    *new = kept;
}

fn copy_member(object: &mut Value, key: &str, from: &Value) {
    let Some(members) = object.as_object_mut() else { return };
    match from.get(key) {
        Some(value) => members.insert(key.to_owned(), value.clone()),
        None => members.remove(key),
    };
}

fn check(call: &Call, options: &WriteOptions, new: &mut Value, live: &Value) -> Result<(), ApiError> {
    let resource = &call.resource;
    let mut errors = validate::update(new, live, resource);
    let mut warn = |text| call.warn(text);
    errors.extend(resource.strategy.review_update(new, live, call.subresource.as_deref(), &mut warn));
    validate::keep_distinct(&mut errors, resource);
    if errors.is_empty() && call.subresource.is_none() {
        let cx = StrategyContext { core: &call.core, dry_run: options.dry_run };
        errors.extend(resource.strategy.reserve(new, Some(live), &cx));
    }
    if errors.is_empty() {
        return Ok(());
    }
    Err(ApiError::invalid(resource.storage_name().group, &resource.kind, fields::text(new, "name"), &errors))
}
