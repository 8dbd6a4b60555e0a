//! Who somebody is and what they may do. `kubectl auth whoami` and `kubectl auth can-i` ask about oneself; webhooks and
//! metrics endpoints ask about others. Reviews are created as objects are, but nothing is stored.

mod access;
mod rules;
mod selectors;
mod token;

use serde_json::{Value, json};

use crate::core;
use crate::status::ApiError;
use crate::verbs::Call;

const AUTHORIZATION: &str = "authorization.k8s.io";

/// The answer to a review that is decoded and belongs to the call's resource.
pub(crate) fn answer(call: &Call, mut review: Value) -> Result<Value, ApiError> {
    let kind = call.resource.kind.as_str();
    let (core, user) = (&*call.core, &call.user);
    let spec = review.get("spec").cloned().unwrap_or_default();
    let status = match kind {
        "SelfSubjectReview" => {
            review["metadata"] = json!({"creationTimestamp": core::timestamp(core.ambient.now())});
            json!({"userInfo": user.user_info()})
        }
        "SelfSubjectRulesReview" => {
            let namespace = spec.get("namespace").and_then(Value::as_str).unwrap_or_default();
            if namespace.is_empty() {
                return Err(ApiError::bad_request("no namespace on request"));
            }
            // Neither what was asked nor what else came with it is repeated.
            review["metadata"] = json!({});
            review["spec"] = json!({});
            rules::status(core, user, namespace)
        }
        "SelfSubjectAccessReview" => {
            access::check_own(&review)?;
            access::status(core, user, &spec)
        }
        "SubjectAccessReview" => {
            access::check(&review)?;
            access::status(core, &access::subject(&spec), &spec)
        }
        "LocalSubjectAccessReview" => {
            access::check_local(&review)?;
            access::status(core, &access::subject(&spec), &spec)
        }
        "TokenReview" => token::status(core, &spec, review.get("status").unwrap_or(&Value::Null))?,
        _ => return Err(ApiError::method_not_allowed()),
    };
    review["status"] = status;
    Ok(review)
}
