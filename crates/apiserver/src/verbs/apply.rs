use controller_runtime_schema as schema;
use serde_json::Value;

use super::modify::modify;
use super::{Call, Reply, WriteOptions, managed};
use crate::metadata::fields;
use crate::patch::repeated_key;
use crate::pipeline::decode::{self, FieldValidation};
use crate::pipeline::parse::Document;
use crate::status::ApiError;

/// Applies a configuration with field ownership (server-side apply, KEP-555); creates the object if there is none.
pub(super) async fn apply(call: &Call, config: &Value, options: &WriteOptions) -> Result<Reply, ApiError> {
    check_kind(config, &call.resource.api_version(), &call.resource.kind)?;
    let may_create = call.subresource.is_none();
    modify(call, options, may_create, |live, versions| {
        let applied = managed::tracking(call, options).apply(live, config, options.force, versions)?;
        let uid = fields::text(&applied, "uid").to_owned();
        if live.is_none() && !uid.is_empty() {
            let why =
                format!("uid mismatch: the provided object specified uid {uid}, and no existing object was found");
            return Err(ApiError::conflict(call.resource.group_resource(), &call.key().name, &why));
        }
        check_keys(call, options)?;
        let document = Document::of(applied);
        let mut new = decode::typed_object(call, document, FieldValidation::Ignore)?;
        if live.is_none() {
            fields::remove(&mut new, "resourceVersion");
        }
        set_defaults(call, &mut new);
        Ok(new)
    })
    .await
}

/// Sets defaults. Nulls in a custom resource stay where none are allowed: validation refuses them.
fn set_defaults(call: &Call, object: &mut Value) {
    if call.resource.strategy.typed() {
        return super::create::set_defaults(call, object);
    }
    schema::fill_defaults(object, &call.resource.schema());
    call.resource.strategy.default(object);
}

/// Refuses, or warns of, keys that stand twice in the configuration.
fn check_keys(call: &Call, options: &WriteOptions) -> Result<(), ApiError> {
    if options.validation == FieldValidation::Ignore {
        return Ok(());
    }
    match repeated_key(&call.body) {
        None => Ok(()),
        Some(problem) if options.validation == FieldValidation::Strict => {
            Err(ApiError::bad_request(format!("error strict decoding patch: {problem}")))
        }
        Some(problem) => {
            call.warn(problem);
            Ok(())
        }
    }
}

/// Refuses a configuration of another kind or version.
pub(super) fn check_kind(config: &Value, api_version: &str, kind: &str) -> Result<(), ApiError> {
    let text = |key: &str| config.get(key).and_then(Value::as_str).unwrap_or_default();
    let (given_version, given_kind) = (text("apiVersion"), text("kind"));
    if given_version == api_version && given_kind == kind {
        return Ok(());
    }
    let slash = if given_version.contains('/') { "" } else { "/" };
    Err(ApiError::bad_request(format!("invalid object type: {slash}{given_version}, Kind={given_kind}")))
}
