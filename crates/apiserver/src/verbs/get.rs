use http::StatusCode;

use super::list_options::{revision_error, revision_of};
use super::{Call, Reply};
use crate::status::ApiError;
use crate::store::RevisionError;

/// Reads one object, or one of its subresources that shows the whole object.
pub(super) fn get(call: &Call) -> Result<Reply, ApiError> {
    let wanted = revision_of(&call.query)?;
    let current = call.core.store.revision();
    if let Some(wanted) = wanted.filter(|wanted| *wanted > current) {
        return Err(revision_error(RevisionError::TooNew { wanted, current }));
    }
    let key = call.key();
    let found = call.core.store.get(&call.collection(), &key);
    let object = found.ok_or_else(|| ApiError::not_found(call.resource.group_resource(), &key.name))?;
    Ok(Reply::Stored(StatusCode::OK, object))
}
