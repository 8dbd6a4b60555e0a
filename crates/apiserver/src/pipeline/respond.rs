//! How responses are written.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, USER_AGENT, WARNING};
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};
use serde_json::{Map, Value};

use super::compress::compressed;
use super::negotiate::{Encoding, Form, OFFERED};
use super::represent;
use crate::body::Body;
use crate::protobuf;
use crate::status::{ApiError, quote};
use crate::table;
use crate::verbs::{Call, Items, Reply, outline};

/// A failure as a `Status` object, in JSON when the client accepts nothing else that this server makes.
pub(crate) fn error(parts: &Parts, error: &ApiError) -> Response<Body> {
    let encoding = Encoding::of_document(&parts.headers).unwrap_or_default();
    let mut response = encoded(parts, error.code(), encoding, &error.to_value());
    let headers = response.headers_mut();
    if let Some(seconds) = error.retry_after() {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// An object that is made up for this answer, such as a discovery document, in the encoding that the client accepts.
pub(crate) fn document(parts: &Parts, code: StatusCode, object: &Value) -> Response<Body> {
    match Encoding::of_document(&parts.headers) {
        Some(encoding) => encoded(parts, code, encoding, object),
        None => error(parts, &ApiError::not_acceptable(&OFFERED)),
    }
}

fn encoded(parts: &Parts, code: StatusCode, encoding: Encoding, object: &Value) -> Response<Body> {
    let bytes = match encoding {
        Encoding::Json => return json(parts, code, object),
        Encoding::Yaml => Some(Bytes::from(serde_saphyr::to_string(object).unwrap_or_default())),
        Encoding::Protobuf => protobuf::encode(object).map(Bytes::from),
    };
    bytes.map_or_else(|| json(parts, code, object), |bytes| with_type(code, encoding.media_type(), bytes))
}

/// An object as JSON, indented where a person is going to read it.
pub(crate) fn json(parts: &Parts, code: StatusCode, object: &Value) -> Response<Body> {
    let text = if pretty(parts) { format!("{object:#}\n") } else { format!("{object}\n") };
    with_type(code, "application/json", text)
}

/// A verb's answer in the form and encoding that the client accepts.
pub(crate) fn reply(parts: &Parts, call: &Call, reply: Reply) -> Response<Body> {
    let form = call.accept.form;
    let resource = &call.resource;
    let (code, text) = match reply {
        Reply::Watch(body) => return warned(call, watch(call.accept.encoding, body)),
        Reply::Stored(code, object) if form == Form::Object && call.accept.encoding == Encoding::Protobuf => {
            (code, represent::stored_protobuf(resource, &object))
        }
        Reply::Stored(code, object) if form == Form::Object && is_plain(parts, call) => {
            (code, represent::stored_json(resource, &object))
        }
        Reply::List(items) if form == Form::Object && call.accept.encoding == Encoding::Protobuf => {
            (StatusCode::OK, represent::list_protobuf(resource, &items))
        }
        Reply::List(items) if form == Form::Object && is_plain(parts, call) => {
            (StatusCode::OK, represent::list_json(resource, &items))
        }
        Reply::Stored(code, object) if form == Form::Object => (code, shown(parts, call, &call.view(&object))),
        Reply::Stored(code, object) => (code, shown(parts, call, &formed(call, &outline(resource, object.value())))),
        Reply::Made(code, object) if object.get("kind").and_then(Value::as_str) == Some(&resource.kind) => {
            (code, shown(parts, call, &formed(call, &object)))
        }
        Reply::Made(code, object) => (code, shown(parts, call, &object)),
        Reply::List(items) => (StatusCode::OK, shown(parts, call, &formed_list(call, &items))),
    };
    let mut response = compressed(parts, with_type(code, call.accept.encoding.media_type(), text));
    add_warnings(&mut response, call);
    response
}

/// A verb's failure, with the warnings that came before it.
pub(crate) fn refusal(parts: &Parts, call: &Call, failure: &ApiError) -> Response<Body> {
    warned(call, error(parts, failure))
}

fn formed(call: &Call, object: &Value) -> Value {
    match call.accept.form {
        Form::Object => object.clone(),
        Form::Partial => table::in_version(table::partial(object), call.accept.is_beta),
        Form::Table => {
            let mut metadata = Map::new();
            if let Some(revision) = object.pointer("/metadata/resourceVersion") {
                metadata.insert("resourceVersion".to_owned(), revision.clone());
            }
            let table = call.table().render([object], Value::Object(metadata), call.core.ambient.now());
            table::in_version(table, call.accept.is_beta)
        }
    }
}

fn formed_list(call: &Call, items: &Items) -> Value {
    match call.accept.form {
        Form::Object => represent::list_value(&call.resource, items),
        Form::Partial => table::in_version(represent::partial_list(items), call.accept.is_beta),
        Form::Table => {
            let objects: Vec<_> = items.objects.iter().map(|object| outline(&call.resource, object.value())).collect();
            let metadata = Value::Object(items.metadata.clone());
            let table = call.table().render(objects.iter().map(AsRef::as_ref), metadata, call.core.ambient.now());
            table::in_version(table, call.accept.is_beta)
        }
    }
}

/// Whether the answer is JSON without indentation, which is shared between readers.
fn is_plain(parts: &Parts, call: &Call) -> bool {
    call.accept.encoding == Encoding::Json && !pretty(parts)
}

fn shown(parts: &Parts, call: &Call, object: &Value) -> Bytes {
    match call.accept.encoding {
        Encoding::Yaml => Bytes::from(serde_saphyr::to_string(object).unwrap_or_default()),
        Encoding::Protobuf => Bytes::from(protobuf::encode(object).unwrap_or_default()),
        Encoding::Json if pretty(parts) => Bytes::from(format!("{object:#}\n")),
        Encoding::Json => represent::value_json(object),
    }
}

fn watch(encoding: Encoding, body: Body) -> Response<Body> {
    let mut response = with_type(StatusCode::OK, encoding.stream_media_type(), Bytes::new());
    *response.body_mut() = body;
    response
}

fn warned(call: &Call, mut response: Response<Body>) -> Response<Body> {
    add_warnings(&mut response, call);
    response
}

fn add_warnings(response: &mut Response<Body>, call: &Call) {
    for text in &*call.warnings.lock() {
        // 299 with an unknown agent, as RFC 9111's predecessor had it.
        let text = format!("299 - {}", quote(text));
        if let Ok(value) = HeaderValue::from_bytes(text.as_bytes()) {
            response.headers_mut().append(WARNING, value);
        }
    }
}

/// A document under a media type of its own, which is JSON if not protocol buffers.
pub(super) fn typed_document(parts: &Parts, content_type: &'static str, document: &Value) -> Response<Body> {
    if content_type.starts_with(protobuf::MEDIA_TYPE) {
        return with_type(StatusCode::OK, content_type, protobuf::encode(document).unwrap_or_default());
    }
    let text = if pretty(parts) { format!("{document:#}\n") } else { format!("{document}\n") };
    with_type(StatusCode::OK, content_type, text)
}

/// A document for people.
pub(super) fn indented(document: &Value) -> Response<Body> {
    with_type(StatusCode::OK, "application/json", format!("{document:#}"))
}

/// The client has it already.
pub(super) fn not_modified() -> Response<Body> {
    let mut response = Response::new(Body::from(""));
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    response
}

/// What Go's server says of a request that it can't read.
pub(super) fn malformed() -> Response<Body> {
    with_type(StatusCode::BAD_REQUEST, "text/plain; charset=utf-8", "400 Bad Request".to_owned())
}

/// What kube-apiserver says of paths that it knows nothing of.
pub(crate) fn page_not_found() -> Response<Body> {
    with_type(StatusCode::NOT_FOUND, "text/plain; charset=utf-8", "404 page not found\n".to_owned())
}

pub(super) fn with_type(code: StatusCode, content_type: &'static str, text: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(Body::from(text.into()));
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}

/// Whether the query asks for indented JSON or, where it is silent, the client is a browser or a download tool.
fn pretty(parts: &Parts) -> bool {
    let query = parts.uri.query().unwrap_or_default();
    if let Some((_, value)) = form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == "pretty") {
        return !matches!(&*value, "false" | "0");
    }
    let agent = parts.headers.get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    ["curl", "Wget", "Mozilla/5.0"].iter().any(|tool| agent.starts_with(tool))
}
