use std::sync::Arc;

use super::delete::{delete_object, warn};
use super::delete_options::DeleteOptions;
use super::list::listed;
use super::list_options::ListOptions;
use super::{Call, Reply};
use crate::admission;
use crate::status::ApiError;
use crate::store::Object;

/// Deletes every object that a list would show, one by one, and answers with that list. With a `limit` that is one
/// page, whose `continue` leads to the next.
pub(super) async fn delete_collection(call: &Call) -> Result<Reply, ApiError> {
    let options = ListOptions::of(call, false)?;
    let delete_options = DeleteOptions::of(call)?;
    warn(call, &delete_options);
    let items = Box::pin(listed(call, &options)).await?;
    for object in &items.objects {
        delete_one(call, object, &delete_options).await?;
    }
    Ok(Reply::List(items))
}

/// One that is gone already, or that must not be deleted, does not stop the others.
async fn delete_one(call: &Call, object: &Arc<Object>, options: &DeleteOptions) -> Result<(), ApiError> {
    admission::admit_delete(call, &object.key, options).await?;
    match delete_object(&call.core, &call.resource, &object.key, options) {
        Err(error) if error.reason() != "NotFound" => Err(error),
        _ => Ok(()),
    }
}
