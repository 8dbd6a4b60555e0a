//! Strategic merge patch.

mod element;
mod error;
mod list;
mod map;
mod order;
mod place;

use controller_runtime_schema::Schema;
use serde_json::Value;

pub use error::StrategicError;

/// Applies a strategic merge patch and gives the patched object.
///
/// Maps are merged key by key and `null` deletes a key. Lists are replaced, unless the schema gives them the patch
/// strategy `merge`: then items are matched by the merge key, or by their value if they are scalars. The patch may have
/// directives: `$patch` (`replace`, `delete`), `$deleteFromPrimitiveList/FIELD`, `$setElementOrder/FIELD` and
/// `$retainKeys`.
///
/// Only the schemas of built-in kinds say how to patch; custom resources don't support this patch.
///
/// Errors: a directive that is malformed or contradicts the patch, an item without its merge key, lists of mixed types.
/// The messages are those of kube-apiserver.
pub fn strategic_merge(target: &Value, patch: &Value, schema: &Schema) -> Result<Value, StrategicError> {
    let (Value::Object(target), Value::Object(patch)) = (target, patch) else {
        return Err(StrategicError::Document);
    };
    map::merge_maps(target.clone(), patch.clone(), place::Place::root(schema)).map(Value::Object)
}
