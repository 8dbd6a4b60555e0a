//! Objects and lists as the bytes of a response.

use bytes::{BufMut, Bytes, BytesMut};
use serde_json::{Map, Value, json};

use crate::protobuf;
use crate::resource::Resource;
use crate::store::{Object, encode_tail};
use crate::table;
use crate::verbs::{Items, view};

/// A stored object as JSON, in the version of the resource.
pub(crate) fn stored_json(resource: &Resource, object: &Object) -> Bytes {
    let value = object.value();
    let stored = value.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default();
    if stored == resource.api_version() {
        with_kind(kind, stored, &object.tail())
    } else {
        value_json(&view(resource, value))
    }
}

/// A stored object as protocol buffers, in the version of the resource.
pub(crate) fn stored_protobuf(resource: &Resource, object: &Object) -> Bytes {
    protobuf::wrap(&resource.api_version(), &resource.kind, &message(resource, object)).into()
}

/// A list as protocol buffers.
pub(crate) fn list_protobuf(resource: &Resource, items: &Items) -> Bytes {
    let metadata = Value::Object(list_metadata(resource, items));
    let messages = items.objects.iter().map(|object| message(resource, object));
    protobuf::encode_list(&resource.api_version(), &resource.list_kind, &metadata, messages).into()
}

/// A stored object as the message of the resource's kind.
fn message(resource: &Resource, object: &Object) -> Bytes {
    let value = object.value();
    if value.get("apiVersion").and_then(Value::as_str) == Some(resource.api_version().as_str()) {
        object.protobuf()
    } else {
        protobuf::encode_message(&view(resource, value)).into()
    }
}

/// Any object as JSON: kind and version first, then metadata.
pub(crate) fn value_json(value: &Value) -> Bytes {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    match (text("kind"), text("apiVersion")) {
        (Some(kind), Some(version)) => with_kind(kind, version, &encode_tail(value)),
        _ => Bytes::from(value.to_string()),
    }
}

/// A list as JSON.
pub(crate) fn list_json(resource: &Resource, items: &Items) -> Bytes {
    let mut text = head(&resource.list_kind, &resource.api_version());
    text.put_slice(b",\"metadata\":");
    text.put_slice(Value::Object(list_metadata(resource, items)).to_string().as_bytes());
    text.put_slice(b",\"items\":[");
    let api_version = resource.api_version();
    for (index, object) in items.objects.iter().enumerate() {
        if index > 0 {
            text.put_u8(b',');
        }
        let same = object.value().get("apiVersion").and_then(Value::as_str) == Some(api_version.as_str());
        let tail = if same { object.tail() } else { encode_tail(&view(resource, object.value())) };
        // Go's typed lists leave out what all items have in common.
        if resource.strategy.typed() {
            text.put_u8(b'{');
            text.put_slice(&tail);
        } else {
            text.put_slice(&with_kind(&resource.kind, &api_version, &tail));
        }
    }
    text.put_slice(b"]}\n");
    text.freeze()
}

/// The metadata of a whole list; those of custom resources always show the token.
fn list_metadata(resource: &Resource, items: &Items) -> Map<String, Value> {
    let mut metadata = items.metadata.clone();
    if !resource.strategy.typed() {
        metadata.entry("continue").or_insert_with(|| Value::from(""));
    }
    metadata
}

/// A list as a value, for the encodings that need one.
pub(crate) fn list_value(resource: &Resource, items: &Items) -> Value {
    let typed = resource.strategy.typed();
    let items_of = items.objects.iter().map(|object| {
        let mut value = view(resource, object.value()).into_owned();
        if let Some(members) = value.as_object_mut().filter(|_| typed) {
            members.remove("apiVersion");
            members.remove("kind");
        }
        value
    });
    json!({
        "kind": resource.list_kind, "apiVersion": resource.api_version(), "metadata": list_metadata(resource, items),
        "items": items_of.collect::<Vec<Value>>(),
    })
}

/// The metadata of listed objects alone.
pub(crate) fn partial_list(items: &Items) -> Value {
    let objects: Vec<Value> = items.objects.iter().map(|object| table::partial(object.value())).collect();
    json!({
        "kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": items.metadata,
        "items": objects,
    })
}

fn head(kind: &str, api_version: &str) -> BytesMut {
    let mut text = BytesMut::new();
    text.put_slice(b"{\"kind\":");
    text.put_slice(Value::from(kind).to_string().as_bytes());
    text.put_slice(b",\"apiVersion\":");
    text.put_slice(Value::from(api_version).to_string().as_bytes());
    text
}

fn with_kind(kind: &str, api_version: &str, tail: &[u8]) -> Bytes {
    let mut text = head(kind, api_version);
    if tail != b"}" {
        text.put_u8(b',');
    }
    text.put_slice(tail);
    text.freeze()
}
