use controller_runtime_schema::{FieldError, FieldPath};

use super::Call;
use crate::pipeline::decode::FieldValidation;
use crate::status::ApiError;

/// What the parameters of a create, update or patch ask for.
#[derive(Clone, Debug)]
pub(crate) struct WriteOptions {
    /// Nothing is stored.
    pub(crate) dry_run: bool,
    /// What happens to unknown and duplicate fields.
    pub(crate) validation: FieldValidation,
    /// Who owns the fields that are written.
    pub(crate) manager: String,
}

impl WriteOptions {
    /// Reads the parameters; `kind` names the options object in errors: `CreateOptions`, `UpdateOptions`,
    /// `PatchOptions`.
    pub(crate) fn of(call: &Call, kind: &str) -> Result<Self, ApiError> {
        let mut errors = Vec::new();
        let dry_run: Vec<&str> = call.query.all("dryRun").collect();
        errors.extend(check_dry_run(&dry_run));
        let given = call.query.text("fieldManager");
        let path = FieldPath::new("fieldManager");
        if given.len() > 128 {
            errors.push(FieldError::too_long(&path, 128));
        }
        if let Some(bad) = given.chars().find(|c| c.is_control()) {
            let detail = format!("should only contain printable characters, found {bad:?}");
            errors.push(FieldError::invalid(&path, given, detail));
        }
        if !errors.is_empty() {
            return Err(ApiError::invalid("meta.k8s.io", kind, "", &errors));
        }
        Ok(Self { dry_run: !dry_run.is_empty(), validation: FieldValidation::of(call, kind)?, manager: call.manager() })
    }
}

/// The only dry run there is, is of all stages.
pub(super) fn check_dry_run(values: &[&str]) -> Option<FieldError> {
    if values.is_empty() || *values == ["All"] {
        return None;
    }
    let path = FieldPath::new("dryRun");
    let given: serde_json::Value = values.iter().copied().collect();
    Some(FieldError::not_supported(&path, given, &["All"]))
}
