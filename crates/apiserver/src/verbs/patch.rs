use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::modify::modify;
use super::own_kind::OwnKind;
use super::{Call, Reply, WriteOptions, apply, managed, scale};
use crate::managed_fields::scale_schema;
use crate::patch::{Patch, PatchType, invalid_patch};
use crate::pipeline::decode::{self, FieldValidation};
use crate::pipeline::parse::{self, Document};
use crate::status::{ApiError, quote};

/// Changes an object by a patch, or applies a configuration to it.
pub(super) async fn patch(call: &Call) -> Result<Reply, ApiError> {
    let (patch, options) = decoded(call)?;
    if let Patch::Apply(config) = &patch {
        return apply::apply(call, config, &options).await;
    }
    let duplicates = duplicates(call, &patch);
    let meaningless = meaningless(&patch);
    if options.validation == FieldValidation::Warn {
        for text in &meaningless {
            call.warn(text.clone());
        }
    }
    modify(call, &options, false, |live, versions| {
        let live = live.ok_or_else(|| ApiError::not_found(call.resource.group_resource(), &call.key().name))?;
        let patched = patch.patched(live, &call.resource.schema())?;
        let shown = patch.shown(&patched);
        if options.validation == FieldValidation::Strict && !meaningless.is_empty() {
            return Err(invalid_patch(shown, format!("strict decoding error: {}", meaningless.join(", "))));
        }
        let mut new =
            read(call, Document { duplicates: duplicates.clone(), ..Document::of(patched) }, shown, &patch, &options)?;
        super::create::set_defaults(call, &mut new);
        managed::tracking(call, &options).track(Some(live), &mut new, versions);
        Ok(new)
    })
    .await
}

/// Changes the scale of an object by a patch, or applies one to it.
pub(super) async fn patch_scale(call: &Call) -> Result<Reply, ApiError> {
    let (patch, options) = decoded(call)?;
    match &patch {
        Patch::Apply(config) => scale::apply(call, config, &options).await,
        patch => {
            scale::change(call, &options, |scale| {
                let patched = patch.patched(scale, &scale_schema())?;
                decode::check_types(&patched, OwnKind::SCALE.definition)
                    .map_err(|error| unreadable(&error, "Scale", patch.shown(&patched), patch))?;
                Ok(patched)
            })
            .await
        }
    }
}

fn decoded(call: &Call) -> Result<(Patch, WriteOptions), ApiError> {
    let patch_type = PatchType::of_content_type(&call.content_type, &call.resource)?;
    let options = WriteOptions::of_patch(call, patch_type.is_apply())?;
    Ok((Patch::decode(patch_type, &call.body)?, options))
}

/// What is wrong with the form of a patch and doesn't keep it from being applied.
fn meaningless(patch: &Patch) -> Vec<String> {
    let Patch::Json(operations) = patch else { return Vec::new() };
    operations.unknown().iter().map(|path| format!("json patch unknown field {}", quote(path))).collect()
}

/// Keys that stand twice in a partial object; its decoder took the last one.
fn duplicates(call: &Call, patch: &Patch) -> Vec<String> {
    match patch {
        Patch::Merge(_) | Patch::Strategic(_) => parse::json(&call.body).map(|it| it.duplicates).unwrap_or_default(),
        Patch::Json(_) | Patch::Apply(_) => Vec::new(),
    }
}

/// Reads the patched object. Errors: 422 that shows it, or the patch, and says why it is no object of the kind.
fn read(
    call: &Call,
    patched: Document,
    shown: String,
    patch: &Patch,
    options: &WriteOptions,
) -> Result<Value, ApiError> {
    check_custom_kind(call, &patched.value)?;
    decode::typed_object(call, patched, options.validation)
        .map_err(|error| unreadable(&error, &call.resource.kind, shown, patch))
}

/// Says of a patch that it makes no object, for the reason why the object can't be read.
fn unreadable(error: &ApiError, kind: &str, shown: String, patch: &Patch) -> ApiError {
    let text = error.message();
    let why = text.split_once(&format!(" cannot be handled as a {kind}: ")).map_or(text, |(_, why)| why).to_owned();
    let why = if matches!(patch, Patch::Strategic(_)) { unstructured_text(&why) } else { why };
    invalid_patch(shown, why)
}

/// What is wrong with a type in the words of Go's other decoder, which reads maps and not text.
fn unstructured_text(why: &str) -> String {
    let parts = why.strip_prefix("json: cannot unmarshal ").and_then(|rest| rest.split_once(" into Go struct field "));
    let Some((found, (_, wanted))) = parts.and_then(|(found, rest)| Some((found, rest.split_once(" of type ")?)))
    else {
        return why.to_owned();
    };
    let found = match found {
        "object" => "map",
        "array" => "slice",
        "number" => "int64",
        other => other,
    };
    if wanted.starts_with("map[") {
        format!("cannot restore map from {found}")
    } else if wanted.starts_with("[]") {
        format!("cannot restore slice from {found}")
    } else if wanted.contains('.') {
        format!("cannot restore struct from: {found}")
    } else {
        format!("unrecognized type: {wanted}")
    }
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
