use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::modify::modify;
use super::{Call, Reply, WriteOptions, apply, managed, scale};
use crate::managed_fields::scale_schema;
use crate::patch::{Patch, PatchType, invalid_patch};
use crate::pipeline::decode;
use crate::pipeline::parse::{self, Document};
use crate::status::ApiError;

/// Changes an object by a patch, or applies a configuration to it.
pub(super) async fn patch(call: &Call) -> Result<Reply, ApiError> {
    let (patch, options) = decoded(call)?;
    if let Patch::Apply(config) = &patch {
        return apply::apply(call, config, &options).await;
    }
    let duplicates = duplicates(call, &patch);
    modify(call, &options, false, |live| {
        let live = live.ok_or_else(|| ApiError::not_found(call.resource.group_resource(), &call.key().name))?;
        let patched = patch.patched(live, &call.resource.schema())?;
        let shown = patch.shown(&patched);
        let mut new = read(call, Document { value: patched, duplicates: duplicates.clone() }, shown, &options)?;
        super::create::set_defaults(call, &mut new);
        managed::tracking(call, &options).track(Some(live), &mut new);
        Ok(new)
    })
    .await
}

/// Changes the scale of an object by a patch, or applies one to it.
pub(super) async fn patch_scale(call: &Call) -> Result<Reply, ApiError> {
    let (patch, options) = decoded(call)?;
    match &patch {
        Patch::Apply(config) => scale::apply(call, config, &options).await,
        patch => scale::change(call, &options, |scale| patch.patched(scale, &scale_schema())).await,
    }
}

fn decoded(call: &Call) -> Result<(Patch, WriteOptions), ApiError> {
    let patch_type = PatchType::of_content_type(&call.content_type, &call.resource)?;
    let options = WriteOptions::of_patch(call, patch_type.is_apply())?;
    Ok((Patch::decode(patch_type, &call.body)?, options))
}

/// Keys that stand twice in a partial object; its decoder took the last one.
fn duplicates(call: &Call, patch: &Patch) -> Vec<String> {
    match patch {
        Patch::Merge(_) | Patch::Strategic(_) => parse::json(&call.body).map(|it| it.duplicates).unwrap_or_default(),
        Patch::Json(_) | Patch::Apply(_) => Vec::new(),
    }
}

/// Reads the patched object. Errors: 422 that shows it, or the patch, and says why it is no object of the kind.
fn read(call: &Call, patched: Document, shown: String, options: &WriteOptions) -> Result<Value, ApiError> {
    check_custom_kind(call, &patched.value)?;
    decode::typed_object(call, patched, options.validation).map_err(|error| {
        let text = error.message();
        let marker = format!(" cannot be handled as a {}: ", call.resource.kind);
        let why = text.split_once(&marker).map_or(text, |(_, why)| why).to_owned();
        invalid_patch(shown, why)
    })
}

/// Custom resources find out only in validation that they became another kind.
fn check_custom_kind(call: &Call, patched: &Value) -> Result<(), ApiError> {
    let resource = &call.resource;
    let api_version = resource.api_version();
    let expected = [("kind", resource.kind.as_str()), ("apiVersion", api_version.as_str())];
    for (field, wanted) in expected.into_iter().filter(|_| !resource.strategy.typed()) {
        let given = patched.get(field).and_then(Value::as_str).unwrap_or(wanted);
        if given != wanted {
            let error = FieldError::invalid(&FieldPath::new(field), given, format!("must be {wanted}"));
            let text = |pointer| patched.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
            let group = text("/apiVersion").split_once('/').map_or("", |(group, _)| group);
            return Err(ApiError::invalid(group, text("/kind"), text("/metadata/name"), &[error]));
        }
    }
    Ok(())
}
