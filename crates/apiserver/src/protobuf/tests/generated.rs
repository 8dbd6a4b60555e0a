//! Every message of the table: its fields are those of the schema, and whatever can stand in it survives both ways.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::super::table::{Field, Message, Shape, Special, ValueKind, Zero, table};
use super::round_trip;
use crate::catalogue::{catalogue, definition_text};

fn json_names(message: &Message) -> BTreeSet<&str> {
    let names = message.fields.iter().flat_map(|field| match field.value {
        ValueKind::Message(place) if field.is_inlined => json_names(table().at(place).unwrap()),
        _ => BTreeSet::from([field.json]),
    });
    names.collect()
}

#[test]
fn messages_have_the_fields_of_their_schemas() {
    let mut compared = 0;
    for message in table().messages().iter().filter(|message| message.special.is_none() && !message.is_list) {
        let Some(text) = definition_text(message.name) else { continue };
        let schema: Value = serde_json::from_str(text).unwrap();
        let Some(properties) = schema["properties"].as_object() else { continue };
        let mut expected: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
        let mut found = json_names(message);
        // TypeMeta stands in the envelope; nested kinds that are none have the fields themselves.
        for key in ["apiVersion", "kind"] {
            if !found.contains(key) {
                expected.remove(key);
            }
        }
        found.retain(|name| *name != "-");
        assert_eq!(found, expected, "{}", message.name);
        compared += 1;
    }
    assert!(compared > 500, "{compared}");
}

#[test]
fn every_kind_survives_both_ways_full_and_empty() {
    for (version, resource) in catalogue().resources() {
        let api_version = if version.group.is_empty() {
            version.version.clone()
        } else {
            format!("{}/{}", version.group, version.version)
        };
        let kinds = [Some(&resource.kind), resource.list_kind.as_ref()];
        for kind in kinds.into_iter().flatten() {
            let message = table().of_kind(&api_version, kind).unwrap();
            for full in [true, false] {
                let mut object = sample(message, full, &mut Vec::new());
                object["apiVersion"] = json!(api_version);
                object["kind"] = json!(kind);
                round_trip(&object, &object);
            }
        }
    }
}

/// A value of a message: with something in every field, or with what Go writes of a zero one. A message within itself, as
/// schemas are, is a zero one.
fn sample(message: &Message, full: bool, outer: &mut Vec<&str>) -> Value {
    let full = full && !outer.contains(&message.name);
    outer.push(message.name);
    let value = match message.special {
        Some(special) => special_sample(special, message, full, outer),
        None => fields_sample(message, full, outer),
    };
    outer.pop();
    value
}

fn fields_sample(message: &Message, full: bool, outer: &mut Vec<&str>) -> Value {
    if message.is_list {
        return json!(["x"]);
    }
    let mut members = Map::new();
    for field in &message.fields {
        if let (true, ValueKind::Message(place)) = (field.is_inlined, field.value) {
            let inlined = sample(table().at(place).unwrap(), full, outer);
            members.extend(inlined.as_object().cloned().unwrap_or_default());
            continue;
        }
        let value = if full { Some(full_value(field, outer)) } else { None };
        if let Some(value) = value.or_else(|| zero_value(field, outer)) {
            members.insert(field.json.to_owned(), value);
        }
    }
    Value::Object(members)
}

fn full_value(field: &Field, outer: &mut Vec<&str>) -> Value {
    let value = match field.value {
        ValueKind::Text => json!("x"),
        ValueKind::Bytes => json!("YQ=="),
        ValueKind::Bool => json!(true),
        ValueKind::Int32 => json!(-7),
        ValueKind::Int64 => json!(i64::MAX),
        ValueKind::Double => json!(1.5),
        ValueKind::Message(place) => sample(table().at(place).unwrap(), true, outer),
    };
    match field.shape {
        Shape::One => value,
        Shape::Repeated => json!([value]),
        Shape::Map => json!({"k": value}),
    }
}

fn zero_value(field: &Field, outer: &mut Vec<&str>) -> Option<Value> {
    let is_written = field.zero == Zero::Written;
    let is_nil = field.is_pointer || field.shape != Shape::One || field.value == ValueKind::Bytes;
    if field.zero == Zero::Omitted {
        return None;
    }
    match field.value {
        _ if is_nil => is_written.then_some(Value::Null),
        ValueKind::Message(place) => {
            let message = table().at(place).unwrap();
            if message.is_list {
                return is_written.then_some(Value::Null);
            }
            Some(sample(message, false, outer))
        }
        ValueKind::Text => is_written.then(|| json!("")),
        ValueKind::Bool => is_written.then_some(json!(false)),
        _ => is_written.then(|| json!(0)),
    }
}

fn special_sample(special: Special, message: &Message, full: bool, outer: &mut Vec<&str>) -> Value {
    let mut part = |number: u32| full_value(message.fields.iter().find(|field| field.number == number).unwrap(), outer);
    match (special, full) {
        (Special::Quantity, true) => json!("1500m"),
        (Special::Quantity, false) => json!("0"),
        (Special::IntOrString, true) => json!("50%"),
        (Special::IntOrString, false) => json!(0),
        (Special::Time, true) => json!("2026-01-02T03:04:05Z"),
        (Special::MicroTime, true) => json!("2026-01-02T03:04:05.678901Z"),
        (Special::Raw, true) => json!({"f:a": {".": {}}, "b": [1, "x", null, 1.5]}),
        (Special::SchemaOrBool, false) => json!(false),
        (Special::SchemaOrArray | Special::SchemaOrNames | Special::SchemaOrBool, true) => part(2),
        (_, false) => Value::Null,
    }
}
