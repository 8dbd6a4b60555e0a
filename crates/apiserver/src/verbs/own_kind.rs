//! Bodies of a kind that no resource stands for: what is created at a subresource.

use std::collections::BTreeMap;
use std::sync::Arc;

use controller_runtime_merge::NoOtherVersions;
use serde_json::Value;

use super::{Call, WriteOptions};
use crate::catalogue::catalogue;
use crate::managed_fields::Tracking;
use crate::pipeline::decode;
use crate::resource::{Resource, SchemaSource};
use crate::status::ApiError;
use crate::strategy::strategy_for;

/// The kind of a body.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnKind {
    pub(super) group: &'static str,
    pub(super) version: &'static str,
    pub(super) kind: &'static str,
    /// The name of its schema.
    pub(super) definition: &'static str,
}

impl OwnKind {
    /// What binds a pod to a node.
    pub(super) const BINDING: Self =
        Self { group: "", version: "v1", kind: "Binding", definition: "io.k8s.api.core.v1.Binding" };
    /// What evicts a pod.
    pub(super) const EVICTION: Self =
        Self { group: "policy", version: "v1", kind: "Eviction", definition: "io.k8s.api.policy.v1.Eviction" };
    /// What shows and sets replicas.
    pub(super) const SCALE: Self =
        Self { group: "autoscaling", version: "v1", kind: "Scale", definition: "io.k8s.api.autoscaling.v1.Scale" };
    /// What asks for a token of a service account.
    pub(super) const TOKEN_REQUEST: Self = Self {
        group: "authentication.k8s.io",
        version: "v1",
        kind: "TokenRequest",
        definition: "io.k8s.api.authentication.v1.TokenRequest",
    };

    /// The one that an object says it is.
    fn of(object: &Value) -> Option<Self> {
        let kind = object.get("kind").and_then(Value::as_str)?;
        let all = [Self::BINDING, Self::EVICTION, Self::SCALE, Self::TOKEN_REQUEST];
        all.into_iter().find(|own| own.kind == kind)
    }
}

/// Whether an object is of a kind of its own, and not of the resource's.
pub(crate) fn is_of_own(resource: &Resource, object: &Value) -> bool {
    OwnKind::of(object).is_some_and(|own| own.kind != resource.kind)
}

/// Reads an object of a kind of its own that admission has changed. Errors: 400, it is none.
pub(crate) fn reread(mut object: Value) -> Result<Value, ApiError> {
    let Some(own) = OwnKind::of(&object) else { return Ok(object) };
    decode::check_types(&object, own.definition)?;
    strategy_for(own.group, own.kind, own.definition).normalize(&mut object);
    Ok(object)
}

/// Notes who wrote an object of a kind of its own.
pub(super) fn track(call: &Call, options: &WriteOptions, resource: &Resource, object: &mut Value) {
    let tracking = Tracking::new(resource, call.subresource.as_deref(), options.manager.clone(), call.now());
    tracking.track(None, object, &NoOtherVersions);
}

/// Reads the body as an object of the kind, in the namespace of the request; and the kind as if it were a resource.
pub(super) fn decoded(call: &Call, options: &WriteOptions, own: OwnKind) -> Result<(Arc<Resource>, Value), ApiError> {
    let resource = Arc::new(Resource {
        group: own.group.to_owned(),
        version: own.version.to_owned(),
        kind: own.kind.to_owned(),
        schema: SchemaSource::Named(catalogue().definitions.clone(), own.definition.to_owned()),
        strategy: strategy_for(own.group, own.kind, own.definition),
        subresources: BTreeMap::new(),
        scale: None,
        ..Resource::clone(&call.resource)
    });
    let inner = Call {
        core: Arc::clone(&call.core),
        user: call.user.clone(),
        resource: Arc::clone(&resource),
        namespace: call.namespace.clone(),
        name: None,
        subresource: None,
        query: call.query.clone(),
        content_type: call.content_type.clone(),
        body: call.body.clone(),
        accept: call.accept,
        user_agent: call.user_agent.clone(),
        warnings: parking_lot::Mutex::default(),
    };
    let decoded = decode::object(&inner, options.validation);
    inner.warnings.lock().drain(..).for_each(|text| call.warn(text));
    let mut object = decoded?;
    decode::check_place(&inner, &mut object)?;
    Ok((resource, object))
}
