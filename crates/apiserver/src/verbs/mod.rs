//! What can be done with objects, one verb per file.
//!
//! A verb gets a [`Call`]: the resource that the path names and what came with the request. It answers with a [`Reply`],
//! which the pipeline brings into the form that the client accepts.

mod apply;
mod binding;
mod call;
pub(crate) mod conversion;
mod create;
mod delete;
mod delete_collection;
mod delete_options;
mod disruption;
mod eviction;
mod get;
mod lifecycle;
mod list;
mod list_options;
mod managed;
mod modify;
pub(crate) mod own_kind;
mod patch;
mod reply;
mod review;
mod scale;
mod token_request;
mod update;
mod watch;
mod watch_stream;
mod write_options;

pub(crate) use call::{Call, outline, view};
pub(crate) use create::{create, set_defaults};
pub(crate) use delete::delete_object;
pub(crate) use delete_options::DeleteOptions;
pub(crate) use reply::{Items, Reply};
pub(crate) use write_options::WriteOptions;

use http::Method;

use crate::pipeline::resolve::ObjectPath;
use crate::status::ApiError;

/// Answers a call for objects.
///
/// The verbs' futures are on the heap: what the largest needs would else take stack below all that walks an object.
pub(crate) async fn dispatch(call: &Call, method: &Method, path: &ObjectPath) -> Result<Reply, ApiError> {
    if call.resource.is_only_created() {
        // There are no paths to single ones, and in no namespace to those that belong in one.
        if call.name.is_some() || call.resource.namespaced == call.namespace.is_empty() {
            return Err(ApiError::unknown_resource());
        }
        return match *method {
            Method::POST if call.resource.kind == "Binding" => Box::pin(binding::bind(call)).await,
            Method::POST => Box::pin(review::review(call)).await,
            _ => Err(ApiError::method_not_allowed()),
        };
    }
    let verb = verb(call, method, path)?;
    if let Some(name @ ("." | "..")) = call.name.as_deref() {
        let text = format!("Name parameter invalid: {}: may not be '{name}'", crate::status::quote(name));
        return Err(ApiError::bad_request(text));
    }
    if let Some(warning) = &call.resource.deprecation_warning {
        call.warn(warning.clone());
    }
    let reply = match &call.subresource {
        Some(subresource) => Box::pin(subresource_verb(call, subresource, verb)).await?,
        None => Box::pin(resource_verb(call, verb)).await?,
    };
    Box::pin(conversion::answer(call, reply)).await
}

async fn resource_verb(call: &Call, verb: &'static str) -> Result<Reply, ApiError> {
    if !call.resource.allows(verb) {
        return Err(ApiError::method_not_allowed());
    }
    match verb {
        "get" => get::get(call),
        "list" => Box::pin(list::list(call)).await,
        "watch" => Box::pin(watch::watch(call)).await,
        "create" => Box::pin(create(call)).await,
        "update" => Box::pin(update::update(call)).await,
        "patch" => Box::pin(patch::patch(call)).await,
        "delete" => Box::pin(delete::delete(call)).await,
        "deletecollection" => Box::pin(delete_collection::delete_collection(call)).await,
        _ => Err(ApiError::method_not_allowed()),
    }
}

async fn subresource_verb(call: &Call, subresource: &str, verb: &'static str) -> Result<Reply, ApiError> {
    let Some(served) = call.resource.subresources.get(subresource) else {
        if !call.resource.strategy.typed() {
            let name = call.name.as_deref().unwrap_or_default();
            return Err(ApiError::not_found(call.resource.group_resource(), name));
        }
        return Err(ApiError::unknown_resource());
    };
    if !served.verbs.iter().any(|listed| listed == verb) {
        return Err(if call.resource.strategy.typed() {
            ApiError::method_not_allowed()
        } else {
            ApiError::method_not_supported(call.resource.group_resource(), verb)
        });
    }
    if subresource == "scale" && call.resource.scale.is_some() {
        return match verb {
            "get" => Box::pin(scale::get(call)).await,
            "update" => Box::pin(scale::update(call)).await,
            "patch" => Box::pin(patch::patch_scale(call)).await,
            _ => Err(ApiError::method_not_allowed()),
        };
    }
    match served.kind.as_str() {
        "TokenRequest" => return Box::pin(token_request::token_request(call)).await,
        "Binding" => return Box::pin(binding::bind(call)).await,
        "Eviction" => return Box::pin(eviction::evict(call)).await,
        _ => {}
    }
    if served.kind != call.resource.kind {
        return Err(ApiError::unknown_resource());
    }
    match verb {
        "get" => get::get(call),
        "update" => Box::pin(update::update(call)).await,
        "patch" => Box::pin(patch::patch(call)).await,
        _ => Err(ApiError::method_not_allowed()),
    }
}

/// The verb that a method means for a path.
fn verb(call: &Call, method: &Method, path: &ObjectPath) -> Result<&'static str, ApiError> {
    let named = path.name.is_some();
    let verb = match *method {
        Method::GET if path.watch => "watch",
        _ if path.watch => return Err(ApiError::method_not_allowed()),
        Method::GET if named => "get",
        Method::GET if call.query.flag("watch") => "watch",
        Method::GET => "list",
        // Custom resources don't look at the name in the path of what they create.
        Method::POST if !named || path.subresource.is_some() || !call.resource.strategy.typed() => "create",
        Method::PUT if named => "update",
        Method::PATCH if named => "patch",
        Method::DELETE if named => "delete",
        Method::DELETE => "deletecollection",
        _ => return Err(ApiError::method_not_allowed()),
    };
    // Only reads reach over all namespaces.
    let everywhere = call.resource.namespaced && call.namespace.is_empty();
    if everywhere && named {
        return Err(ApiError::unknown_resource());
    }
    if everywhere && !matches!(verb, "list" | "watch") {
        return Err(ApiError::method_not_allowed());
    }
    Ok(verb)
}
