//! Behaviour that differs between kinds: defaults, what a write may set, validation, selectable fields.
//!
//! A verb asks the resource's [`Strategy`]; what a kind does not say is the generic behaviour in the trait's default
//! bodies.

mod api_service;
mod built_in;
mod cidr;
mod condition;
mod config_map;
mod cron_job;
mod daemon_set;
mod defaulting;
mod deployment;
mod disruption_budget;
mod event;
pub(crate) mod fields;
mod go_form;
mod horizontal_pod_autoscaler;
mod ingress;
mod job;
mod key_pair;
mod lease;
mod limit_range;
mod namespace;
mod network;
mod network_policy;
mod node;
mod persistent_volume;
mod persistent_volume_claim;
mod plain;
mod pod;
mod pod_spec;
mod pod_template;
mod priority_class;
mod quantity;
mod rbac;
mod replica_set;
mod replication_controller;
mod resource_quota;
mod rules;
mod schedule;
mod secret;
mod service;
mod service_account;
mod service_addresses;
mod service_ip_object;
mod service_network;
mod service_rules;
mod stateful_set;
mod storage;
mod webhook_configuration;
mod workload;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use controller_runtime_schema::FieldError;
use serde_json::Value;

pub(crate) use self::built_in::strategy_for;
pub(crate) use self::defaulting::write_nulls;
pub(crate) use self::go_form::write_empty_as_null;
pub(crate) use self::horizontal_pod_autoscaler::second as newer_autoscaler;
pub(crate) use self::persistent_volume_claim::CLASS as CLASS_ANNOTATION;
pub(crate) use self::pod::{quality_of_service, set_condition};
pub(crate) use self::pod_spec::together;
pub(crate) use self::priority_class::SYSTEM as SYSTEM_PRIORITY_CLASSES;
pub(crate) use self::quantity::{Quantity, quantity_error};
pub(crate) use self::rules::selects;
pub(crate) use self::service_addresses::ServiceAddresses;
use crate::core::Core;
use crate::custom::Versions;
use crate::metadata::names;
use crate::store::ObjectKey;

/// What a strategy may ask of the server while it prepares an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StrategyContext<'a> {
    /// The server: clock, randomness, stored objects, cluster IPs.
    pub(crate) core: &'a Core,
    /// Whether the write is a dry run: nothing may be reserved then.
    pub(crate) dry_run: bool,
}

/// One committed write, after the fact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change<'a> {
    /// The object before, `None` when it was created.
    pub(crate) old: Option<&'a Value>,
    /// The object after, `None` when it is gone.
    pub(crate) new: Option<&'a Value>,
}

/// Behaviour of one kind. Objects passed in are whole: `apiVersion`, `kind` and `metadata` included.
///
/// Order on create: decode and prune, [`default`](Strategy::default), metadata is filled in,
/// [`prepare_create`](Strategy::prepare_create), [`validate`](Strategy::validate). On update: decode and prune,
/// `default`, metadata is carried over from the stored object,
/// [`prepare_update`](Strategy::prepare_update), generation, [`review_update`](Strategy::review_update).
pub(crate) trait Strategy: Debug + Send + Sync {
    /// The name of the schema, for kinds that are Go types on the reference; `None` for custom resources.
    fn definition(&self) -> Option<&'static str> {
        None
    }

    /// Brings the object into the form in which Go's types would write it: empty optional fields gone. Called after
    /// pruning, before defaults.
    fn normalize(&self, object: &mut Value) {
        if let Some(definition) = self.definition() {
            go_form::normalize(object, definition);
        }
    }

    /// Fills in what exists only as Go code on the reference; defaults of the schema are already set.
    fn default(&self, object: &mut Value) {
        if let Some(definition) = self.definition() {
            defaulting::set_defaults(object, definition);
        }
    }

    /// Brings a new object into the form in which it may be stored. Status is already dropped where the kind has a
    /// status subresource (see [`drops_status`](Strategy::drops_status)).
    fn prepare_create(&self, _object: &mut Value, _cx: &StrategyContext<'_>) {}

    /// What a create can fail with beyond validation, such as an address that is taken.
    fn reserve(&self, _object: &mut Value, _old: Option<&Value>, _cx: &StrategyContext<'_>) -> Vec<FieldError> {
        Vec::new()
    }

    /// Gives up what was reserved for an object that could not be created; `stored` is who has its key.
    fn not_created(&self, _key: &ObjectKey, _stored: Option<&Value>, _core: &Core) {}

    /// Carries over what the request may not change. For the main resource the status is already the stored one; for
    /// `status` everything but status (and managedFields) is.
    fn prepare_update(&self, _new: &mut Value, _old: &Value, _subresource: Option<&str>) {}

    /// Rules for a new object. Metadata and schema are checked elsewhere.
    fn validate(&self, _object: &Value) -> Vec<FieldError> {
        Vec::new()
    }

    /// Rules for a changed object.
    fn validate_update(&self, new: &Value, _old: &Value, _subresource: Option<&str>) -> Vec<FieldError> {
        self.validate(new)
    }

    /// The rules for a changed object, and as warnings what they don't hold against it since it was there before.
    fn review_update(
        &self,
        new: &Value,
        old: &Value,
        subresource: Option<&str>,
        _warn: &mut dyn FnMut(String),
    ) -> Vec<FieldError> {
        self.validate_update(new, old, subresource)
    }

    /// What a client should know about an object that it wrote, as texts of `Warning` headers. `old` is the object
    /// before, for an update.
    fn warnings(&self, _new: &Value, _old: Option<&Value>) -> Vec<String> {
        Vec::new()
    }

    /// Called when the deletion of an object is asked for the first time. A kind that sets `deletionTimestamp` here, and
    /// the finalizers that keep the object, begins the deletion in its own way; propagation and grace period don't count.
    fn prepare_delete(&self, _object: &mut Value, _now: &str) {}

    /// Whether a name is allowed; `prefix` says that it is a `generateName`. The texts end up in `Invalid value`
    /// errors on `metadata.name`.
    fn validate_name(&self, name: &str, prefix: bool) -> Vec<String> {
        names::dns_subdomain(name, prefix)
    }

    /// Whether an update without `resourceVersion` is allowed.
    fn unconditional_update(&self) -> bool {
        true
    }

    /// Whether an update of a name that does not exist creates the object.
    fn create_on_update(&self) -> bool {
        false
    }

    /// Whether `metadata.generation` is kept for this kind.
    fn tracks_generation(&self) -> bool {
        false
    }

    /// Whether an update counts as a new generation: any change outside metadata and (with a status subresource)
    /// status.
    fn generation_changes(&self, new: &Value, old: &Value, has_status: bool) -> bool {
        differs_outside_metadata(new, old, has_status)
    }

    /// Whether create drops `status`. Only asked for kinds with a status subresource.
    fn drops_status(&self) -> bool {
        true
    }

    /// Whether an update of the `status` subresource leaves labels, annotations and other metadata as they are.
    fn status_keeps_metadata(&self) -> bool {
        true
    }

    /// Seconds a deleted object is kept for whoever runs it; `None` means no graceful deletion. `asked` is what the
    /// request wants.
    fn grace_period(&self, _object: &Value, _asked: Option<i64>) -> Option<i64> {
        None
    }

    /// Whether a delete that removes the object answers with the object and not with a `Status`.
    fn returns_deleted_object(&self) -> bool {
        false
    }

    /// Whether a deletion waits for dependents, or for them to be orphaned, where it is asked to.
    fn has_dependents(&self) -> bool {
        true
    }

    /// Whether dependents are orphaned when a delete names no propagation policy.
    fn orphans_by_default(&self) -> bool {
        false
    }

    /// Why nobody may delete the object of this name, if that is so.
    fn refuses_delete(&self, _name: &str) -> Option<&'static str> {
        None
    }

    /// What to say to who asks for a deletion without a propagation policy.
    fn delete_warning(&self) -> Option<&'static str> {
        None
    }

    /// Values for field selectors beyond `metadata.name` and `metadata.namespace`, by field label. All labels that
    /// the kind supports are present.
    fn selectable(&self, _object: &Value) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// Field labels that selectors may name beyond `metadata.name` and `metadata.namespace`.
    fn selectable_labels(&self) -> &[&'static str] {
        &[]
    }

    /// Whether stored and served form are those of a Go type: decoding refuses wrong types with 400. Custom
    /// resources answer 422 instead.
    fn typed(&self) -> bool {
        true
    }

    /// Brings a stored object to the version of the request. By default versions differ in `apiVersion` only.
    fn convert(&self, object: &mut Value, api_version: &str, kind: &str) {
        if let Some(map) = object.as_object_mut() {
            map.insert("apiVersion".to_owned(), Value::from(api_version));
            map.insert("kind".to_owned(), Value::from(kind));
        }
    }

    /// `apiVersion` of objects as they are stored, for kinds that are Go types and are served in several versions.
    fn storage_version(&self) -> Option<&'static str> {
        None
    }

    /// The versions between which custom objects are converted.
    fn versions(&self) -> Option<Arc<Versions>> {
        None
    }

    /// Called after a write took effect, outside any lock. Writes of its own are allowed and bounded by the kind.
    fn committed(&self, _change: Change<'_>, _core: &Arc<Core>) {}
}

/// Whether two objects differ in anything but `metadata`, `apiVersion`, `kind` and, when `ignore_status`, `status`.
pub(crate) fn differs_outside_metadata(new: &Value, old: &Value, ignore_status: bool) -> bool {
    let (Some(new), Some(old)) = (new.as_object(), old.as_object()) else {
        return new != old;
    };
    let counts = |key: &str| match key {
        "metadata" | "apiVersion" | "kind" => false,
        "status" => !ignore_status,
        _ => true,
    };
    new.iter().any(|(key, value)| counts(key) && old.get(key) != Some(value))
        || old.keys().any(|key| counts(key) && !new.contains_key(key))
}

/// The texts at field labels that are paths into the object; empty where there is none.
fn selectable_texts(labels: &[&'static str], object: &Value) -> BTreeMap<String, String> {
    let value = |label: &str| match fields::at(object, label) {
        Value::String(text) => text.clone(),
        Value::Null | Value::Array(_) | Value::Object(_) => String::new(),
        value => value.to_string(),
    };
    labels.iter().map(|label| ((*label).to_owned(), value(label))).collect()
}
