//! Which patch a request brings.

use crate::resource::Resource;
use crate::status::ApiError;

/// A kind of patch, by the request's content type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatchType {
    /// A list of operations (RFC 6902).
    Json,
    /// A partial object (RFC 7386).
    Merge,
    /// A partial object with directives, for built-in kinds.
    Strategic,
    /// A configuration that is applied with field ownership.
    Apply,
}

impl PatchType {
    /// In the order in which error messages list them.
    const ALL: [PatchType; 4] = [PatchType::Json, PatchType::Merge, PatchType::Strategic, PatchType::Apply];

    /// The patch type of a content type. Errors: 415, if the resource doesn't support it.
    pub(crate) fn of_content_type(content_type: &str, resource: &Resource) -> Result<PatchType, ApiError> {
        let media_type = content_type.split(';').next().unwrap_or_default().trim();
        let is_typed = resource.strategy.typed();
        let offered = PatchType::ALL.into_iter().filter(|patch| is_typed || *patch != PatchType::Strategic);
        let names: Vec<&str> = offered.clone().map(PatchType::media_type).collect();
        let mut offered = offered;
        offered.find(|patch| patch.media_type() == media_type).ok_or_else(|| {
            if is_typed { ApiError::unsupported_by_route() } else { ApiError::unsupported_media_type(&names) }
        })
    }

    /// Whether the body is YAML, of which JSON is a part.
    pub(crate) fn is_apply(self) -> bool {
        self == PatchType::Apply
    }

    fn media_type(self) -> &'static str {
        match self {
            PatchType::Json => "application/json-patch+json",
            PatchType::Merge => "application/merge-patch+json",
            PatchType::Strategic => "application/strategic-merge-patch+json",
            PatchType::Apply => "application/apply-patch+yaml",
        }
    }
}
