//! `serviceaccounts/token`: a token for a service account.

use controller_runtime_merge::NoOtherVersions;
use controller_runtime_schema::{FieldError, FieldPath};
use http::StatusCode;
use serde_json::{Value, json};

use super::own_kind::{self, OwnKind};
use super::{Call, Reply, WriteOptions};
use crate::access::{Claims, ISSUER};
use crate::admission::{self, Operation};
use crate::core;
use crate::managed_fields::Tracking;
use crate::metadata::fields;
use crate::status::{ApiError, GroupResource, quote};
use crate::store::ObjectKey;

/// Seconds that a token is good for when nobody says.
const DEFAULT_LIFETIME: i64 = 3600;
const MIN_LIFETIME: i64 = 600;
const MAX_LIFETIME: i64 = 1 << 32;

/// Answers with a new token.
pub(super) async fn token_request(call: &Call) -> Result<Reply, ApiError> {
    let options = WriteOptions::of(call, "CreateOptions")?;
    let mut request = decoded(call, &options)?;
    admission::mutate(call, Operation::Create, &mut request, None, &options).await?;
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
    let mut object = request;
    object["metadata"]["name"] = json!(key.name);
    object["metadata"]["namespace"] = json!(key.namespace);
    object["metadata"]["uid"] = json!(uid);
    object["metadata"]["creationTimestamp"] = json!(core::timestamp(now));
    let spec = &mut object["spec"];
    spec["audiences"] = json!(audiences);
    if spec.get("boundObjectRef").is_none() {
        spec["boundObjectRef"] = Value::Null;
    }
    object["status"] = json!({"token": "", "expirationTimestamp": null});
    admission::validate(call, Operation::Create, &object, None, &options).await?;
    let bound = bound_object(call, &object)?;
    let claims = Claims {
        namespace: key.namespace,
        name: key.name,
        uid: uid.to_owned(),
        audiences,
        issued,
        expires: issued.saturating_add(lifetime),
        id: call.core.ambient.uuid(),
        bound,
    };
    let expires = jiff::Timestamp::from_second(claims.expires).map(core::timestamp).unwrap_or_default();
    object["status"] = json!({"token": call.core.tokens.sign(&claims)?, "expirationTimestamp": expires});
    Ok(Reply::Made(StatusCode::CREATED, object))
}

/// The request in its own kind, with its defaults and who wrote it.
fn decoded(call: &Call, options: &WriteOptions) -> Result<Value, ApiError> {
    let (resource, mut request) = own_kind::decoded(call, options, OwnKind::TOKEN_REQUEST)?;
    set_default_lifetime(&mut request);
    let tracking = Tracking::new(&resource, Some("token"), options.manager.clone(), call.now());
    tracking.with_null_in_spec("boundObjectRef").track(None, &mut request, &NoOtherVersions);
    Ok(request)
}

fn set_default_lifetime(request: &mut Value) {
    let Some(fields) = request.as_object_mut() else { return };
    let spec = fields.entry("spec").or_insert_with(|| json!({}));
    if let Some(spec) = spec.as_object_mut() {
        spec.entry("expirationSeconds").or_insert_with(|| json!(DEFAULT_LIFETIME));
    }
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
        // The reference names the kind where it names resources elsewhere.
        return Err(ApiError::conflict(GroupResource { group: "", resource: kind }, name, &why));
    }
    let account = stored.value().pointer("/spec/serviceAccountName").and_then(Value::as_str).unwrap_or_default();
    let own = call.name.as_deref().unwrap_or_default();
    if kind == "Pod" && account != own {
        let quoted = quote(own);
        return Err(ApiError::bad_request(format!(
            "cannot bind token for serviceaccount {quoted} to pod running with different serviceaccount name."
        )));
    }
    Ok(Some((kind.to_owned(), name.to_owned(), stored_uid.to_owned())))
}

fn invalid(name: &str, field: &str, value: impl Into<Value>, detail: &str) -> ApiError {
    let own = OwnKind::TOKEN_REQUEST;
    ApiError::invalid(own.group, own.kind, name, &[FieldError::invalid(&FieldPath::new(field), value, detail)])
}
