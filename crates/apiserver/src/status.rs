//! Failures as Kubernetes reports them: a `Status` object with code, reason, message and details.

use std::borrow::Cow;

use controller_runtime_schema::FieldError;
use http::StatusCode;
use serde_json::{Map, Value, json};

/// What went wrong with a request, as the `Status` object that kube-apiserver would answer with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ApiError(Box<Status>);

#[derive(Clone, Debug, Default, PartialEq)]
struct Status {
    code: u16,
    reason: Cow<'static, str>,
    message: String,
    details: Option<Details>,
    /// `metadata.continue`: how to go on after an expired continue token.
    continue_token: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Details {
    name: String,
    group: String,
    kind: String,
    uid: String,
    causes: Vec<Cause>,
    retry_after_seconds: Option<u64>,
}

/// One cause in a `Status`'s details.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cause {
    pub(crate) reason: String,
    pub(crate) message: String,
    pub(crate) field: String,
}

/// A resource type as error texts name it: `deployments.apps`, `configmaps`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GroupResource<'a> {
    pub(crate) group: &'a str,
    pub(crate) resource: &'a str,
}

impl std::fmt::Display for GroupResource<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.group.is_empty() { f.write_str(self.resource) } else { write!(f, "{}.{}", self.resource, self.group) }
    }
}

impl ApiError {
    fn new(code: StatusCode, reason: &'static str, message: impl Into<String>) -> Self {
        Self(Box::new(Status {
            code: code.as_u16(),
            reason: Cow::Borrowed(reason),
            message: message.into(),
            ..Status::default()
        }))
    }

    fn about(mut self, resource: GroupResource<'_>, name: &str) -> Self {
        self.0.details = Some(Details {
            name: name.to_owned(),
            group: resource.group.to_owned(),
            kind: resource.resource.to_owned(),
            ..Details::default()
        });
        self
    }

    /// 404: the named object does not exist.
    pub(crate) fn not_found(resource: GroupResource<'_>, name: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "NotFound", format!("{resource} {} not found", quote(name)))
            .about(resource, name)
    }

    /// 404: no such resource type, subresource or path below an API group.
    pub(crate) fn unknown_resource() -> Self {
        let mut error =
            Self::new(StatusCode::NOT_FOUND, "NotFound", "the server could not find the requested resource");
        error.0.details = Some(Details::default());
        error
    }

    /// 409: create of a name that is taken.
    pub(crate) fn already_exists(resource: GroupResource<'_>, name: &str) -> Self {
        Self::new(StatusCode::CONFLICT, "AlreadyExists", format!("{resource} {} already exists", quote(name)))
            .about(resource, name)
    }

    /// 409: create of a name whose object is still being deleted.
    pub(crate) fn being_deleted(resource: GroupResource<'_>, name: &str) -> Self {
        let message = format!("object is being deleted: {resource} {} already exists", quote(name));
        Self::new(StatusCode::CONFLICT, "AlreadyExists", message).about(resource, name)
    }

    /// 409: the write did not meet what it asked for; `why` ends the message.
    pub(crate) fn conflict(resource: GroupResource<'_>, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {resource} {}: {why}", quote(name));
        Self::new(StatusCode::CONFLICT, "Conflict", message).about(resource, name)
    }

    /// 409: the object changed since the resourceVersion that the request names.
    pub(crate) fn modified(resource: GroupResource<'_>, name: &str) -> Self {
        Self::conflict(
            resource,
            name,
            "the object has been modified; please apply your changes to the latest version and try again",
        )
    }

    /// 409 with causes, for example the fields of a server-side apply that others own.
    pub(crate) fn apply_conflict(message: String, causes: Vec<Cause>) -> Self {
        let mut error = Self::new(StatusCode::CONFLICT, "Conflict", message);
        error.0.details = Some(Details { causes, ..Details::default() });
        error
    }

    /// 422: the object of `kind` breaks rules; one cause per error.
    pub(crate) fn invalid(group: &str, kind: &str, name: &str, errors: &[FieldError]) -> Self {
        let kind_name = GroupResource { group, resource: kind };
        let prefix = format!("{kind_name} {} is invalid", quote(name));
        let mut seen: Vec<String> = Vec::new();
        for error in errors {
            let text = error.to_string();
            if !seen.contains(&text) {
                seen.push(text);
            }
        }
        let message = match seen.as_slice() {
            [] => prefix,
            [only] => format!("{prefix}: {only}"),
            many => format!("{prefix}: [{}]", many.join(", ")),
        };
        let causes = errors.iter().map(cause_of).collect();
        let mut error = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message).about(kind_name, name);
        if let Some(details) = &mut error.0.details {
            details.causes = causes;
        }
        error
    }

    /// 403: the request is understood and refused; `why` ends the message.
    pub(crate) fn forbidden(resource: GroupResource<'_>, name: &str, why: &str) -> Self {
        let message = if name.is_empty() {
            format!("{resource} is forbidden: {why}")
        } else {
            format!("{resource} {} is forbidden: {why}", quote(name))
        };
        Self::new(StatusCode::FORBIDDEN, "Forbidden", message).about(resource, name)
    }

    /// What a webhook refused with; its words are the webhook's.
    pub(crate) fn refused(code: StatusCode, reason: &str, message: String, details: Option<&Value>) -> Self {
        let text = |key: &str| {
            let text = details.and_then(|details| details.get(key)).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        let causes = details.and_then(|details| details.get("causes")).and_then(Value::as_array);
        let cause = |cause: &Value| {
            let text = |key: &str| cause.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            Cause { reason: text("reason"), message: text("message"), field: text("field") }
        };
        let details = details.map(|_| Details {
            name: text("name"),
            group: text("group"),
            kind: text("kind"),
            uid: text("uid"),
            causes: causes.into_iter().flatten().map(cause).collect(),
            ..Details::default()
        });
        let reason = Cow::Owned(reason.to_owned());
        Self(Box::new(Status { code: code.as_u16(), reason, message, details, ..Status::default() }))
    }

    /// 403 for a path that is no resource.
    pub(crate) fn forbidden_path(message: String) -> Self {
        let mut error = Self::new(StatusCode::FORBIDDEN, "Forbidden", message);
        error.0.details = Some(Details::default());
        error
    }

    /// 400: the request can't be understood.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    /// 422 without details, as for a patch that can't be applied.
    pub(crate) fn unprocessable(message: impl Into<String>) -> Self {
        let mut error = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message);
        error.0.details = Some(Details::default());
        error
    }

    /// 401: no valid credentials.
    pub(crate) fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "Unauthorized", "Unauthorized")
    }

    /// 415: the body's media type is none of `accepted`.
    pub(crate) fn unsupported_media_type(accepted: &[&str]) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {}",
            accepted.join(", ")
        );
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", message)
    }

    /// 415 of a resource that says beforehand which media types it reads.
    pub(crate) fn unsupported_by_route() -> Self {
        let message = "415: Unsupported Media Type";
        let mut error = Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", message);
        error.0.details = Some(Details::default());
        error
    }

    /// 406: none of the media types that the client accepts can be made.
    pub(crate) fn not_acceptable(offered: &[&str]) -> Self {
        let message = format!("only the following media types are accepted: {}", offered.join(", "));
        Self::new(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", message)
    }

    /// 406: the answer can't take the form that the client accepts.
    pub(crate) fn not_acceptable_form(message: String) -> Self {
        Self::new(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", message)
    }

    /// 406 of a built-in resource, which says beforehand which media types it makes.
    pub(crate) fn not_acceptable_by_route(offered: &[&str]) -> Self {
        let message = format!("406: Not Acceptable\n\nAvailable representations: {}", offered.join(", "));
        let mut error = Self::new(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", message);
        error.0.details = Some(Details::default());
        error
    }

    /// 405: the resource exists but not this verb on it.
    pub(crate) fn method_not_allowed() -> Self {
        let mut error = Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        );
        error.0.details = Some(Details::default());
        error
    }

    /// 405 of custom resources: the verb doesn't exist on one of their endpoints.
    pub(crate) fn method_not_supported(resource: GroupResource<'_>, verb: &str) -> Self {
        let message = format!("{verb} is not supported on resources of kind {}", quote(&resource.to_string()));
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message).about(resource, "")
    }

    /// 410: the revision that the request names is no longer known.
    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::new(StatusCode::GONE, "Expired", message)
    }

    /// 413: the request is larger than this server reads.
    pub(crate) fn too_large(message: &str) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "RequestEntityTooLarge",
            format!("Request entity too large: {message}"),
        )
    }

    /// 504: the revision that the request names lies in the future.
    pub(crate) fn revision_too_large(wanted: u64, current: u64) -> Self {
        let message = format!("Too large resource version: {wanted}, current: {current}");
        let mut error = Self::new(StatusCode::GATEWAY_TIMEOUT, "Timeout", format!("Timeout: {message}"));
        let cause = Cause {
            reason: "ResourceVersionTooLarge".to_owned(),
            message: "Too large resource version".to_owned(),
            ..Cause::default()
        };
        error.0.details = Some(Details { causes: vec![cause], retry_after_seconds: Some(1), ..Details::default() });
        error
    }

    /// 429: not now.
    pub(crate) fn too_many_requests(message: &str, retry_after_seconds: Option<u64>) -> Self {
        let mut error = Self::new(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", message);
        error.0.details = Some(Details { retry_after_seconds, ..Details::default() });
        error
    }

    /// 504: the request took too long.
    pub(crate) fn timed_out() -> Self {
        let message = "Timeout: request did not complete within the allotted timeout";
        let mut error = Self::new(StatusCode::GATEWAY_TIMEOUT, "Timeout", message);
        error.0.details = Some(Details::default());
        error
    }

    /// 503: the server can't serve this now.
    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable", message)
    }

    /// 500: what kube-apiserver reports as an internal error.
    pub(crate) fn internal(message: &str) -> Self {
        let mut error = Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "InternalError",
            format!("Internal error occurred: {message}"),
        );
        let cause = Cause { message: message.to_owned(), ..Cause::default() };
        error.0.details = Some(Details { causes: vec![cause], ..Details::default() });
        error
    }

    /// 500 with a bare message, as for failures that kube-apiserver gives no reason for.
    pub(crate) fn unclassified(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "", message)
    }

    /// Adds a cause to the details.
    pub(crate) fn with_cause(mut self, cause: Cause) -> Self {
        self.0.details.get_or_insert_default().causes.push(cause);
        self
    }

    /// Sets the token in `metadata.continue`.
    pub(crate) fn with_continue(mut self, token: String) -> Self {
        self.0.continue_token = Some(token);
        self
    }

    /// The HTTP status code.
    pub(crate) fn code(&self) -> StatusCode {
        StatusCode::from_u16(self.0.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// The machine-readable reason, such as `NotFound`.
    pub(crate) fn reason(&self) -> &str {
        &self.0.reason
    }

    /// The message for people.
    pub(crate) fn message(&self) -> &str {
        &self.0.message
    }

    /// Seconds for the `Retry-After` header.
    pub(crate) fn retry_after(&self) -> Option<u64> {
        self.0.details.as_ref().and_then(|details| details.retry_after_seconds)
    }

    /// The `Status` object.
    pub(crate) fn to_value(&self) -> Value {
        let status = &*self.0;
        let mut metadata = Map::new();
        if let Some(token) = &status.continue_token {
            metadata.insert("continue".to_owned(), json!(token));
        }
        let mut object = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": metadata, "status": "Failure",
            "message": status.message, "code": status.code,
        });
        if !status.reason.is_empty() {
            set(&mut object, "reason", json!(status.reason));
        }
        if let Some(details) = &status.details {
            set(&mut object, "details", details.to_value());
        }
        object
    }
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for ApiError {}

impl Details {
    fn to_value(&self) -> Value {
        let mut object = json!({});
        for (key, text) in [("name", &self.name), ("group", &self.group), ("kind", &self.kind), ("uid", &self.uid)] {
            if !text.is_empty() {
                set(&mut object, key, json!(text));
            }
        }
        if !self.causes.is_empty() {
            set(&mut object, "causes", self.causes.iter().map(Cause::to_value).collect());
        }
        if let Some(seconds) = self.retry_after_seconds {
            set(&mut object, "retryAfterSeconds", json!(seconds));
        }
        object
    }
}

impl Cause {
    fn to_value(&self) -> Value {
        let mut object = json!({});
        for (key, text) in [("reason", &self.reason), ("message", &self.message), ("field", &self.field)] {
            if !text.is_empty() {
                set(&mut object, key, json!(text));
            }
        }
        object
    }
}

/// The `Status` that answers a delete which removed the object at once.
pub(crate) fn deleted(resource: GroupResource<'_>, name: &str, uid: &str) -> Value {
    let details = Details {
        name: name.to_owned(),
        group: resource.group.to_owned(),
        kind: resource.resource.to_owned(),
        uid: uid.to_owned(),
        ..Details::default()
    };
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details.to_value(),
    })
}

fn cause_of(error: &FieldError) -> Cause {
    Cause { reason: error.reason().to_owned(), message: error.body(), field: error.field.clone() }
}

fn set(object: &mut Value, key: &str, value: Value) {
    if let Some(map) = object.as_object_mut() {
        map.insert(key.to_owned(), value);
    }
}

/// Quotes as Go's `%q` does for the characters that names can hold.
pub(crate) fn quote(text: &str) -> String {
    Value::from(text).to_string()
}
