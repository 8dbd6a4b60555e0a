//! Who somebody is and what they may do. `kubectl auth whoami` and `kubectl auth can-i` ask about oneself; webhooks and
//! metrics endpoints ask about others.

mod access;
mod rules;

use controller_runtime_ambient::Ambient;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{Method, Response, StatusCode};
use serde_json::{Value, json};

use super::{ISSUER, Identity};
use crate::body::Body;
use crate::core::{self, Core};
use crate::pipeline::authenticate::Authenticator;
use crate::pipeline::{decode, parse, respond};
use crate::protobuf;
use crate::status::ApiError;

const AUTHENTICATION: &str = "authentication.k8s.io";
const AUTHORIZATION: &str = "authorization.k8s.io";

/// One kind of review.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Review {
    /// Who am I?
    Identity,
    /// May I?
    OwnAccess,
    /// What may I?
    OwnRules,
    /// May somebody?
    Access,
    /// May somebody, in this namespace?
    LocalAccess(String),
    /// Whose token is this?
    Token,
}

/// Answers when the path is a review's.
pub(crate) fn respond(
    core: &Core,
    authenticator: &Authenticator,
    parts: &Parts,
    body: &[u8],
    user: &Identity,
) -> Option<Response<Body>> {
    let review = Review::of(parts.uri.path())?;
    let answer = if parts.method == Method::POST {
        spec(&review, parts, body).and_then(|spec| review.answer(spec, user, core, authenticator))
    } else {
        Err(ApiError::method_not_allowed())
    };
    Some(match answer {
        Ok(object) => respond::document(parts, StatusCode::CREATED, &object),
        Err(error) => respond::error(parts, &error),
    })
}

impl Review {
    fn of(path: &str) -> Option<Self> {
        if let Some(plural) = path.strip_prefix("/apis/authentication.k8s.io/v1/") {
            return match plural {
                "selfsubjectreviews" => Some(Self::Identity),
                "tokenreviews" => Some(Self::Token),
                _ => None,
            };
        }
        match path.strip_prefix("/apis/authorization.k8s.io/v1/")? {
            "selfsubjectaccessreviews" => Some(Self::OwnAccess),
            "selfsubjectrulesreviews" => Some(Self::OwnRules),
            "subjectaccessreviews" => Some(Self::Access),
            local => {
                let namespace = local.strip_prefix("namespaces/")?.strip_suffix("/localsubjectaccessreviews")?;
                (!namespace.is_empty() && !namespace.contains('/')).then(|| Self::LocalAccess(namespace.to_owned()))
            }
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Identity => "SelfSubjectReview",
            Self::OwnAccess => "SelfSubjectAccessReview",
            Self::OwnRules => "SelfSubjectRulesReview",
            Self::Access => "SubjectAccessReview",
            Self::LocalAccess(_) => "LocalSubjectAccessReview",
            Self::Token => "TokenReview",
        }
    }

    fn api_version(&self) -> String {
        let group = if matches!(self, Self::Identity | Self::Token) { AUTHENTICATION } else { AUTHORIZATION };
        format!("{group}/v1")
    }

    fn answer(
        &self,
        spec: Value,
        user: &Identity,
        core: &Core,
        authenticator: &Authenticator,
    ) -> Result<Value, ApiError> {
        let mut object = json!({"kind": self.kind(), "apiVersion": self.api_version(), "metadata": {}});
        let (spec, status) = match self {
            Self::Identity => {
                object["metadata"] = created(&core.ambient);
                (None, json!({"userInfo": user.user_info()}))
            }
            Self::OwnAccess => {
                access::check(&spec)?;
                let status = access::status(core, user, &spec);
                (Some(spec), status)
            }
            Self::OwnRules => {
                let namespace = spec.get("namespace").and_then(Value::as_str).unwrap_or_default();
                if namespace.is_empty() {
                    return Err(ApiError::bad_request("no namespace on request"));
                }
                (Some(json!({})), rules::status(core, user, namespace))
            }
            Self::Access => {
                access::check_subject(&spec)?;
                access::check(&spec)?;
                let status = access::status(core, &access::subject(&spec), &spec);
                (Some(spec), status)
            }
            Self::LocalAccess(namespace) => {
                access::check_local(&spec, namespace)?;
                object["metadata"] = json!({"namespace": namespace});
                let status = access::status(core, &access::subject(&spec), &spec);
                (Some(spec), status)
            }
            Self::Token => {
                let status = token_status(&spec, core, authenticator)?;
                (Some(spec), status)
            }
        };
        if let Some(spec) = spec {
            object["spec"] = spec;
        }
        object["status"] = status;
        Ok(object)
    }
}

fn created(ambient: &Ambient) -> Value {
    json!({"creationTimestamp": core::timestamp(ambient.now())})
}

fn token_status(spec: &Value, core: &Core, authenticator: &Authenticator) -> Result<Value, ApiError> {
    let token = spec.get("token").and_then(Value::as_str).unwrap_or_default();
    if token.is_empty() {
        return Err(ApiError::bad_request("token is required for TokenReview in authentication"));
    }
    let wanted = spec.get("audiences").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let mut wanted: Vec<_> = wanted.map(str::to_owned).collect();
    if wanted.is_empty() {
        wanted.push(ISSUER.to_owned());
    }
    Ok(match authenticator.review(core, token, &wanted) {
        Some((user, audiences)) => json!({"authenticated": true, "user": user.user_info(), "audiences": audiences}),
        None => json!({"user": {}, "error": "invalid bearer token"}),
    })
}

/// Reads the `spec` of a review.
fn spec(review: &Review, parts: &Parts, body: &[u8]) -> Result<Value, ApiError> {
    let media = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let unrecognized = |error: String| {
        let kind = review.kind();
        ApiError::bad_request(format!(
            "the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; {error}"
        ))
    };
    let mut object = match media.split(';').next().unwrap_or_default().trim() {
        protobuf::MEDIA_TYPE => {
            let decoded = protobuf::decode(body, &review.api_version(), review.kind());
            decoded.map_err(|error| unrecognized(error.to_string()))?
        }
        "application/yaml" => parse::yaml(body).map_err(unrecognized)?.value,
        "application/json" | "" => {
            parse::json(body).map_err(|error| unrecognized(format!("json parse error: {error}")))?.value
        }
        _ => {
            return Err(ApiError::unsupported_media_type(&decode::ACCEPTED));
        }
    };
    Ok(object.get_mut("spec").map(Value::take).unwrap_or_default())
}
