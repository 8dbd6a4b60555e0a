use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use crate::protobuf;

/// Where an object lives within its collection. Cluster-scoped objects have an empty namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ObjectKey {
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl ObjectKey {
    pub(crate) fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }
}

/// What an object is read as, and what is stored of it where that is something else: what a schema has forgotten, or
/// without defaults that are set when it is read.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) read: Value,
    pub(crate) stored: Option<Value>,
}

impl Content {
    /// What is stored.
    pub(crate) fn stored(&self) -> &Value {
        self.stored.as_ref().unwrap_or(&self.read)
    }
}

impl From<Value> for Content {
    fn from(value: Value) -> Self {
        Self { read: value, stored: None }
    }
}

/// One object at one revision. It never changes.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) collection: Arc<str>,
    pub(crate) key: ObjectKey,
    pub(crate) revision: u64,
    /// About the bytes that the object takes as JSON.
    pub(crate) size: usize,
    content: Content,
    tail: OnceLock<Bytes>,
    protobuf: OnceLock<Bytes>,
}

impl Object {
    /// `metadata.resourceVersion` becomes `revision`.
    pub(super) fn new(collection: Arc<str>, key: ObjectKey, revision: u64, mut content: Content, size: usize) -> Self {
        for value in [Some(&mut content.read), content.stored.as_mut()].into_iter().flatten() {
            if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
                metadata.insert("resourceVersion".to_owned(), Value::String(revision.to_string()));
            }
        }
        Self { collection, key, revision, size, content, tail: OnceLock::new(), protobuf: OnceLock::new() }
    }

    /// The same object at the same revision, in another version of its kind.
    pub(crate) fn shown_as(&self, value: Value) -> Self {
        Self::new(Arc::clone(&self.collection), self.key.clone(), self.revision, value.into(), self.size)
    }

    /// The whole object, `resourceVersion` included.
    pub(crate) fn value(&self) -> &Value {
        &self.content.read
    }

    /// What is stored of it, before reading makes of it what it means today.
    pub(crate) fn stored(&self) -> &Value {
        self.content.stored()
    }

    /// The object's JSON after `apiVersion` and `kind`, closing brace included: what is the same wherever the object
    /// shows. Encoded once and shared by all readers.
    pub(crate) fn tail(&self) -> Bytes {
        self.tail.get_or_init(|| encode_tail(self.value())).clone()
    }

    /// The object as protocol buffers, without an envelope. Encoded once and shared by all readers.
    pub(crate) fn protobuf(&self) -> Bytes {
        self.protobuf.get_or_init(|| protobuf::encode_message(self.value()).into()).clone()
    }
}

/// Encodes an object's members without `apiVersion` and `kind` and without the opening brace, metadata first.
pub(crate) fn encode_tail(value: &Value) -> Bytes {
    struct Members<'a>(&'a Map<String, Value>);
    impl Serialize for Members<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(None)?;
            if let Some(metadata) = self.0.get("metadata") {
                map.serialize_entry("metadata", metadata)?;
            }
            for (key, value) in self.0 {
                if !matches!(key.as_str(), "metadata" | "apiVersion" | "kind") {
                    map.serialize_entry(key, value)?;
                }
            }
            map.end()
        }
    }
    let encoded = value.as_object().and_then(|members| serde_json::to_vec(&Members(members)).ok());
    Bytes::from(encoded.unwrap_or_else(|| b"{}".to_vec())).slice(1..)
}

/// About the bytes that a value takes as JSON.
pub(super) fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => 8,
        Value::String(text) => text.len() + 3,
        Value::Array(items) => items.iter().map(size).sum::<usize>() + 2,
        Value::Object(members) => members.iter().map(|(key, value)| key.len() + 4 + size(value)).sum::<usize>() + 2,
    }
}
