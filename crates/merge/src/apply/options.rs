//! What apply and update need to know beside the objects.

use controller_runtime_schema::Schema;
use serde_json::Value;

use crate::field::FieldSet;

use super::versions::Versions;

/// How a configuration is applied.
#[derive(Debug, Clone, Copy)]
pub struct Apply<'a> {
    /// The field manager.
    pub manager: &'a str,
    /// Whether to take fields from other managers instead of failing with conflicts.
    pub force: bool,
    /// The version that is applied, such as `apps/v1`.
    pub api_version: &'a str,
    /// The subresource that is applied to, if not the resource itself.
    pub subresource: Option<&'a str>,
    /// The schema of the kind in that version.
    pub schema: &'a Schema,
    /// What an object of the kind holds before anything is set: [`empty_object`](crate::empty_object) of a built-in
    /// kind, `{}` of a custom resource.
    pub empty: &'a Value,
    /// The current time: RFC 3339, seconds, UTC.
    pub now: &'a str,
    /// Fields that this endpoint never writes, such as `status` on the resource itself; nobody comes to own them here.
    pub reset: &'a FieldSet,
    /// The versions in which others may have written: [`NoOtherVersions`](crate::NoOtherVersions) of a kind that has
    /// only one.
    pub versions: &'a dyn Versions,
}

/// How an object is created, updated or patched.
#[derive(Debug, Clone, Copy)]
pub struct Update<'a> {
    /// The field manager.
    pub manager: &'a str,
    /// The version that is written, such as `apps/v1`.
    pub api_version: &'a str,
    /// The subresource that is written, if not the resource itself.
    pub subresource: Option<&'a str>,
    /// The schema of the kind in that version.
    pub schema: &'a Schema,
    /// What an object of the kind holds before anything is set: [`empty_object`](crate::empty_object) of a built-in
    /// kind, `{}` of a custom resource.
    pub empty: &'a Value,
    /// The current time: RFC 3339, seconds, UTC.
    pub now: &'a str,
    /// Fields that this endpoint never writes, such as `status` on the resource itself; nobody comes to own them here.
    pub reset: &'a FieldSet,
    /// The versions in which others may have written: [`NoOtherVersions`](crate::NoOtherVersions) of a kind that has
    /// only one.
    pub versions: &'a dyn Versions,
}

impl<'a> Apply<'a> {
    /// The same write as an update by another manager.
    pub(crate) fn as_update(&self, manager: &'a str) -> Update<'a> {
        let Apply { api_version, subresource, schema, empty, now, reset, versions, .. } = *self;
        Update { manager, api_version, subresource, schema, empty, now, reset, versions }
    }
}
