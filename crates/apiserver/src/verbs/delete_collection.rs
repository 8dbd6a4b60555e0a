use std::sync::Arc;

use serde_json::{Map, Value};

use super::delete::delete_object;
use super::delete_options::DeleteOptions;
use super::list_options::{ListOptions, revision_error};
use super::{Call, Items, Reply};
use crate::status::ApiError;
use crate::store::{Object, Range};

/// Deletes every object that a list would show, one by one, and answers with that list.
pub(super) fn delete_collection(call: &Call) -> Result<Reply, ApiError> {
    let options = ListOptions::of(call, false)?;
    let delete_options = DeleteOptions::of(call)?;
    let range = Range { namespace: Some(call.namespace.as_str()).filter(|one| !one.is_empty()), ..Range::default() };
    let selection = &options.selection;
    let listed = call.core.store.list(&call.collection(), &range, |object| selection.matches(&call.resource, object));
    let page = listed.map_err(revision_error)?;
    for object in &page.objects {
        delete_one(call, object, &delete_options)?;
    }
    let mut metadata = Map::new();
    metadata.insert("resourceVersion".to_owned(), Value::String(page.revision.to_string()));
    Ok(Reply::List(Items { objects: page.objects, metadata }))
}

/// One that is gone already, or that must not be deleted, does not stop the others.
fn delete_one(call: &Call, object: &Arc<Object>, options: &DeleteOptions) -> Result<(), ApiError> {
    match delete_object(&call.core, &call.resource, &object.key, options) {
        Err(error) if error.reason() != "NotFound" => Err(error),
        _ => Ok(()),
    }
}
