//! The admission plugins that kube-apiserver has switched on by default, as far as they don't need what this server
//! hasn't: each decides about writes of a few kinds before webhooks are asked.

mod default_ingress_class;
mod default_storage_class;
mod default_toleration_seconds;
mod limit_ranger;
mod persistent_volume_claim_resize;
mod pod_security;
mod priority;
mod resource_quota;
mod runtime_class;
mod storage_object_in_use_protection;
mod taint_nodes_by_condition;

use std::sync::Arc;

use serde_json::Value;

use super::Operation;
use crate::metadata::fields;
use crate::status::ApiError;
use crate::store::{Object, ObjectKey, Range};
use crate::verbs::Call;

/// One write, as plugins see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Write<'a> {
    pub(super) call: &'a Call,
    pub(super) operation: Operation,
    /// The object as it is; none for a creation.
    pub(super) old: Option<&'a Value>,
}

/// Lets the plugins change an object, in the order of kube-apiserver.
pub(super) fn mutate(write: Write<'_>, object: &mut Value) -> Result<(), ApiError> {
    limit_ranger::mutate(write, object);
    taint_nodes_by_condition::mutate(write, object);
    priority::mutate(write, object)?;
    default_toleration_seconds::mutate(write, object);
    default_storage_class::mutate(write, object);
    storage_object_in_use_protection::mutate(write, object);
    runtime_class::mutate(write, object)?;
    default_ingress_class::mutate(write, object);
    Ok(())
}

/// Asks the plugins about an object as it would be stored.
pub(super) fn validate(write: Write<'_>, object: &Value) -> Result<(), ApiError> {
    limit_ranger::validate(write, object)?;
    pod_security::validate(write, object)?;
    priority::validate(write, object)?;
    persistent_volume_claim_resize::validate(write, object)?;
    runtime_class::validate(write, object)
}

impl Write<'_> {
    /// Whether an object itself of this resource is written, and not a subresource.
    fn is_of(&self, group: &str, plural: &str) -> bool {
        let resource = &self.call.resource;
        self.call.subresource.is_none() && resource.group == group && resource.plural == plural
    }

    fn is_create_of(&self, group: &str, plural: &str) -> bool {
        self.operation == Operation::Create && self.is_of(group, plural)
    }

    /// 403, of the object by the name that it has or will have.
    fn forbidden(&self, object: &Value, why: &str) -> ApiError {
        let own = ["name", "generateName"].map(|field| fields::text(object, field));
        let asked = self.call.name.as_deref().unwrap_or_default();
        let name = [asked].into_iter().chain(own).find(|name| !name.is_empty()).unwrap_or("Unknown");
        ApiError::forbidden(self.call.resource.group_resource(), name, why)
    }

    /// An object without a namespace, of a collection.
    fn find(&self, collection: &str, name: &str) -> Option<Arc<Object>> {
        self.call.core.store.get(collection, &ObjectKey::new("", name))
    }

    fn all(&self, collection: &str, namespace: Option<&str>) -> Vec<Arc<Object>> {
        let range = Range { namespace, ..Range::default() };
        self.call.core.store.list(collection, &range, |_| true).map(|page| page.objects).unwrap_or_default()
    }

    /// The newest of the objects that an annotation makes the default for all, by name where they are of one age.
    fn default_of(&self, collection: &str, annotations: &[&str]) -> Option<String> {
        let is_default = |object: &Value| {
            let given = fields::get(object, "annotations");
            annotations.iter().any(|key| given.is_some_and(|given| given.get(*key).is_some_and(|on| on == "true")))
        };
        let mut all = self.all(collection, None);
        all.retain(|object| is_default(object.value()));
        let age = |object: &Object| fields::text(object.value(), "creationTimestamp").to_owned();
        all.sort_by(|one, other| age(other).cmp(&age(one)).then_with(|| one.key.name.cmp(&other.key.name)));
        all.first().map(|object| object.key.name.clone())
    }
}

/// Asks the quotas, last of all: what they grant is taken.
pub(super) fn take_quota(write: Write<'_>, object: &Value, dry_run: bool) -> Result<(), ApiError> {
    resource_quota::validate(write, object, dry_run)
}

/// The fields of an object's spec.
fn spec(object: &mut Value) -> Option<&mut serde_json::Map<String, Value>> {
    object.get_mut("spec").and_then(Value::as_object_mut)
}
