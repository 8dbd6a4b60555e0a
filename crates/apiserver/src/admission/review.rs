//! `admission.k8s.io/v1` `AdmissionReview`: what is asked, and what an answer means.

use base64::engine::general_purpose::STANDARD;
use base64::{DecodeError, Engine as _};
use http::StatusCode;
use serde_json::{Value, json};

use super::attributes::{Attributes, Operation};
use super::caller::CallError;
use super::webhook::Phase;
use crate::patch::go_kind;
use crate::pipeline::decode;
use crate::resource::Resource;
use crate::status::{ApiError, quote};
use crate::verbs::DeleteOptions;

const API_VERSION: &str = "admission.k8s.io/v1";
const KIND: &str = "AdmissionReview";

/// What a webhook decided.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    pub(super) refusal: Option<Refusal>,
    /// JSON patch operations.
    pub(super) patch: Option<Value>,
    pub(super) warnings: Vec<String>,
}

/// Why a webhook refused: its status.
#[derive(Debug)]
pub(super) struct Refusal(Value);

/// The review with a request.
pub(super) fn review(request: &Value) -> Value {
    json!({"kind": KIND, "apiVersion": API_VERSION, "request": request})
}

/// What a webhook is asked about a write, with the objects in the version that its rules name.
pub(super) fn request(
    uid: &str,
    attributes: &Attributes<'_>,
    matched: &Resource,
    object: Option<&Value>,
    old: Option<&Value>,
) -> Value {
    let call = attributes.call;
    let written = &call.resource;
    let kind = |resource: &Resource| {
        let served = call.subresource.as_ref().and_then(|name| resource.subresources.get(name));
        let kind = served.map_or(resource.kind.as_str(), |served| served.kind.as_str());
        let group = served.and_then(|served| served.group.as_deref()).unwrap_or(&resource.group);
        let version = served.and_then(|served| served.version.as_deref()).unwrap_or(&resource.version);
        json!({"group": group, "version": version, "kind": kind})
    };
    let place = |resource: &Resource| json!({"group": resource.group, "version": resource.version, "resource": resource.plural});
    let mut options = json!({"kind": attributes.options, "apiVersion": "meta.k8s.io/v1"});
    if attributes.dry_run {
        options["dryRun"] = json!(["All"]);
    }
    if let Some(members) = options.as_object_mut() {
        members.extend(attributes.delete_options.map(DeleteOptions::members).unwrap_or_default());
    }
    for key in ["fieldManager", "fieldValidation"] {
        let given = call.query.text(key);
        if !given.is_empty() && attributes.operation != Operation::Delete {
            options[key] = json!(given);
        }
    }
    let mut request = json!({
        "uid": uid, "kind": kind(matched), "resource": place(matched),
        "requestKind": kind(written), "requestResource": place(written),
        "operation": attributes.operation.as_str(), "userInfo": call.user.user_info(),
        "object": object, "oldObject": old,
        "dryRun": attributes.dry_run, "options": options,
    });
    // The objects of a collection go without their names.
    let is_unnamed = attributes.operation == Operation::Delete && call.name.is_none();
    for (key, text) in [
        ("name", if is_unnamed { "" } else { attributes.name.as_str() }),
        ("namespace", attributes.namespace.as_str()),
        ("subResource", call.subresource.as_deref().unwrap_or_default()),
        ("requestSubResource", call.subresource.as_deref().unwrap_or_default()),
    ] {
        if !text.is_empty() {
            request[key] = json!(text);
        }
    }
    request
}

/// Reads an answer; the error is one that can't be believed.
pub(super) fn verdict(answer: &Value, uid: &str, phase: Phase) -> Result<Verdict, CallError> {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (version, kind) = (text(answer, "apiVersion"), text(answer, "kind"));
    if !kind.is_empty() && (kind != KIND || !version.starts_with("admission.k8s.io/v1")) {
        let (kind, version) = (quote(&kind), quote(&version));
        return Err(CallError::Failed(format!(
            "no kind {kind} is registered for version {version} {}",
            decode::SCHEME
        )));
    }
    let Some(response) = answer.get("response").filter(|response| response.is_object()) else {
        return Err(CallError::Invalid("webhook response was absent".to_owned()));
    };
    let given = text(response, "uid");
    if given != uid {
        return Err(CallError::Invalid(format!("expected response.uid={}, got {}", quote(uid), quote(&given))));
    }
    if version != API_VERSION || kind != KIND {
        let slash = if version.is_empty() { "/" } else { "" };
        let got = format!("{version}{slash}, Kind={kind}");
        return Err(CallError::Invalid(format!("expected webhook response of {API_VERSION}, Kind={KIND}, got {got}")));
    }
    let patch = patch(response, phase)?;
    let warnings = response.get("warnings").and_then(Value::as_array).into_iter().flatten();
    let refused = response.get("allowed").and_then(Value::as_bool) != Some(true);
    Ok(Verdict {
        refusal: refused.then(|| Refusal(response.get("status").cloned().unwrap_or_default())),
        patch,
        warnings: warnings.filter_map(Value::as_str).map(str::to_owned).collect(),
    })
}

fn patch(response: &Value, phase: Phase) -> Result<Option<Value>, CallError> {
    let encoded = response.get("patch").and_then(Value::as_str).unwrap_or_default();
    let patch_type = response.get("patchType").and_then(Value::as_str);
    let invalid = |text: &str| Err(CallError::Invalid(text.to_owned()));
    if phase == Phase::Validating {
        return match (encoded.is_empty(), patch_type) {
            (true, None) => Ok(None),
            (false, _) => invalid("validating webhook may not return response.patch"),
            (true, Some(_)) => invalid("validating webhook may not return response.patchType"),
        };
    }
    match (encoded.is_empty(), patch_type) {
        (true, None) => Ok(None),
        (false, None) => invalid("webhook returned response.patch but not response.patchType"),
        (true, Some(_)) => invalid("webhook returned response.patchType but not response.patch"),
        (false, Some(patch_type)) => {
            let bytes = STANDARD.decode(encoded).map_err(|error| {
                let at = match error {
                    DecodeError::InvalidByte(at, _) | DecodeError::InvalidLastSymbol(at, _) => at,
                    _ => encoded.len(),
                };
                CallError::Failed(format!("illegal base64 data at input byte {at}"))
            })?;
            let patch: Value =
                serde_json::from_slice(&bytes).map_err(|error| CallError::Undecodable(error.to_string()))?;
            match patch.as_array() {
                Some(operations) if operations.is_empty() => Ok(None),
                Some(_) if patch_type == "JSONPatch" => Ok(Some(patch)),
                Some(_) => Err(CallError::Unsupported(patch_type.to_owned())),
                None => Err(CallError::Undecodable(format!(
                    "json: cannot unmarshal {} into Go value of type jsonpatch.Patch",
                    go_kind(&patch)
                ))),
            }
        }
    }
}

impl Refusal {
    /// Of a status, as reviews have it.
    pub(super) fn new(status: Value) -> Self {
        Self(status)
    }

    /// What the client is told.
    pub(super) fn error(&self, webhook: &str) -> ApiError {
        let text = |key: &str| self.0.get(key).and_then(Value::as_str).unwrap_or_default();
        let refused = format!("admission webhook {} denied the request", quote(webhook));
        let message = match (text("message"), text("reason")) {
            ("", "") => format!("{refused} without explanation"),
            ("", reason) => format!("{refused}: {reason}"),
            (message, _) => format!("{refused}: {message}"),
        };
        let code = self.0.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
        let code = code.filter(|code| *code >= 400).and_then(|code| StatusCode::from_u16(code).ok());
        ApiError::refused(code.unwrap_or(StatusCode::BAD_REQUEST), text("reason"), message, self.0.get("details"))
    }
}
