//! Request bodies to objects: media type, syntax, the kind that is expected, types and unknown fields.

use std::fmt::Write as _;
use std::sync::Arc;

use controller_runtime_schema::{FieldError, FieldPath, Schema, prune};
use serde_json::Value;

use super::parse::{self, Document, KeyProblem};
use super::{typed, unserved};
use crate::catalogue::catalogue;
use crate::custom;
use crate::metadata::fields;
use crate::protobuf::{self, DecodeError};
use crate::resource::Resource;
use crate::status::{ApiError, quote};
use crate::verbs::Call;

/// Media types of bodies that this server reads, as error texts list them.
pub(crate) const ACCEPTED: [&str; 3] = ["application/json", "application/yaml", protobuf::MEDIA_TYPE];

/// The schema of metadata, in the catalogue.
const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// What happens to fields that the schema does not know and to keys that stand twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    /// They are dropped silently.
    Ignore,
    /// They are dropped with a warning header each.
    #[default]
    Warn,
    /// The request is refused.
    Strict,
}

impl FieldValidation {
    /// Reads the `fieldValidation` parameter.
    pub(crate) fn parse(text: &str) -> Result<Self, FieldError> {
        match text {
            "Ignore" => Ok(Self::Ignore),
            "" | "Warn" => Ok(Self::Warn),
            "Strict" => Ok(Self::Strict),
            other => {
                let path = FieldPath::new("fieldValidation");
                Err(FieldError::not_supported(&path, other, &["", "Ignore", "Strict", "Warn"]))
            }
        }
    }
}

/// Parses a body in the encoding that its `Content-Type` names.
pub(crate) fn document(call: &Call) -> Result<Document, ApiError> {
    let expected = &call.body_kind();
    let unrecognized = |error: String| {
        ApiError::bad_request(format!(
            "the object provided is unrecognized (must be of type {expected}): couldn't get version/kind; json parse \
             error: {error} ({})",
            excerpt(&call.body)
        ))
    };
    let document = match media_type(call)? {
        protobuf::MEDIA_TYPE => return protobuf_document(call),
        "application/yaml" => parse::yaml(&call.body).map_err(|error| {
            ApiError::bad_request(format!(
                "the object provided is unrecognized (must be of type {expected}): {error} ({})",
                excerpt(&call.body)
            ))
        })?,
        _ => parse::json(&call.body).map_err(unrecognized)?,
    };
    if document.value.is_null() {
        return Ok(Document { value: Value::Object(serde_json::Map::new()), ..document });
    }
    if !document.value.is_object() {
        let found = match document.value {
            Value::Array(_) => "array",
            Value::String(_) => "string",
            Value::Number(_) => "number",
            _ => "bool",
        };
        return Err(unrecognized(format!(
            "json: cannot unmarshal {found} into Go value of type struct {{ APIVersion string \
             \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}"
        )));
    }
    Ok(document)
}

/// Decodes protocol buffers, which custom resources don't have; their scales do.
fn protobuf_document(call: &Call) -> Result<Document, ApiError> {
    let (api_version, kind) = call.body_type();
    if !call.resource.strategy.typed() && kind == call.resource.kind {
        return Err(ApiError::unsupported_media_type(&ACCEPTED));
    }
    let value =
        protobuf::decode(&call.body, &api_version, &kind).map_err(|error| protobuf_error(&error, call, &kind))?;
    Ok(Document::of(value))
}

fn protobuf_error(error: &DecodeError, call: &Call, expected: &str) -> ApiError {
    ApiError::bad_request(match error {
        DecodeError::UnknownKind { kind, version } | DecodeError::Object { kind, version, .. } => {
            format!("{kind} in version {} cannot be handled as a {expected}: {error}", quote(version))
        }
        error => {
            let excerpt = excerpt(&call.body);
            format!("the object provided is unrecognized (must be of type {expected}): {error} ({excerpt})")
        }
    })
}

/// The body's media type, one of those accepted.
pub(crate) fn media_type(call: &Call) -> Result<&'static str, ApiError> {
    let mut parts = call.content_type.split(';').map(str::trim);
    let media = parts.next().unwrap_or_default();
    if !parts.all(is_parameter) {
        return Err(ApiError::unsupported_media_type(&ACCEPTED));
    }
    match media {
        "" => Ok("application/json"),
        media => ACCEPTED
            .into_iter()
            .find(|accepted| accepted.eq_ignore_ascii_case(media))
            .ok_or_else(|| ApiError::unsupported_media_type(&ACCEPTED)),
    }
}

/// Whether a part of a media type is a parameter; nothing may stand behind the last semicolon.
fn is_parameter(part: &str) -> bool {
    let is_token =
        |text: &str| !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || "()<>@,;:\\\"/[]?=".contains(c));
    let is_quoted = |text: &str| text.len() >= 2 && text.starts_with('"') && text.ends_with('"');
    part.is_empty()
        || part.split_once('=').is_some_and(|(key, value)| is_token(key) && (is_token(value) || is_quoted(value)))
}

/// Decodes the body of a create or update into an object of the call's resource.
pub(crate) fn object(call: &Call, validation: FieldValidation) -> Result<Value, ApiError> {
    let document = document(call)?;
    let is_json = media_type(call)? == "application/json";
    decoded(call, document, validation, is_json && call.resource.strategy.typed())
}

/// Brings a parsed document into the form of the call's resource: kind checked, types checked, unknown fields dropped,
/// empty fields normalized. Defaults are not yet set.
pub(crate) fn typed_object(call: &Call, document: Document, validation: FieldValidation) -> Result<Value, ApiError> {
    decoded(call, document, validation, false)
}

/// `in_order` says that problems are told in the order of the body, which is JSON: Go's types are filled while it is read.
fn decoded(call: &Call, document: Document, validation: FieldValidation, in_order: bool) -> Result<Value, ApiError> {
    let resource = &call.resource;
    let Document { mut value, duplicates, repeated } = document;
    check_kind(call, &mut value)?;
    let handled = cannot_be_handled(&value, resource);
    let refuse = |error: String| ApiError::bad_request(format!("{handled}: {error}"));
    let meta = object_meta();
    let schema = resource.schema();
    if resource.strategy.typed() {
        typed::check(&value, &schema, &resource.kind).map_err(refuse)?;
    } else if let Some(metadata) = value.get("metadata") {
        check_metadata(metadata, &meta).map_err(refuse)?;
    }
    // An empty list turns the tracking of field managers off; only Go's own types tell it from none.
    let resets_tracking = resource.strategy.typed()
        && fields::get(&value, "managedFields").and_then(Value::as_array).is_some_and(Vec::is_empty);
    let mut unknown = prune(&mut value, &schema, true);
    let mut of_metadata = Vec::new();
    if let Some(metadata) = value.get_mut("metadata") {
        of_metadata.extend(prune(metadata, &meta, false).into_iter().map(|path| format!("metadata.{path}")));
        normalize_metadata(metadata);
    }
    if resource.strategy.typed() {
        unknown.extend(of_metadata);
        unknown.sort();
    } else {
        let dropped = custom::coerce(&mut value, &schema, &mut |metadata| embedded_metadata(metadata, &meta));
        of_metadata.extend(dropped.map_err(|error| refuse(error.to_string()))?);
        // Metadata is told before everything else, wherever it is.
        of_metadata.sort();
        of_metadata.append(&mut unknown);
        unknown = of_metadata;
    }
    if validation != FieldValidation::Ignore && !(unknown.is_empty() && duplicates.is_empty() && repeated.is_none()) {
        let problems = if in_order {
            parse::in_order(&call.body, &unknown, &duplicates)
        } else {
            let duplicates = duplicates.into_iter().map(KeyProblem::Duplicate);
            let repeated = repeated.into_iter().map(KeyProblem::Repeated);
            repeated.chain(duplicates).chain(unknown.into_iter().map(KeyProblem::Unknown)).collect()
        };
        report(call, &value, &problems, validation)?;
    }
    resource.strategy.normalize(&mut value);
    if resets_tracking {
        fields::set(&mut value, "managedFields", Value::Array(Vec::new()));
    }
    Ok(value)
}

/// Refuses metadata that Go's type can't hold, where nothing else of the object is of a Go type.
fn check_metadata(metadata: &Value, meta: &Schema) -> Result<(), String> {
    let found = match metadata {
        Value::Null => return Ok(()),
        Value::Object(_) => return typed::check(metadata, meta, "ObjectMeta"),
        Value::Array(_) => "array",
        Value::String(_) => "string",
        Value::Number(_) => "number",
        Value::Bool(_) => "bool",
    };
    Err(format!("json: cannot unmarshal {found} into Go value of type v1.ObjectMeta"))
}

/// Brings the metadata of an object inside of another one into its form, and tells what it dropped.
fn embedded_metadata(metadata: &mut Value, meta: &Schema) -> Result<Vec<String>, String> {
    check_metadata(metadata, meta)?;
    let dropped = prune(metadata, meta, false);
    normalize_metadata(metadata);
    Ok(dropped)
}

fn object_meta() -> Arc<Schema> {
    catalogue().definitions.get(OBJECT_META).ok().flatten().unwrap_or_default()
}

/// Refuses another kind than the resource's; a missing one is filled in.
fn check_kind(call: &Call, value: &mut Value) -> Result<(), ApiError> {
    let resource = &call.resource;
    let text = |key: &str| match value.get(key) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(ApiError::bad_request(format!(
            "couldn't get version/kind; json parse error: json: cannot unmarshal into Go struct field .{key} of type string"
        ))),
    };
    let (mut api_version, mut kind) = (text("apiVersion")?, text("kind")?);
    let typed = resource.strategy.typed();
    if !typed && kind.is_empty() {
        return Err(ApiError::bad_request(format!(
            "the object provided is unrecognized (must be of type {}): Object 'Kind' is missing in '{}' ({})",
            resource.kind,
            String::from_utf8_lossy(&call.body),
            excerpt(&call.body)
        )));
    }
    if api_version.is_empty() && typed {
        api_version = resource.api_version();
    }
    if kind.is_empty() {
        kind.clone_from(&resource.kind);
    }
    if api_version != resource.api_version() || kind != resource.kind {
        if !typed && api_version != resource.api_version() {
            return Err(ApiError::bad_request(format!(
                "the API version in the data ({api_version}) does not match the expected API version ({})",
                resource.api_version()
            )));
        }
        if !typed {
            let error =
                FieldError::invalid(&FieldPath::new("kind"), kind.as_str(), format!("must be {}", resource.kind));
            return Err(ApiError::invalid(&resource.group, &kind, fields::text(value, "name"), &[error]));
        }
        if kind == resource.kind && unserved::is_read(&api_version, &kind) {
            return Err(ApiError::bad_request(format!(
                "the API version in the data ({api_version}) does not match the expected API version ({})",
                resource.api_version()
            )));
        }
        return Err(wrong_kind(&api_version, &kind, resource.go_package(), &resource.kind));
    }
    if let Some(members) = value.as_object_mut() {
        members.insert("apiVersion".to_owned(), Value::String(api_version));
        members.insert("kind".to_owned(), Value::String(kind));
        if members.get("metadata").is_none_or(Value::is_null) {
            members.insert("metadata".to_owned(), Value::Object(serde_json::Map::new()));
        }
    }
    Ok(())
}

/// 400 for a body that is of another kind than `wanted`, which stands in a package of Go.
pub(crate) fn wrong_kind(api_version: &str, kind: &str, package: &str, wanted: &str) -> ApiError {
    let version = api_version.rsplit('/').next().unwrap_or_default();
    let why = if is_registered(api_version, kind) {
        format!("converting ({version}.{kind}) to ({package}.{wanted}): unknown conversion")
    } else {
        format!("no kind {} is registered for version {} {SCHEME}", quote(kind), quote(api_version))
    };
    ApiError::bad_request(format!("{kind} in version {} cannot be handled as a {wanted}: {why}", quote(version)))
}

/// 400 for a body with a field of a wrong type; `definition` is the schema's name.
pub(crate) fn check_types(value: &Value, definition: &str) -> Result<(), ApiError> {
    let Ok(Some(schema)) = catalogue().definitions.get(definition) else { return Ok(()) };
    let mut parts = definition.rsplit('.');
    let (kind, version) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let cannot = |why: String| {
        ApiError::bad_request(format!("{kind} in version {} cannot be handled as a {kind}: {why}", quote(version)))
    };
    typed::check(value, &schema, kind).map_err(cannot)
}

/// Where the reference's kinds are registered, as its texts say it.
pub(crate) const SCHEME: &str = "in scheme \"pkg/runtime/scheme.go:111\"";

/// Whether a built-in kind, or the list of one, is known in a version.
fn is_registered(api_version: &str, kind: &str) -> bool {
    let single = kind.strip_suffix("List").unwrap_or(kind);
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
    unserved::is_read(api_version, kind)
        || unserved::is_read(api_version, single)
        || catalogue().resources().any(|(of, resource)| {
            of.group == group && of.version == version && (resource.kind == kind || resource.kind == single)
        })
}

fn cannot_be_handled(value: &Value, resource: &Resource) -> String {
    let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default();
    format!("{kind} in version {} cannot be handled as a {}", quote(&resource.version), resource.kind)
}

fn report(call: &Call, value: &Value, problems: &[KeyProblem], validation: FieldValidation) -> Result<(), ApiError> {
    let texts: Vec<String> = problems
        .iter()
        .map(|problem| match problem {
            KeyProblem::Unknown(path) => format!("unknown field {}", quote(path)),
            KeyProblem::Duplicate(path) => format!("duplicate field {}", quote(path)),
            KeyProblem::Repeated(text) if validation == FieldValidation::Strict => {
                format!("yaml: unmarshal errors:\n  {text}")
            }
            KeyProblem::Repeated(text) => text.clone(),
        })
        .collect();
    if validation == FieldValidation::Strict && !texts.is_empty() {
        let (handled, texts) = (cannot_be_handled(value, &call.resource), texts.join(", "));
        return Err(ApiError::bad_request(format!("{handled}: strict decoding error: {texts}")));
    }
    for text in texts {
        call.warn(text);
    }
    Ok(())
}

/// Drops what Go's ObjectMeta omits when it is empty.
fn normalize_metadata(metadata: &mut Value) {
    let Some(members) = metadata.as_object_mut() else { return };
    members.retain(|_, value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
        _ => true,
    });
    if members.get("generation").and_then(Value::as_i64) == Some(0) {
        members.remove("generation");
    }
    for key in ["creationTimestamp", "deletionTimestamp"] {
        let Some(text) = members.get(key).and_then(Value::as_str) else { continue };
        let whole_seconds = text.parse::<jiff::Timestamp>().map(|time| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
        if let Ok(text) = whole_seconds {
            members.insert(key.to_owned(), Value::String(text));
        }
    }
}

/// Checks that name and namespace in the body agree with the URL, and fills the namespace in.
pub(crate) fn check_place(call: &Call, object: &mut Value) -> Result<(), ApiError> {
    if let Some(expected) = &call.name {
        let name = fields::text(object, "name");
        if name.is_empty() {
            return Err(ApiError::bad_request(format!(
                "the name of the object ({expected} based on URL) was undeterminable: name must be provided"
            )));
        }
        if name != expected {
            return Err(ApiError::bad_request(format!(
                "the name of the object ({name}) does not match the name on the URL ({expected})"
            )));
        }
    }
    let namespace = fields::text(object, "namespace");
    if !call.resource.namespaced {
        fields::remove(object, "namespace");
        return Ok(());
    }
    if !namespace.is_empty() && namespace != call.namespace {
        return Err(ApiError::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    fields::set(object, "namespace", call.namespace.as_str());
    Ok(())
}

/// The first bytes of a body, for error texts.
fn excerpt(body: &[u8]) -> String {
    const LIMIT: usize = 30;
    if body.is_empty() {
        return "<empty>".to_owned();
    }
    let start = body.get(..LIMIT).unwrap_or(body);
    let more = if body.len() > LIMIT { " ..." } else { "" };
    let shown = if body.starts_with(b"{") {
        String::from_utf8_lossy(start).into_owned()
    } else {
        start.iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    };
    format!("{shown}{more}")
}
