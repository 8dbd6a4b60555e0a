use controller_runtime_client::Client;
use controller_runtime_scheme::{ApiResource, GroupVersionKind, Kind, Scope, Unstructured};
use http::header::AUTHORIZATION;
use http::request::Parts;
use serde_json::{Value, json};

use crate::security::Refusal;

/// Asks the API server who sends the request, and whether they may.
pub(crate) async fn admits(client: &Client, head: &Parts) -> Result<(), Refusal> {
    let token = bearer(head).ok_or(Refusal::Unauthenticated)?;
    let answer = review(client, "authentication.k8s.io", "TokenReview", json!({"token": token})).await?;
    let mut user = match &answer["authenticated"] {
        Value::Bool(true) => answer["user"].clone(),
        _ => return Err(Refusal::Unauthenticated),
    };
    let name = user["username"].take();
    let path = head.uri.path();
    let spec = json!({
        "user": name,
        "uid": user["uid"].take(),
        "groups": user["groups"].take(),
        "extra": user["extra"].take(),
        "nonResourceAttributes": {"path": path, "verb": "get"},
    });
    let answer = review(client, "authorization.k8s.io", "SubjectAccessReview", without_nulls(spec)).await?;
    match (&answer["allowed"], &answer["denied"]) {
        (Value::Bool(true), Value::Null | Value::Bool(false)) => Ok(()),
        _ => Err(Refusal::Forbidden(format!("{} cannot get {path}", name.as_str().unwrap_or_default()))),
    }
}

/// The token of `Authorization: Bearer …` (RFC 6750); the scheme's case doesn't matter.
fn bearer(head: &Parts) -> Option<&str> {
    let (scheme, token) = head.headers.get(AUTHORIZATION)?.to_str().ok()?.trim().split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// What the API server says: the status of a review.
async fn review(client: &Client, group: &str, name: &str, spec: Value) -> Result<Value, Refusal> {
    let kind = GroupVersionKind::gvk(group, "v1", name);
    let plural = format!("{}s", name.to_ascii_lowercase());
    let resource = ApiResource::from_gvk_with_plural(&kind, &plural);
    // Nothing is stored, and what has no name needs one that is generated.
    let mut review = Unstructured::new("", &resource);
    review.metadata.name = None;
    review.metadata.generate_name = Some("metrics-".to_owned());
    review.data = json!({"spec": spec});
    let kind = Kind::dynamic(resource, Scope::Cluster);
    let mut answer = client.api(kind).create(&review).await.map_err(|error| Refusal::Unavailable(error.into()))?;
    Ok(answer.data["status"].take())
}

fn without_nulls(mut object: Value) -> Value {
    if let Value::Object(fields) = &mut object {
        fields.retain(|_, value| !value.is_null());
    }
    object
}
