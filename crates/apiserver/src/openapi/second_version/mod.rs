//! OpenAPI v2: one document of everything, which older clients read (`/openapi/v2`), as JSON and as protocol buffers.
//!
//! It is made of the documents of the third version, whose words are brought into those of the second.

mod operations;
mod protobuf;
mod schema;

use serde_json::{Map, Value, json};

use super::{Document, document, hash};
use crate::registry::Registry;

/// The document in both encodings.
#[derive(Debug)]
pub(crate) struct SecondVersion {
    pub(crate) json: Document,
    pub(crate) protobuf: Document,
}

/// Makes the document of all that is served.
pub(super) fn second_version(registry: &Registry) -> SecondVersion {
    let mut paths = Map::new();
    let mut definitions = Map::new();
    for (group, version) in super::group_versions(registry) {
        let Some(third) = document::document(registry, &group, &version) else { continue };
        let Ok(third) = serde_json::from_slice::<Value>(&third.text) else { continue };
        for (path, item) in members(&third, "/paths") {
            paths.insert(path.clone(), operations::item(item, &group, &version));
        }
        for (name, definition) in members(&third, "/components/schemas") {
            add_definition(&mut definitions, name, schema::converted(definition));
        }
    }
    let document = json!({
        "swagger": "2.0",
        "info": document::info("Kubernetes"),
        "paths": paths,
        "definitions": definitions,
        "securityDefinitions": {"BearerToken": {
            "description": "Bearer Token authentication", "type": "apiKey", "name": "authorization", "in": "header",
        }},
        "security": [{"BearerToken": []}],
    });
    let text = document.to_string();
    let protobuf = protobuf::document(&document);
    SecondVersion {
        json: Document { hash: hash(text.as_bytes()), text: text.into() },
        protobuf: Document { hash: hash(&protobuf), text: protobuf.into() },
    }
}

/// A type such as `DeleteOptions` stands in the document of each group version, whose kinds it has there.
fn add_definition(definitions: &mut Map<String, Value>, name: &str, mut definition: Value) {
    const KINDS: &str = "x-kubernetes-group-version-kind";
    let earlier = definitions.get(name).and_then(|known| known.get(KINDS)).and_then(Value::as_array).cloned();
    if let (Some(mut all), Some(kinds)) = (earlier, definition.get_mut(KINDS).and_then(Value::as_array_mut)) {
        for kind in kinds.drain(..) {
            if !all.contains(&kind) {
                all.push(kind);
            }
        }
        *kinds = all;
    }
    definitions.insert(name.to_owned(), definition);
}

fn members<'a>(document: &'a Value, pointer: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    document.pointer(pointer).and_then(Value::as_object).into_iter().flatten()
}
