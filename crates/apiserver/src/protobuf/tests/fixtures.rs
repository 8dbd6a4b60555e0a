//! What kube-apiserver answered, as JSON and as protocol buffers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::super::{decode, encode};

/// A list of `{"path", "json", "protobuf"}`, the last in base64: both answers of kube-apiserver to a GET of the path.
const RECORDED: &str = include_str!("recorded.json");

#[test]
fn answers_are_byte_for_byte_those_of_kube_apiserver() {
    let recorded: Vec<Value> = serde_json::from_str(RECORDED).unwrap();
    assert!(recorded.len() >= 40, "{}", recorded.len());
    let mut differing = Vec::new();
    for answer in recorded {
        let (path, object) = (answer["path"].as_str().unwrap(), &answer["json"]);
        let expected = STANDARD.decode(answer["protobuf"].as_str().unwrap()).unwrap();
        let mut decoded = decode(&expected, "", "").unwrap_or_else(|error| panic!("{path}: {error}"));
        let encoded = encode(object).unwrap_or_else(|| panic!("{path} has no message"));
        if encoded != expected {
            let at = encoded.iter().zip(&expected).take_while(|(left, right)| left == right).count();
            differing.push(format!("{path}: bytes from {at}: {decoded}"));
        }
        let mut object = object.clone();
        without_what_is_lost(&mut object);
        without_what_is_lost(&mut decoded);
        if decoded != object {
            let (decoded, object) = (decoded.to_string(), object.to_string());
            let at = decoded.bytes().zip(object.bytes()).take_while(|(left, right)| left == right).count();
            let rest =
                |text: &str| text.get(at.saturating_sub(60)..).unwrap_or(text).chars().take(200).collect::<String>();
            differing.push(format!("{path}: {} is {}", rest(&object), rest(&decoded)));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// Protocol buffers can't tell an empty list or map from none, and have no kind of objects within objects.
fn without_what_is_lost(value: &mut Value) {
    for path in ["/spec/volumeClaimTemplates", "/items"] {
        let objects = value.pointer_mut(path).and_then(Value::as_array_mut);
        for object in objects.into_iter().flatten().filter_map(Value::as_object_mut) {
            object.remove("apiVersion");
            object.remove("kind");
        }
    }
    if value.get("apiVersion").is_some_and(|version| version == "") {
        value.as_object_mut().map(|members| members.remove("apiVersion"));
    }
    without_empty_lists(value);
}

fn without_empty_lists(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.values_mut().for_each(without_empty_lists);
            members.retain(|_, member| !member.is_null() && member.as_array().is_none_or(|items| !items.is_empty()));
        }
        Value::Array(items) => items.iter_mut().for_each(without_empty_lists),
        _ => {}
    }
}
