//! What kube-apiserver itself writes when it starts and no request here makes: its endpoints, the network of services,
//! flow control, the services of its groups, its identity. The objects are the reference's own; what differs from start to
//! start is filled in.

use serde_json::Value;

use crate::core::Core;
use crate::store::ObjectKey;

/// The objects, one a line.
const OBJECTS: &str = include_str!("objects.json");

/// The name by which this server is known, in the form in which the reference hashes the name of its host.
const IDENTITY: &str = "embeddedembeddedembeddedem";

/// Stores the objects as they are: the reference has validated them.
pub(super) fn create(core: &Core) {
    let objects: Vec<Value> = serde_json::from_str(OBJECTS).unwrap_or_default();
    let words = Words::new(core);
    for mut object in objects {
        words.fill_in(&mut object);
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (api_version, kind) = (text("/apiVersion"), text("/kind"));
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", &api_version));
        let Some(resource) = core.registry.by_kind(group, version, &kind) else { continue };
        let key = ObjectKey::new(text("/metadata/namespace"), text("/metadata/name"));
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.insert("uid".to_owned(), Value::from(core.ambient.uuid()));
            metadata.insert("creationTimestamp".to_owned(), Value::from(core.now()));
        }
        if core.store.create_under(&[], &resource.storage_name().to_string(), key, object).is_err() {
            tracing::error!(kind, "an object that every server has could not be created");
        }
    }
}

/// What stands in the objects for what differs from start to start.
struct Words(Vec<(&'static str, String)>);

impl Words {
    fn new(core: &Core) -> Self {
        let now = core.now();
        let day = now.get(..10).unwrap_or_default().to_owned();
        let micro = core.ambient.now().strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string();
        Self(vec![
            ("MICROTIME", micro),
            ("TIME", now),
            ("DAY", day),
            ("IDENTITY", IDENTITY.to_owned()),
            ("UUID", core.ambient.uuid()),
        ])
    }

    fn fill_in(&self, value: &mut Value) {
        match value {
            Value::Object(fields) => fields.values_mut().for_each(|field| self.fill_in(field)),
            Value::Array(items) => items.iter_mut().for_each(|item| self.fill_in(item)),
            Value::String(text) => {
                for (word, meaning) in self.0.iter().filter(|(word, _)| text.contains(word)).collect::<Vec<_>>() {
                    *text = text.replace(word, meaning);
                }
            }
            _ => {}
        }
    }
}
