//! Whose token something is.

use serde_json::{Value, json};

use crate::access::ISSUER;
use crate::core::Core;
use crate::status::ApiError;

/// What a review's status becomes; `given` is what came with it, which stays where nobody is found.
pub(super) fn status(core: &Core, spec: &Value, given: &Value) -> Result<Value, ApiError> {
    let token = spec.get("token").and_then(Value::as_str).unwrap_or_default();
    if token.is_empty() {
        return Err(ApiError::bad_request("token is required for TokenReview in authentication"));
    }
    let wanted = spec.get("audiences").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let mut wanted: Vec<_> = wanted.map(str::to_owned).collect();
    if wanted.is_empty() {
        wanted.push(ISSUER.to_owned());
    }
    if let Some((user, audiences)) = core.authenticator.review(core, token, &wanted) {
        return Ok(json!({"authenticated": true, "user": user.user_info(), "audiences": audiences}));
    }
    let mut status = if given.is_object() { given.clone() } else { json!({"user": {}}) };
    if let Some(members) = status.as_object_mut() {
        members.remove("authenticated");
        members.insert("error".to_owned(), json!("invalid bearer token"));
    }
    Ok(status)
}
