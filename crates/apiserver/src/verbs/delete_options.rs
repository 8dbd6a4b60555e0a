use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Map, Value};

use super::Call;
use super::write_options::check_dry_run;
use crate::patch::go_kind;
use crate::pipeline::{decode, parse};
use crate::protobuf;
use crate::status::{ApiError, quote};

const UNREADABLE_ONLY: &str = "ignoreStoreReadErrorWithClusterBreakingPotential";

/// What happens to the objects that a deleted one owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Propagation {
    /// They lose the reference and stay.
    Orphan,
    /// They are deleted after it.
    Background,
    /// They are deleted before it.
    Foreground,
}

/// What a delete asks for, from its body or else its parameters.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeleteOptions {
    pub(crate) dry_run: bool,
    pub(crate) grace_period_seconds: Option<i64>,
    /// The deprecated way to say orphan or background.
    pub(crate) orphan_dependents: Option<bool>,
    pub(crate) propagation: Option<Propagation>,
    pub(crate) uid: Option<String>,
    pub(crate) resource_version: Option<String>,
    /// Only an object that can't be read from the store is to be deleted.
    pub(crate) unreadable_only: bool,
}

#[derive(Debug, Default)]
struct Raw {
    dry_run: Vec<String>,
    grace_period_seconds: Option<i64>,
    orphan_dependents: Option<bool>,
    propagation: Option<String>,
    uid: Option<String>,
    resource_version: Option<String>,
    unreadable_only: bool,
}

impl DeleteOptions {
    /// Reads the body, or the parameters when there is no body.
    pub(super) fn of(call: &Call) -> Result<Self, ApiError> {
        let raw = if call.body.is_empty() { Raw::of_query(call)? } else { Raw::of_body(call)? };
        raw.check()
    }

    /// The fields that are given, as reviews show them.
    pub(crate) fn members(&self) -> Map<String, Value> {
        let propagation = self.propagation.map(|propagation| match propagation {
            Propagation::Orphan => "Orphan",
            Propagation::Background => "Background",
            Propagation::Foreground => "Foreground",
        });
        let mut preconditions = Map::new();
        for (key, text) in [("uid", &self.uid), ("resourceVersion", &self.resource_version)] {
            preconditions.extend(text.as_ref().map(|text| (key.to_owned(), Value::from(text.as_str()))));
        }
        let fields = [
            ("gracePeriodSeconds", self.grace_period_seconds.map(Value::from)),
            ("orphanDependents", self.orphan_dependents.map(Value::from)),
            ("propagationPolicy", propagation.map(Value::from)),
            ("preconditions", (!preconditions.is_empty()).then_some(Value::Object(preconditions))),
        ];
        fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
    }

    /// Reads options that stand in another body.
    pub(super) fn of_value(value: &Value) -> Result<Self, ApiError> {
        match value.as_object() {
            Some(members) => Raw::of_members(members)?.check(),
            None => Ok(Self::default()),
        }
    }
}

impl Raw {
    fn of_query(call: &Call) -> Result<Self, ApiError> {
        let query = &call.query;
        let policy = query.text("propagationPolicy");
        Ok(Self {
            dry_run: query.all("dryRun").map(str::to_owned).collect(),
            grace_period_seconds: query.number("gracePeriodSeconds")?,
            orphan_dependents: query.optional_flag("orphanDependents"),
            propagation: (!policy.is_empty()).then(|| policy.to_owned()),
            uid: None,
            resource_version: None,
            unreadable_only: query.flag(UNREADABLE_ONLY),
        })
    }

    fn of_body(call: &Call) -> Result<Self, ApiError> {
        let json_error = |error| format!("couldn't get version/kind; json parse error: {error}");
        let parsed = match decode::media_type(call)? {
            protobuf::MEDIA_TYPE => protobuf::decode_options(&call.body).map_err(|error| error.to_string()),
            "application/yaml" => parse::yaml(&call.body).map(|document| document.value),
            _ => parse::json(&call.body).map(|document| document.value).map_err(json_error),
        };
        let body = parsed.map_err(ApiError::bad_request)?;
        let Some(members) = body.as_object() else {
            return Err(ApiError::bad_request("couldn't get version/kind; json parse error: the body is no object"));
        };
        Self::of_members(members)
    }

    fn of_members(members: &Map<String, Value>) -> Result<Self, ApiError> {
        let text = |key: &str| members.get(key).and_then(Value::as_str).unwrap_or_default();
        let (kind, version) = (text("kind"), text("apiVersion"));
        if !matches!(kind, "" | "DeleteOptions") {
            return Err(ApiError::bad_request(format!(
                "no kind {} is registered for version {} {}",
                quote(kind),
                quote(version),
                decode::SCHEME
            )));
        }
        let wrong = |key: &str| {
            let (found, wanted) = (go_kind(members.get(key).unwrap_or(&Value::Null)), go_type(key));
            ApiError::bad_request(format!(
                "json: cannot unmarshal {found} into Go struct field DeleteOptions.{key} of type {wanted}"
            ))
        };
        let member = |key: &str| members.get(key).filter(|value| !value.is_null());
        let precondition = |key: &str| -> Result<Option<String>, ApiError> {
            let Some(preconditions) = member("preconditions") else { return Ok(None) };
            match preconditions.get(key) {
                None | Some(Value::Null) if preconditions.is_object() => Ok(None),
                Some(Value::String(text)) => Ok(Some(text.clone())),
                _ => Err(wrong("preconditions")),
            }
        };
        let list = |key: &str| -> Result<Vec<String>, ApiError> {
            let Some(value) = member(key) else { return Ok(Vec::new()) };
            let items = value.as_array().ok_or_else(|| wrong(key))?;
            items.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(|| wrong(key))).collect()
        };
        Ok(Self {
            dry_run: list("dryRun")?,
            grace_period_seconds: optional(member("gracePeriodSeconds"), Value::as_i64, || {
                wrong("gracePeriodSeconds")
            })?,
            orphan_dependents: optional(member("orphanDependents"), Value::as_bool, || wrong("orphanDependents"))?,
            propagation: optional(
                member("propagationPolicy"),
                |value| value.as_str().map(str::to_owned),
                || wrong("propagationPolicy"),
            )?,
            uid: precondition("uid")?,
            resource_version: precondition("resourceVersion")?,
            unreadable_only: optional(member(UNREADABLE_ONLY), Value::as_bool, || wrong(UNREADABLE_ONLY))?
                .unwrap_or_default(),
        })
    }

    fn check(self) -> Result<DeleteOptions, ApiError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("propagationPolicy");
        let propagation = match self.propagation.as_deref() {
            None => None,
            Some("Orphan") => Some(Propagation::Orphan),
            Some("Background") => Some(Propagation::Background),
            Some("Foreground") => Some(Propagation::Foreground),
            Some(other) => {
                let supported = ["Foreground", "Background", "Orphan", "nil"];
                errors.push(FieldError::not_supported(&path, other, &supported));
                None
            }
        };
        if let (Some(policy), Some(_)) = (&self.propagation, self.orphan_dependents) {
            let detail = "orphanDependents and deletionPropagation cannot be both set";
            errors.push(FieldError::invalid(&path, policy.as_str(), detail));
        }
        let dry_run: Vec<&str> = self.dry_run.iter().map(String::as_str).collect();
        errors.extend(check_dry_run(&dry_run));
        if !errors.is_empty() {
            return Err(ApiError::invalid("meta.k8s.io", "DeleteOptions", "", &errors));
        }
        Ok(DeleteOptions {
            dry_run: !self.dry_run.is_empty(),
            grace_period_seconds: self.grace_period_seconds,
            orphan_dependents: self.orphan_dependents,
            propagation,
            uid: self.uid,
            resource_version: self.resource_version,
            unreadable_only: self.unreadable_only,
        })
    }
}

/// The type of a member in Go.
fn go_type(key: &str) -> &'static str {
    match key {
        "gracePeriodSeconds" => "int64",
        "orphanDependents" | "ignoreStoreReadErrorWithClusterBreakingPotential" => "bool",
        "propagationPolicy" => "v1.DeletionPropagation",
        "preconditions" => "v1.Preconditions",
        "dryRun" => "[]string",
        _ => "string",
    }
}

/// A member that may be absent. The error is for the wrong type.
fn optional<T>(
    value: Option<&Value>,
    read: impl FnOnce(&Value) -> Option<T>,
    wrong: impl FnOnce() -> ApiError,
) -> Result<Option<T>, ApiError> {
    value.map(|value| read(value).ok_or_else(wrong)).transpose()
}
