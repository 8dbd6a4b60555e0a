//! Objects between the version in which they are stored and that of a request.
//!
//! Versions of built-in kinds, and of custom ones without a webhook, differ in little that [`view`] doesn't know; a
//! webhook has to be asked, before anything else looks at the object.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::call::view;
use super::modify::storage_path;
use super::{Call, Items, Reply};
use crate::core::Core;
use crate::custom::Versions;
use crate::resource::Resource;
use crate::status::ApiError;
use crate::store::{Content, Object};
use crate::strategy::write_empty_as_null;

fn version_of(object: &Value) -> &str {
    object.get("apiVersion").and_then(Value::as_str).unwrap_or_default()
}

/// Whether a webhook has to be asked to show an object in the resource's version.
pub(super) fn asks(resource: &Resource) -> bool {
    resource.strategy.versions().is_some_and(|versions| versions.webhook().is_some())
}

/// A stored object in the version of a request. Errors: 500, the webhook didn't convert it.
pub(crate) async fn seen(call: &Call, object: &Arc<Object>) -> Result<Arc<Object>, ApiError> {
    one(call, object).await.map_err(|error| {
        let path = storage_path(&call.resource, object);
        ApiError::internal(&format!(
            "StorageError: corrupt object, Code: 7, Key: /{path}, ResourceVersion: 0, AdditionalErrorMsg: {}",
            undecodable(object, &error)
        ))
    })
}

/// The same for one that is about to be changed, which fails in other words.
pub(super) async fn seen_to_change(call: &Call, object: &Arc<Object>) -> Result<Arc<Object>, ApiError> {
    one(call, object).await.map_err(|error| ApiError::unclassified(undecodable(object, &error)))
}

async fn one(call: &Call, object: &Arc<Object>) -> Result<Arc<Object>, ApiError> {
    if call.resource.strategy.storage_version().is_some() {
        return Ok(viewed(&call.resource, Arc::clone(object)));
    }
    let seen = seen_all(&call.core, &call.resource, vec![Arc::clone(object)]).await?;
    Ok(seen.into_iter().next().unwrap_or_else(|| Arc::clone(object)))
}

fn undecodable(object: &Object, error: &ApiError) -> String {
    format!("object not decodable revision={}: {}", object.revision, error.message())
}

/// Objects of the past as they are read today: a definition may have changed what they mean.
pub(super) fn read_today(resource: &Resource, objects: Vec<Arc<Object>>) -> Vec<Arc<Object>> {
    let Some(versions) = resource.strategy.versions() else { return objects };
    let read = |object: Arc<Object>| {
        let read = versions.content(object.stored().clone()).read;
        if read == *object.value() { object } else { Arc::new(object.shown_as(read)) }
    };
    objects.into_iter().map(read).collect()
}

fn viewed(resource: &Resource, object: Arc<Object>) -> Arc<Object> {
    match view(resource, object.value()) {
        Cow::Borrowed(_) => object,
        Cow::Owned(value) => Arc::new(object.shown_as(value)),
    }
}

/// Stored objects in the version of a resource, in their order; those of built-in kinds stay as they are until it is
/// known in which form they are shown. Errors: 500, the webhook didn't convert them.
pub(super) async fn seen_all(
    core: &Core,
    resource: &Resource,
    objects: Vec<Arc<Object>>,
) -> Result<Vec<Arc<Object>>, ApiError> {
    let wanted = resource.api_version();
    if resource.strategy.storage_version().is_some()
        || objects.iter().all(|object| version_of(object.value()) == wanted)
    {
        return Ok(objects);
    }
    let Some(versions) = resource.strategy.versions().filter(|versions| versions.webhook().is_some()) else {
        return Ok(objects.into_iter().map(|object| viewed(resource, object)).collect());
    };
    let filled = objects.iter().map(|object| {
        let mut value = object.value().clone();
        versions.fill_in(&mut value);
        value
    });
    let values = converted(core, &versions, filled.collect(), &wanted).await?;
    let seen = objects.into_iter().zip(values).map(|(object, value)| {
        if version_of(object.value()) == wanted { object } else { Arc::new(object.shown_as(value)) }
    });
    Ok(seen.collect())
}

/// What a request's object is stored as, in the version in which its kind is stored.
pub(super) async fn content(call: &Call, object: Value) -> Result<Content, ApiError> {
    let Some(versions) = call.resource.strategy.versions() else { return Ok(built_in(&call.resource, object)) };
    let stored = to_version(&call.core, &versions, object, &versions.storage()).await?;
    Ok(versions.content(stored))
}

/// The same for an object that the server itself changes, for which no webhook is asked.
pub(super) fn content_of_changed(resource: &Resource, object: Value) -> Content {
    match resource.strategy.versions() {
        Some(versions) => versions.content_of_changed(object),
        None => built_in(resource, object),
    }
}

fn built_in(resource: &Resource, mut object: Value) -> Content {
    if let Some(storage) = resource.strategy.storage_version().filter(|storage| *storage != version_of(&object)) {
        resource.strategy.convert(&mut object, storage, &resource.kind);
    }
    if let Some(definition) = resource.strategy.definition() {
        write_empty_as_null(&mut object, definition);
    }
    object.into()
}

/// An object of a request in the version of another resource of the same kind. What subresources have in its place, such
/// as scales, stays as it is.
pub(crate) async fn of_other<'a>(
    call: &Call,
    other: &Resource,
    object: Option<&'a Value>,
) -> Result<Option<Cow<'a, Value>>, ApiError> {
    let Some(object) = object else { return Ok(None) };
    if object.get("kind").and_then(Value::as_str) != Some(&other.kind) {
        return Ok(Some(Cow::Borrowed(object)));
    }
    match other.strategy.versions() {
        Some(_) if version_of(object) == other.api_version() => Ok(Some(Cow::Borrowed(object))),
        // It may have what the other version doesn't know: nobody stores it there.
        Some(versions) => {
            let object = in_version(&call.core, &versions, object.clone(), &other.api_version()).await?;
            Ok(Some(Cow::Owned(object)))
        }
        None => Ok(Some(view(other, object))),
    }
}

/// An object in another version, without what that version doesn't know.
async fn to_version(core: &Core, versions: &Versions, object: Value, wanted: &str) -> Result<Value, ApiError> {
    if version_of(&object) == wanted {
        return Ok(object);
    }
    let mut object = in_version(core, versions, object, wanted).await?;
    versions.coerce(&mut object);
    Ok(object)
}

/// An object in another version, as whoever converts gives it.
async fn in_version(core: &Core, versions: &Versions, mut object: Value, wanted: &str) -> Result<Value, ApiError> {
    let Some(webhook) = versions.webhook() else {
        if let Some(members) = object.as_object_mut() {
            members.insert("apiVersion".to_owned(), wanted.into());
        }
        return Ok(object);
    };
    let converted = webhook.convert(core, vec![object], wanted).await;
    let converted = converted.map_err(|error| ApiError::unclassified(error.to_string()))?;
    converted.into_iter().next().ok_or_else(|| ApiError::unclassified("conversion gave no object"))
}

async fn converted(
    core: &Core,
    versions: &Versions,
    objects: Vec<Value>,
    wanted: &str,
) -> Result<Vec<Value>, ApiError> {
    let Some(webhook) = versions.webhook() else { return Ok(objects) };
    let mut converted =
        webhook.convert(core, objects, wanted).await.map_err(|error| ApiError::unclassified(error.to_string()))?;
    for object in &mut converted {
        versions.coerce(object);
    }
    Ok(converted)
}

/// A verb's answer with its objects in the version of the request.
pub(super) async fn answer(call: &Call, reply: Reply) -> Result<Reply, ApiError> {
    let resource = &call.resource;
    let Some(versions) = resource.strategy.versions() else {
        return Ok(match reply {
            Reply::Made(code, mut object) if is_stored_form(resource, &object) => {
                resource.strategy.convert(&mut object, &resource.api_version(), &resource.kind);
                Reply::Made(code, object)
            }
            reply => reply,
        });
    };
    Ok(match reply {
        Reply::Stored(code, object) => Reply::Stored(code, seen(call, &object).await?),
        Reply::List(items) => {
            let objects = seen_all(&call.core, resource, items.objects).await?;
            Reply::List(Items { objects, ..items })
        }
        Reply::Made(code, mut object) if is_of_kind(resource, &object) => {
            if version_of(&object) != resource.api_version() {
                versions.fill_in(&mut object);
                object = to_version(&call.core, &versions, object, &resource.api_version()).await?;
            }
            Reply::Made(code, object)
        }
        other => other,
    })
}

/// Whether an object of a built-in kind has the version in which it is stored.
fn is_stored_form(resource: &Resource, object: &Value) -> bool {
    resource.strategy.storage_version() == Some(version_of(object))
        && object.get("kind").and_then(Value::as_str) == Some(&resource.kind)
}

fn is_of_kind(resource: &Resource, object: &Value) -> bool {
    let group = version_of(object).rsplit_once('/').map_or("", |(group, _)| group);
    group == resource.group && object.get("kind").and_then(Value::as_str) == Some(&resource.kind)
}
