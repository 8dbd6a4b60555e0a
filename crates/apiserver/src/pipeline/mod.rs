//! From a request to its response, one step per file.

pub(crate) mod attributes;
pub(crate) mod authenticate;
pub(crate) mod authorize;
mod compress;
pub(crate) mod deadline;
pub(crate) mod decode;
mod documents;
mod go_time;
mod health;
pub(crate) mod measure;
mod metrics;
pub(crate) mod negotiate;
mod open_api;
mod openid;
pub(crate) mod parse;
pub(crate) mod query;
pub(crate) mod represent;
pub(crate) mod resolve;
pub(crate) mod respond;
mod typed;
mod unserved;
mod version;

use std::sync::Arc;

use bytes::Bytes;
use controller_runtime_schema::{FieldError, FieldPath};
use http::header::{CONTENT_TYPE, USER_AGENT};
use http::request::Parts;
use http::{HeaderMap, Method, Response};

use self::negotiate::{Accept, Form, OFFERED, Wanted};
use self::query::Query;
use self::resolve::{ObjectPath, Route};
use crate::access::Identity;
use crate::body::Body;
use crate::core::Core;
use crate::resource::Resource;
use crate::status::ApiError;
use crate::table::IncludeObject;
use crate::verbs::{self, Call};

/// Answers one request. The user is authenticated and authorized.
pub(crate) async fn handle(core: &Arc<Core>, parts: &Parts, user: &Identity, body: Bytes) -> Response<Body> {
    if !has_good_escapes(parts.uri.path()) {
        return respond::malformed();
    }
    let whole = health::respond(parts).or_else(|| version::respond(parts)).or_else(|| metrics::respond(core, parts));
    if let Some(response) = whole {
        return response;
    }
    match Route::of(parts.uri.path()) {
        Route::Objects(path) => objects(core, parts, user, body, &path).await,
        Route::Discovery(path) => documents::discovery(core, parts, &path),
        Route::OpenApi(path) => open_api::respond(core, parts, &path),
        Route::Unknown(group) => match group {
            Some(group) if documents::is_built_in(&group) => respond::error(parts, &ApiError::unknown_resource()),
            _ => openid::respond(core, parts).unwrap_or_else(respond::page_not_found),
        },
    }
}

async fn objects(core: &Arc<Core>, parts: &Parts, user: &Identity, body: Bytes, path: &ObjectPath) -> Response<Body> {
    let resource = match find(core, parts, path) {
        Ok(Some(resource)) => resource,
        Ok(None) => return respond::page_not_found(),
        Err(error) => return respond::error(parts, &error),
    };
    let answer = call(core, parts, user, body, path, resource).await;
    match answer {
        Ok((call, Ok(reply))) => respond::reply(parts, &call, reply),
        Ok((call, Err(error))) => respond::refusal(parts, &call, &error),
        Err(error) => respond::error(parts, &error),
    }
}

type Answer = (Call, Result<verbs::Reply, ApiError>);

async fn call(
    core: &Arc<Core>,
    parts: &Parts,
    user: &Identity,
    body: Bytes,
    path: &ObjectPath,
    resource: Arc<Resource>,
) -> Result<Answer, ApiError> {
    let query = Query::parse(parts.uri.query().unwrap_or_default());
    let is_list = path.name.is_none() && matches!(parts.method, Method::GET | Method::HEAD | Method::DELETE);
    let watches = is_list && (path.watch || query.flag("watch"));
    let wanted = match (is_list, watches) {
        (_, true) => Wanted::Watch,
        (true, false) => Wanted::List,
        (false, false) => Wanted::Object,
    };
    let accept = Accept::of(&parts.headers, wanted, resource.strategy.typed())?;
    if resource.is_only_created() && accept.form == Form::Table {
        return Err(ApiError::not_acceptable(&OFFERED));
    }
    check_form(accept, wanted, &resource)?;
    if accept.form == Form::Table && IncludeObject::from_parameter(query.text("includeObject")).is_none() {
        let text = query.text("includeObject");
        let detail = "must be 'Metadata', 'Object', 'None', or empty";
        let error = FieldError::invalid(&FieldPath::new("includeObject"), text, detail);
        return Err(ApiError::bad_request(format!("Unable to convert to Table as requested: {error}")));
    }
    let call = Call {
        core: Arc::clone(core),
        user: user.clone(),
        resource,
        namespace: path.namespace.clone(),
        name: path.name.clone(),
        subresource: path.subresource.clone(),
        query,
        content_type: text(&parts.headers, CONTENT_TYPE),
        body,
        accept,
        user_agent: text(&parts.headers, USER_AGENT),
        warnings: parking_lot::Mutex::default(),
    };
    let reply = verbs::dispatch(&call, &parts.method, path).await;
    Ok((call, reply))
}

/// Whether each percent sign in a path begins an escape; Go's server reads no further where one doesn't.
fn has_good_escapes(path: &str) -> bool {
    path.split('%').skip(1).all(|rest| {
        let digits = rest.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}

/// Metadata is asked for as a list where there is one, and only there.
fn check_form(accept: Accept, wanted: Wanted, resource: &Resource) -> Result<(), ApiError> {
    if accept.form != Form::Partial || wanted == Wanted::Watch || accept.is_list == (wanted == Wanted::List) {
        return Ok(());
    }
    let (suffix, is_list) = if accept.is_list { ("List", "not a list") } else { ("", "a list") };
    let found = match (resource.strategy.typed(), accept.is_list) {
        (true, true) => format!("{}.{}", resource.go_package(), resource.kind),
        (true, false) => format!("{}.{}", resource.go_package(), resource.list_kind),
        (false, true) => "unstructured.Unstructured".to_owned(),
        (false, false) => "unstructured.UnstructuredList".to_owned(),
    };
    let text = format!("you requested PartialObjectMetadata{suffix}, but the requested object is {is_list} (*{found})");
    Err(ApiError::not_acceptable_form(text))
}

/// The resource that a path names; `None` where kube-apiserver has nobody who would answer for the path.
fn find(core: &Core, parts: &Parts, path: &ObjectPath) -> Result<Option<Arc<Resource>>, ApiError> {
    let resource = core.registry.get(&path.group, &path.version, &path.plural).filter(|resource| {
        if resource.namespaced && path.namespace.is_empty() && !resource.strategy.typed() {
            // Only lists and watches of custom resources reach over all namespaces.
            return path.name.is_none() && matches!(parts.method, Method::GET | Method::HEAD);
        }
        resource.namespaced || path.namespace.is_empty()
    });
    match resource {
        Some(resource) if path.goes_on && resource.strategy.typed() => Err(ApiError::unknown_resource()),
        Some(resource) => Ok(Some(resource)),
        None if documents::is_built_in(&path.group) => Err(ApiError::unknown_resource()),
        None => Ok(None),
    }
}

fn text(headers: &HeaderMap, name: http::HeaderName) -> String {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).unwrap_or_default()
}
