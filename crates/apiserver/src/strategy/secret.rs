//! `v1` Secret.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::Strategy;
use super::config_map::{data_key, decoded_size, unchanged_when_immutable};
use super::fields::{Fields, at, object_or_new, set_default, text};
use super::key_pair;
use super::rules::{Errors, immutable};
use crate::pipeline::parse;

const MAX_BYTES: usize = 1024 * 1024;

/// The fields that a type of secret must have.
const REQUIRED: &[(&str, &[&str])] = &[
    ("kubernetes.io/dockercfg", &[".dockercfg"]),
    ("kubernetes.io/dockerconfigjson", &[".dockerconfigjson"]),
    ("kubernetes.io/ssh-auth", &["ssh-privatekey"]),
    ("kubernetes.io/tls", &["tls.crt", "tls.key"]),
];

/// The fields that must be JSON.
const DOCKER: &[(&str, &str)] =
    &[("kubernetes.io/dockercfg", ".dockercfg"), ("kubernetes.io/dockerconfigjson", ".dockerconfigjson")];

/// `Secret`: what is given as text becomes data.
pub(super) fn defaults(secret: &mut Fields) {
    if let Some(Value::Object(texts)) = secret.remove("stringData")
        && let Some(data) = object_or_new(secret, "data")
    {
        for (key, text) in texts {
            let text = text.as_str().unwrap_or_default();
            data.insert(key, json!(STANDARD.encode(text)));
        }
    }
    set_default(secret, "type", "Opaque");
}

/// What is special about secrets.
#[derive(Debug)]
pub(super) struct Secret;

impl Strategy for Secret {
    fn definition(&self) -> Option<&'static str> {
        Some("io.k8s.api.core.v1.Secret")
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        let data = at(object, "data");
        let path = FieldPath::new("data");
        for (key, _) in data.as_object().into_iter().flatten() {
            data_key(key, &path.key(key), &mut errors);
        }
        if decoded_size(data) > MAX_BYTES {
            errors.push(FieldError::too_long(&path, i64::try_from(MAX_BYTES).unwrap_or(-1)));
        }
        let kind = text(object, "type");
        for (_, keys) in REQUIRED.iter().filter(|(known, _)| *known == kind) {
            for key in keys.iter().filter(|key| data.get(**key).is_none()) {
                errors.push(FieldError::required(&path.key(key), ""));
            }
        }
        for (_, key) in DOCKER.iter().filter(|(known, _)| *known == kind) {
            let given = data.get(*key).and_then(Value::as_str);
            let Some(bytes) = given.and_then(|given| STANDARD.decode(given).ok()) else { continue };
            if let Err(error) = parse::json(&bytes) {
                errors.push(FieldError::invalid(&path.key(key), "<secret contents redacted>", error));
            }
        }
        if kind == "kubernetes.io/basic-auth" && data.get("username").is_none() && data.get("password").is_none() {
            errors.push(FieldError::required(&path.key("username"), ""));
            errors.push(FieldError::required(&path.key("password"), ""));
        }
        let account = at(object, "metadata.annotations").get("kubernetes.io/service-account.name");
        if kind == "kubernetes.io/service-account-token" && account.is_none() {
            let path = FieldPath::new("metadata.annotations").key("kubernetes.io/service-account.name");
            errors.push(FieldError::required(&path, ""));
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value, _subresource: Option<&str>) -> Errors {
        let mut errors = Errors::new();
        immutable(new, old, "type", &mut errors);
        unchanged_when_immutable(new, old, &["data"], &mut errors);
        errors.extend(self.validate(new));
        errors
    }

    fn warnings(&self, new: &Value, _old: Option<&Value>) -> Vec<String> {
        if text(new, "type") != "kubernetes.io/tls" {
            return Vec::new();
        }
        let data = |key: &str| {
            let given = at(new, "data").get(key).and_then(Value::as_str);
            given.and_then(|given| STANDARD.decode(given).ok()).unwrap_or_default()
        };
        key_pair::problem(&data("tls.crt"), &data("tls.key")).into_iter().collect()
    }

    fn selectable_labels(&self) -> &[&'static str] {
        &["type"]
    }

    fn selectable(&self, object: &Value) -> BTreeMap<String, String> {
        super::selectable_texts(self.selectable_labels(), object)
    }
}
