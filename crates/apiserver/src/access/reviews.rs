//! What a client may ask about itself: who it is and what it may do. `kubectl auth whoami` and `kubectl auth can-i`
//! ask. Who gets this far may do everything.

use controller_runtime_ambient::Ambient;
use controller_runtime_schema::{FieldError, FieldPath};
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{Method, Response, StatusCode};
use serde_json::{Value, json};

use super::Identity;
use crate::body::Body;
use crate::core;
use crate::pipeline::{decode, parse, respond};
use crate::protobuf;
use crate::status::ApiError;

const AUTHENTICATION: &str = "authentication.k8s.io";
const AUTHORIZATION: &str = "authorization.k8s.io";

/// One kind of review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Review {
    Identity,
    Access,
    Rules,
}

/// Answers when the path is a review's.
pub(crate) fn respond(parts: &Parts, body: &[u8], user: &Identity, ambient: &Ambient) -> Option<Response<Body>> {
    let review = match parts.uri.path() {
        "/apis/authentication.k8s.io/v1/selfsubjectreviews" => Review::Identity,
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews" => Review::Access,
        "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews" => Review::Rules,
        _ => return None,
    };
    let answer = if parts.method == Method::POST {
        spec(review, parts, body).and_then(|spec| review.answer(&spec, user, ambient))
    } else {
        Err(ApiError::method_not_allowed())
    };
    Some(match answer {
        Ok(object) => respond::document(parts, StatusCode::CREATED, &object),
        Err(error) => respond::error(parts, &error),
    })
}

impl Review {
    fn kind(self) -> &'static str {
        match self {
            Self::Identity => "SelfSubjectReview",
            Self::Access => "SelfSubjectAccessReview",
            Self::Rules => "SelfSubjectRulesReview",
        }
    }

    fn api_version(self) -> String {
        let group = if self == Self::Identity { AUTHENTICATION } else { AUTHORIZATION };
        format!("{group}/v1")
    }

    fn answer(self, spec: &Value, user: &Identity, ambient: &Ambient) -> Result<Value, ApiError> {
        let mut object = json!({"kind": self.kind(), "apiVersion": self.api_version(), "metadata": {}});
        match self {
            Self::Identity => {
                let mut info = json!({"username": user.name});
                if !user.uid.is_empty() {
                    info["uid"] = json!(user.uid);
                }
                if !user.groups.is_empty() {
                    info["groups"] = json!(user.groups);
                }
                object["metadata"]["creationTimestamp"] = json!(core::timestamp(ambient.now()));
                object["status"] = json!({"userInfo": info});
            }
            Self::Access => {
                let given = |key| spec.get(key).is_some_and(Value::is_object);
                if given("resourceAttributes") == given("nonResourceAttributes") {
                    let value = spec.get("nonResourceAttributes").cloned().unwrap_or_default();
                    let detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
                    let error = FieldError::invalid(&FieldPath::new("spec"), value, detail);
                    return Err(ApiError::invalid(AUTHORIZATION, "", "", &[error]));
                }
                object["spec"] = spec.clone();
                object["status"] = json!({"allowed": true});
            }
            Self::Rules => {
                if spec.get("namespace").and_then(Value::as_str).unwrap_or_default().is_empty() {
                    return Err(ApiError::bad_request("no namespace on request"));
                }
                object["spec"] = json!({});
                object["status"] = json!({
                    "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
                    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
                    "incomplete": false,
                });
            }
        }
        Ok(object)
    }
}

/// Reads the `spec` of a review.
fn spec(review: Review, parts: &Parts, body: &[u8]) -> Result<Value, ApiError> {
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
