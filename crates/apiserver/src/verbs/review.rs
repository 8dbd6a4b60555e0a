//! Reviews: objects that are answered and never stored.

use http::StatusCode;
use serde_json::{Value, json};

use super::{Call, Reply, WriteOptions};
use crate::pipeline::decode;
use crate::status::ApiError;

/// Answers a review; `None` when the resource is none, or one that this server does not answer.
pub(super) fn review(call: &Call) -> Option<Result<Reply, ApiError>> {
    match (call.resource.group.as_str(), call.resource.kind.as_str()) {
        ("authentication.k8s.io", "SelfSubjectReview") => Some(answer(call, who(call))),
        // Everybody with a token may do everything.
        ("authorization.k8s.io", "SelfSubjectAccessReview") => Some(answer(call, json!({"allowed": true}))),
        _ => None,
    }
}

fn answer(call: &Call, status: Value) -> Result<Reply, ApiError> {
    let options = WriteOptions::of(call, "CreateOptions")?;
    let mut object = decode::object(call, options.validation)?;
    if let Some(members) = object.as_object_mut() {
        members.insert("status".to_owned(), status);
    }
    crate::metadata::fields::set(&mut object, "creationTimestamp", call.now());
    Ok(Reply::Made(StatusCode::CREATED, object))
}

fn who(call: &Call) -> Value {
    let user = &call.user;
    let mut info = json!({"username": user.name, "groups": user.groups});
    if let Some(members) = info.as_object_mut().filter(|_| !user.uid.is_empty()) {
        members.insert("uid".to_owned(), Value::from(user.uid.as_str()));
    }
    json!({"userInfo": info})
}
