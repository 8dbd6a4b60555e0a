//! `serviceaccounts/token`: a token for a service account.

use controller_runtime_schema::{FieldError, FieldPath};
use http::StatusCode;
use serde_json::{Value, json};

use super::{Call, Reply, WriteOptions};
use crate::access::{Claims, ISSUER};
use crate::core;
use crate::metadata::fields;
use crate::pipeline::decode;
use crate::status::{ApiError, GroupResource};
use crate::store::ObjectKey;

const GROUP: &str = "authentication.k8s.io";
const KIND: &str = "TokenRequest";
/// Seconds that a token is good for when nobody says.
const DEFAULT_LIFETIME: i64 = 3600;
const MIN_LIFETIME: i64 = 600;
const MAX_LIFETIME: i64 = 1 << 32;

/// Answers with a new token.
pub(super) fn token_request(call: &Call) -> Result<Reply, ApiError> {
    WriteOptions::of(call, "CreateOptions")?;
    let request = decode::document(call)?.value;
    let key = call.key();
    let account = call
        .core
        .store
        .get(&call.collection(), &key)
        .ok_or_else(|| ApiError::not_found(call.resource.group_resource(), &key.name))?;
    let uid = fields::text(account.value(), "uid");
    let named = fields::text(&request, "name");
    if !named.is_empty() && named != key.name {
        let detail = "must match the service account name if specified";
        return Err(invalid(&key.name, "metadata.name", named, detail));
    }
    let lifetime = lifetime(&request)?;
    let bound = bound_object(call, &request)?;
    let now = call.core.ambient.now();
    let issued = now.as_second();
    let mut audiences: Vec<String> = request
        .pointer("/spec/audiences")
        .and_then(Value::as_array)
        .map(|values| values.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        .unwrap_or_default();
    if audiences.is_empty() {
        audiences.push(ISSUER.to_owned());
    }
    let claims = Claims {
        namespace: key.namespace.clone(),
        name: key.name.clone(),
        uid: uid.to_owned(),
        audiences,
        issued,
        expires: issued.saturating_add(lifetime),
        id: call.core.ambient.uuid(),
        bound,
    };
    let expires = jiff::Timestamp::from_second(claims.expires).map(core::timestamp).unwrap_or_default();
    let object = json!({
        "kind": KIND, "apiVersion": format!("{GROUP}/v1"),
        "metadata": {
            "name": claims.name, "namespace": claims.namespace, "uid": claims.uid,
            "creationTimestamp": core::timestamp(now),
        },
        "spec": {
            "audiences": claims.audiences, "expirationSeconds": lifetime,
            "boundObjectRef": request.pointer("/spec/boundObjectRef").cloned().unwrap_or_default(),
        },
        "status": {"token": call.core.tokens.sign(&claims), "expirationTimestamp": expires},
    });
    Ok(Reply::Made(StatusCode::CREATED, object))
}

fn lifetime(request: &Value) -> Result<i64, ApiError> {
    let seconds = request.pointer("/spec/expirationSeconds").and_then(Value::as_i64).unwrap_or(DEFAULT_LIFETIME);
    let detail = match seconds {
        ..MIN_LIFETIME => "may not specify a duration less than 10 minutes",
        MIN_LIFETIME..=MAX_LIFETIME => return Ok(seconds),
        _ => "may not specify a duration larger than 2^32 seconds",
    };
    Err(invalid("", "spec.expirationSeconds", seconds, detail))
}

/// Kind, name and uid of the object that the token is bound to.
fn bound_object(call: &Call, request: &Value) -> Result<Option<(String, String, String)>, ApiError> {
    let Some(reference) = request.pointer("/spec/boundObjectRef").filter(|value| value.is_object()) else {
        return Ok(None);
    };
    let text = |key: &str| reference.get(key).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind, name, uid) = (text("apiVersion"), text("kind"), text("name"), text("uid"));
    if api_version != "v1" || !matches!(kind, "Pod" | "Secret" | "Node") {
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        return Err(ApiError::bad_request(format!(
            "cannot bind token to object of type {group}/{version}, Kind={kind}"
        )));
    }
    let resource = format!("{}s", kind.to_lowercase());
    let namespace = if kind == "Node" { "" } else { call.namespace.as_str() };
    let about = GroupResource { group: "", resource: &resource };
    let stored = call.core.store.get(&resource, &ObjectKey::new(namespace, name));
    let stored = stored.ok_or_else(|| ApiError::not_found(about, name))?;
    let stored_uid = fields::text(stored.value(), "uid");
    if !uid.is_empty() && uid != stored_uid {
        let why = format!(
            "the UID in the bound object reference ({uid}) does not match the UID in record. The object might have \
             been deleted and then recreated"
        );
        return Err(ApiError::conflict(about, name, &why));
    }
    Ok(Some((kind.to_owned(), name.to_owned(), stored_uid.to_owned())))
}

fn invalid(name: &str, field: &str, value: impl Into<Value>, detail: &str) -> ApiError {
    ApiError::invalid(GROUP, KIND, name, &[FieldError::invalid(&FieldPath::new(field), value, detail)])
}
