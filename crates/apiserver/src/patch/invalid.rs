//! Patches whose result is no object of the kind.

use controller_runtime_schema::{FieldError, FieldPath};

use crate::status::ApiError;

/// 422: the patched object, or the patch itself where `value` is that, can't be read; `why` says what is wrong.
pub(crate) fn invalid_patch(value: String, why: impl Into<String>) -> ApiError {
    let error = FieldError::invalid(&FieldPath::new("patch"), value, why);
    ApiError::invalid("", "", "", &[error])
}
