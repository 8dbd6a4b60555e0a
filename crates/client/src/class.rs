use std::time::Duration;

use kube_core::Status;

use crate::error::ClientError;

/// What can be done about an error of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorClass {
    /// The object does not exist.
    NotFound,
    /// The server does not serve the kind, for example because its CRD isn't installed (yet).
    KindNotServed,
    /// The server does not serve the subresource: the kind, or this version of it, has none of that name, or isn't
    /// served itself.
    SubresourceNotServed,
    /// Somebody else changed the object, or owns what was to be changed: read it again and decide again.
    Conflict,
    /// An object of that name exists.
    AlreadyExists,
    /// The object breaks the kind's rules.
    Invalid,
    /// The identity may not do this.
    Forbidden,
    /// The credentials are missing, wrong or expired.
    Unauthorized,
    /// The version or the continue token is too old for the server: start again with a list.
    Expired,
    /// It may work when tried again.
    Transient {
        /// How long the server asks to wait.
        retry_after: Option<Duration>,
    },
    /// It fails the same way when tried again.
    Terminal,
}

impl ErrorClass {
    /// Whether the same request can succeed later without a change to the program or its input. What is
    /// [`Invalid`](Self::Invalid) stays so until somebody changes the object.
    pub fn is_retryable(self) -> bool {
        !matches!(self, Self::Invalid | Self::Terminal)
    }
}

/// Errors that say what can be done about them: the client's, and those of layers above it.
pub trait Classify {
    /// What can be done about it.
    fn class(&self) -> ErrorClass;

    /// Whether a write lost against another one, so that reading anew and writing again can succeed at once. A field
    /// or a child that belongs to somebody else is a conflict, too, but not of this kind.
    fn is_stale_write(&self) -> bool {
        self.class() == ErrorClass::Conflict
    }
}

impl Classify for ClientError {
    fn class(&self) -> ErrorClass {
        Self::class(self)
    }

    fn is_stale_write(&self) -> bool {
        let of_an_owner = matches!(self, Self::Owner(_)) || self.has_cause("FieldManagerConflict");
        self.is_conflict() && !of_an_owner
    }
}

/// "Not found" as `None`, everything else as it is.
pub fn ignore_not_found<T, E: Classify>(result: Result<T, E>) -> Result<Option<T>, E> {
    ignore(result, ErrorClass::NotFound)
}

/// "Already exists" as `None`, everything else as it is.
pub fn ignore_already_exists<T, E: Classify>(result: Result<T, E>) -> Result<Option<T>, E> {
    ignore(result, ErrorClass::AlreadyExists)
}

fn ignore<T, E: Classify>(result: Result<T, E>, ignored: ErrorClass) -> Result<Option<T>, E> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.class() == ignored => Ok(None),
        Err(error) => Err(error),
    }
}

/// The reason decides where the server gives one, else the HTTP code.
pub(crate) fn class_of(status: &Status, retry_after: Option<Duration>) -> ErrorClass {
    match (status.reason.as_str(), status.code) {
        ("AlreadyExists", _) => ErrorClass::AlreadyExists,
        ("Conflict", _) | (_, 409) => ErrorClass::Conflict,
        ("NotFound", _) | (_, 404) => {
            // An unknown path is answered without the details that a missing object's answer has.
            let about_object = status.details.as_ref().is_some_and(|details| !details.name.is_empty());
            if about_object { ErrorClass::NotFound } else { ErrorClass::KindNotServed }
        }
        ("Invalid", _) | (_, 422) => ErrorClass::Invalid,
        ("Forbidden", _) | (_, 403) => ErrorClass::Forbidden,
        ("Unauthorized", _) | (_, 401) => ErrorClass::Unauthorized,
        ("Expired" | "Gone", _) | (_, 410) => ErrorClass::Expired,
        ("TooManyRequests" | "ServerTimeout" | "Timeout" | "InternalError" | "ServiceUnavailable", _)
        | (_, 408 | 429 | 500..) => ErrorClass::Transient { retry_after },
        _ => ErrorClass::Terminal,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use controller_runtime_scheme::{GroupVersionKind, ObjectKey};
    use kube_core::Status;
    use kube_core::response::{StatusCause, StatusDetails};

    use super::{Classify, ErrorClass, ignore_already_exists, ignore_not_found};
    use crate::error::{ClientError, RequestInfo, RequestProblem, Verb};
    use crate::owner::OwnerError;

    fn request() -> RequestInfo {
        let (namespace, name) = (Some("ns".to_owned()), Some("web".to_owned()));
        RequestInfo { verb: Verb::Update, kind: "App/v1".to_owned(), namespace, name, subresource: None }
    }

    fn answered(code: u16, reason: &str, name: &str, cause: &str) -> ClientError {
        let cause = StatusCause { reason: cause.to_owned(), message: String::new(), field: String::new() };
        let details = StatusDetails {
            name: name.to_owned(),
            group: String::new(),
            kind: String::new(),
            uid: String::new(),
            causes: vec![cause],
            retry_after_seconds: 0,
        };
        let status = Status::failure("", reason).with_code(code).with_details(details);
        ClientError::Status {
            request: Box::new(request()),
            status: Box::new(status),
            retry_after: Some(Duration::from_secs(1)),
        }
    }

    #[test]
    fn answers_have_classes() {
        let transient = ErrorClass::Transient { retry_after: Some(Duration::from_secs(1)) };
        for (code, reason, name, expected) in [
            (404, "NotFound", "web", ErrorClass::NotFound),
            (404, "NotFound", "", ErrorClass::KindNotServed),
            (404, "", "", ErrorClass::KindNotServed),
            (409, "Conflict", "web", ErrorClass::Conflict),
            (409, "", "", ErrorClass::Conflict),
            (409, "AlreadyExists", "web", ErrorClass::AlreadyExists),
            (410, "Expired", "", ErrorClass::Expired),
            (410, "Gone", "", ErrorClass::Expired),
            (422, "Invalid", "web", ErrorClass::Invalid),
            (403, "Forbidden", "web", ErrorClass::Forbidden),
            (401, "Unauthorized", "", ErrorClass::Unauthorized),
            (408, "", "", transient),
            (429, "TooManyRequests", "", transient),
            (429, "", "", transient),
            (500, "InternalError", "", transient),
            (500, "", "", transient),
            (500, "ServerTimeout", "", transient),
            (502, "", "", transient),
            (503, "ServiceUnavailable", "", transient),
            (504, "Timeout", "", transient),
            (400, "BadRequest", "", ErrorClass::Terminal),
            (405, "MethodNotAllowed", "", ErrorClass::Terminal),
            (406, "NotAcceptable", "", ErrorClass::Terminal),
            (413, "RequestEntityTooLarge", "", ErrorClass::Terminal),
            (415, "UnsupportedMediaType", "", ErrorClass::Terminal),
        ] {
            assert_eq!(answered(code, reason, name, "").class(), expected, "{code} {reason} {name}");
        }
    }

    #[test]
    fn failures_without_an_answer_have_classes() {
        let unsure = ErrorClass::Transient { retry_after: None };
        let transport = |source| ClientError::Transport { request: Box::new(request()), source: Box::new(source) };
        let owner = |error: OwnerError| ClientError::Owner(error);
        let names = || ("App ns/web".to_owned(), "ns/child".to_owned());
        let json = || serde_json::from_str::<u8>("x").expect_err("it is not a number");
        for (error, expected) in [
            (ClientError::Timeout { request: Box::new(request()), after: Duration::from_secs(1) }, unsure),
            (transport(kube_client::Error::Service("connection refused".into())), unsure),
            (transport(kube_client::Error::TlsRequired), ErrorClass::Terminal),
            (ClientError::Answer { request: Box::new(request()), source: json() }, ErrorClass::Terminal),
            (
                ClientError::Refused { request: Box::new(request()), problem: RequestProblem::MissingName },
                ErrorClass::Terminal,
            ),
            (
                ClientError::Refused { request: Box::new(request()), problem: RequestProblem::ListChanged },
                ErrorClass::Conflict,
            ),
            (
                ClientError::UnknownKind { kind: Box::new(GroupVersionKind::gvk("ref.dev", "v1", "App")) },
                ErrorClass::KindNotServed,
            ),
            (owner(OwnerError::NoUid { owner: names().0, child: names().1 }), ErrorClass::Terminal),
            (
                owner(OwnerError::AlreadyOwned {
                    owner: names().0,
                    child: names().1,
                    controller: ObjectKey::cluster("other").to_string(),
                }),
                ErrorClass::Conflict,
            ),
        ] {
            assert_eq!(error.class(), expected, "{error}");
        }
    }

    #[test]
    fn what_is_invalid_or_terminal_is_not_tried_again() {
        for (class, retryable) in [
            (ErrorClass::Invalid, false),
            (ErrorClass::Terminal, false),
            (ErrorClass::Conflict, true),
            (ErrorClass::NotFound, true),
            (ErrorClass::Forbidden, true),
            (ErrorClass::Transient { retry_after: None }, true),
        ] {
            assert_eq!(class.is_retryable(), retryable, "{class:?}");
        }
    }

    #[test]
    fn only_a_lost_race_is_a_stale_write() {
        assert!(answered(409, "Conflict", "web", "").is_stale_write());
        assert!(!answered(409, "Conflict", "web", "FieldManagerConflict").is_stale_write());
        assert!(!answered(409, "AlreadyExists", "web", "").is_stale_write());
        assert!(answered(403, "Forbidden", "web", "NamespaceTerminating").has_cause("NamespaceTerminating"));
    }

    #[test]
    fn ignored_errors_are_none() {
        let not_found = || Err::<u8, _>(answered(404, "NotFound", "web", ""));
        let exists = || Err::<u8, _>(answered(409, "AlreadyExists", "web", ""));
        assert_eq!(ignore_not_found(not_found()).unwrap(), None);
        assert_eq!(ignore_already_exists(exists()).unwrap(), None);
        assert_eq!(ignore_not_found(Ok::<_, ClientError>(1)).unwrap(), Some(1));
        assert!(ignore_not_found(exists()).unwrap_err().is_already_exists());
        assert!(ignore_already_exists(not_found()).unwrap_err().is_not_found());
    }
}
