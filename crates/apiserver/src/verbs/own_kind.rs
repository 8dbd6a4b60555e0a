//! Bodies of a kind that no resource stands for: what is created at a subresource.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::{Call, WriteOptions};
use crate::catalogue::catalogue;
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
