use std::sync::Arc;

use controller_runtime_scheme::{Object, ObjectKey};

use crate::informer::Scope;
use crate::reflector::Reflector;
use crate::reflector::list_watch::Payload;
use crate::reflector::sketch::{INITIAL_EVENTS_END, Sketch};

/// An object that was received.
pub(super) enum Decoded<K> {
    Object(ObjectKey, Arc<K>),
    /// It exists and doesn't fit its type.
    Unfit(Sketch),
}

impl<K: Object> Reflector<K> {
    /// The object, as the scope stores it. One that doesn't fit its type is reported and counted.
    pub(super) fn decode(&self, scope: &Scope, payload: &Payload<K>) -> Decoded<K> {
        let decoded = match payload {
            Payload::Object(object) => Ok(object.clone()),
            Payload::Json(json) => self.shared.api.decode(json).map(Arc::new).map_err(|error| error.to_string()),
        };
        let named = decoded.and_then(|object| match named(&*object) {
            Some(key) => Ok((key, object)),
            None => Err("it has no name".to_owned()),
        });
        match named {
            Ok((key, object)) => Decoded::Object(key, transformed(scope, object)),
            Err(problem) => {
                let sketch = sketch(payload);
                let key = sketch.key.as_ref().map(ToString::to_string).unwrap_or_default();
                let kind = self.shared.api.kind();
                tracing::warn!(%kind, key, problem, "an object is skipped: it does not fit its type");
                self.shared.metrics.skipped_object();
                Decoded::Unfit(sketch)
            }
        }
    }
}

fn transformed<K: Object>(scope: &Scope, object: Arc<K>) -> Arc<K> {
    let Some(transform) = &scope.plan.transform else { return object };
    let mut object = Arc::unwrap_or_clone(object);
    transform.apply(&mut object);
    Arc::new(object)
}

fn named<K: Object>(object: &K) -> Option<ObjectKey> {
    Some(ObjectKey::of(object)).filter(|key| !key.name.is_empty())
}

/// What a bookmark says, and what can be known of an object that doesn't fit its type.
pub(super) fn sketch<K: Object>(payload: &Payload<K>) -> Sketch {
    match payload {
        Payload::Json(json) => Sketch::of(json),
        Payload::Object(object) => {
            let annotations = object.meta().annotations.as_ref();
            let end = annotations.and_then(|annotations| annotations.get(INITIAL_EVENTS_END));
            Sketch {
                key: named(&**object),
                version: object.meta().resource_version.clone().unwrap_or_default(),
                ends_initial_events: end.is_some_and(|value| value == "true"),
            }
        }
    }
}
