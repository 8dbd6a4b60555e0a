use controller_runtime_schema::{FieldError, FieldPath};

use super::Call;
use crate::managed_fields::{check_field_manager, field_manager_of};
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
    /// Whether apply takes fields that others own.
    pub(crate) force: bool,
    /// Whether the request brings a part of the object only. The uid of a whole one must be that of the stored object.
    pub(crate) is_partial: bool,
}

impl WriteOptions {
    /// Reads the parameters; `kind` names the options object in errors: `CreateOptions`, `UpdateOptions`.
    pub(crate) fn of(call: &Call, kind: &str) -> Result<Self, ApiError> {
        Self::checked(call, kind, Vec::new())
    }

    /// Reads the parameters of a patch. Only apply may force, and must name its field manager.
    pub(crate) fn of_patch(call: &Call, is_apply: bool) -> Result<Self, ApiError> {
        let mut errors = Vec::new();
        if is_apply && call.query.text("fieldManager").is_empty() {
            errors.push(FieldError::required(&FieldPath::new("fieldManager"), "is required for apply patch"));
        }
        if !is_apply && call.query.has("force") {
            let detail = "may not be specified for non-apply patch";
            errors.push(FieldError::forbidden(&FieldPath::new("force"), detail));
        }
        Ok(Self { is_partial: true, ..Self::checked(call, "PatchOptions", errors)? })
    }

    fn checked(call: &Call, kind: &str, mut errors: Vec<FieldError>) -> Result<Self, ApiError> {
        let named = call.query.text("fieldManager");
        errors.extend(check_field_manager(named));
        let dry_run: Vec<&str> = call.query.all("dryRun").collect();
        errors.extend(check_dry_run(&dry_run));
        let validation = FieldValidation::parse(call.query.text("fieldValidation")).unwrap_or_else(|error| {
            errors.push(error);
            FieldValidation::default()
        });
        if !errors.is_empty() {
            return Err(ApiError::invalid("meta.k8s.io", kind, "", &errors));
        }
        Ok(Self {
            dry_run: !dry_run.is_empty(),
            validation,
            manager: field_manager_of(named, &call.user_agent),
            force: call.query.flag("force"),
            is_partial: false,
        })
    }
}

/// The only dry run there is, is of all stages.
pub(super) fn check_dry_run(values: &[&str]) -> Option<FieldError> {
    if values.iter().all(|value| *value == "All") {
        return None;
    }
    let path = FieldPath::new("dryRun");
    let given: serde_json::Value = values.iter().copied().collect();
    Some(FieldError::not_supported(&path, given, &["All"]))
}
