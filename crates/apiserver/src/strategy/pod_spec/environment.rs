//! Rules for the environment of a container: variables, and where their values come from.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::super::fields::{at, is_given, items, text};
use super::super::rules::{Errors, named, required_texts};
use super::volume::no_backsteps;
use crate::metadata::names;

const FIELDS: &[&str] = &[
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

/// Fields of a pod that may be referred to at all.
const KNOWN_FIELDS: &[&str] = &[
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.serviceAccountName",
    "spec.schedulerName",
    "status.phase",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

const RESOURCES: &[&str] = &[
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

const BYTE_DIVISORS: &[&str] = &["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

/// Rules for `env`.
pub(super) fn variables(list: &[Value], path: &FieldPath, errors: &mut Errors) {
    for (index, variable) in list.iter().enumerate() {
        let path = path.index(index);
        let name = text(variable, "name");
        if name.is_empty() {
            errors.push(FieldError::required(&path.child("name"), ""));
        } else {
            named(name, &path.child("name"), variable_name(name), errors);
        }
        let from = at(variable, "valueFrom");
        if !from.is_null() {
            value_from(from, is_given(variable, "value"), &path.child("valueFrom"), errors);
        }
    }
}

/// Names of variables may hold any printable ASCII but the sign that ends them.
fn variable_name(name: &str) -> Vec<String> {
    let text = "a valid environment variable name must consist only of printable ASCII characters other than '='";
    let printable = name.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'=');
    if printable { Vec::new() } else { vec![text.to_owned()] }
}

fn value_from(from: &Value, has_value: bool, path: &FieldPath, errors: &mut Errors) {
    let mut sources = 0;
    let mut source = |key: &str| {
        let source = at(from, key);
        sources += usize::from(!source.is_null());
        (!source.is_null()).then(|| (source, path.child(key)))
    };
    if let Some((source, path)) = source("fieldRef") {
        field_reference(source, FIELDS, &path, errors);
    }
    if let Some((source, path)) = source("resourceFieldRef") {
        resource_reference(source, false, &path, errors);
    }
    for key in ["configMapKeyRef", "secretKeyRef"] {
        if let Some((source, path)) = source(key) {
            key_reference(source, &path, errors);
        }
    }
    if let Some((source, path)) = source("fileKeyRef") {
        file_reference(source, &path, errors);
    }
    if sources == 0 {
        let detail = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or \
                      `fileKeyRef`";
        errors.push(FieldError::invalid(path, "", detail));
    } else if has_value {
        errors.push(FieldError::invalid(path, "", "may not be specified when `value` is not empty"));
    } else if sources > 1 {
        errors.push(FieldError::invalid(path, "", "may not have more than one field specified at a time"));
    }
}

/// A field of the pod, which must be among some.
pub(super) fn field_reference(reference: &Value, fields: &[&str], path: &FieldPath, errors: &mut Errors) {
    let version = text(reference, "apiVersion");
    let field = text(reference, "fieldPath");
    for key in ["apiVersion", "fieldPath"] {
        if text(reference, key).is_empty() {
            errors.push(FieldError::required(&path.child(key), ""));
            return;
        }
    }
    let field_path = path.child("fieldPath");
    let subscripted = field.strip_suffix("']").and_then(|field| field.split_once("['"));
    let known = match subscripted {
        _ if version != "v1" => Err(format!("unsupported pod version: {version}")),
        Some(("metadata.annotations" | "metadata.labels", _)) => Ok(field),
        Some(_) => Err(format!("field label does not support subscript: {field}")),
        None if field == "spec.host" => Ok("spec.nodeName"),
        None if KNOWN_FIELDS.contains(&field) => Ok(field),
        None => Err(format!("field label not supported: {field}")),
    };
    match (known, subscripted) {
        (Err(text), _) => {
            let detail = format!("error converting fieldPath: {text}");
            errors.push(FieldError::invalid(&field_path, field, detail));
        }
        (Ok(_), Some(("metadata.annotations", key))) => {
            let key = key.to_lowercase();
            named(&key, path, names::qualified_name(&key), errors);
        }
        (Ok(_), Some((_, key))) => named(key, path, names::qualified_name(key), errors),
        (Ok(known), None) if !fields.contains(&known) => {
            errors.push(FieldError::not_supported(&field_path, known, fields));
        }
        (Ok(_), None) => {}
    }
}

/// A request or limit of a container; a volume has to say of which one.
pub(super) fn resource_reference(reference: &Value, of_volume: bool, path: &FieldPath, errors: &mut Errors) {
    let resource = text(reference, "resource");
    let of_pages = resource.starts_with("requests.hugepages-") || resource.starts_with("limits.hugepages-");
    if of_volume && text(reference, "containerName").is_empty() {
        errors.push(FieldError::required(&path.child("containerName"), ""));
    } else if resource.is_empty() {
        errors.push(FieldError::required(&path.child("resource"), ""));
    } else if !RESOURCES.contains(&resource) && !of_pages {
        errors.push(FieldError::not_supported(&path.child("resource"), resource, RESOURCES));
    }
    let divisor = text(reference, "divisor");
    if matches!(divisor, "" | "0") {
        return;
    }
    let bytes = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are";
    let (allowed, told, called): (&[&str], _, _) = match resource {
        "limits.cpu" | "requests.cpu" => (&["1m", "1"], "1m and 1 are", "cpu"),
        "limits.memory" | "requests.memory" => (BYTE_DIVISORS, bytes, "memory"),
        "limits.ephemeral-storage" | "requests.ephemeral-storage" => (BYTE_DIVISORS, bytes, "local ephemeral storage"),
        _ if of_pages => (BYTE_DIVISORS, bytes, "hugepages"),
        _ => return,
    };
    if !allowed.contains(&divisor) {
        let detail = format!("only divisor's values {told} supported with the {called} resource");
        errors.push(FieldError::invalid(&path.child("divisor"), resource, detail));
    }
}

fn key_reference(reference: &Value, path: &FieldPath, errors: &mut Errors) {
    let name = text(reference, "name");
    named(name, &path.child("name"), names::dns_subdomain(name, false), errors);
    let key = text(reference, "key");
    if key.is_empty() {
        errors.push(FieldError::required(&path.child("key"), ""));
    } else {
        super::super::config_map::data_key(key, &path.child("key"), errors);
    }
}

fn file_reference(reference: &Value, path: &FieldPath, errors: &mut Errors) {
    for key in ["key", "volumeName", "path"] {
        let value = text(reference, key);
        let path = path.child(key);
        match key {
            _ if value.is_empty() => errors.push(FieldError::required(&path, "")),
            "key" => named(value, &path, variable_name(value), errors),
            "volumeName" => named(value, &path, names::dns_label(value, false), errors),
            _ => no_backsteps(value, &path, errors),
        }
    }
}

/// Rules for `envFrom`.
pub(super) fn sources(list: &[Value], path: &FieldPath, errors: &mut Errors) {
    for (index, source) in list.iter().enumerate() {
        let item = path.index(index);
        let prefix = text(source, "prefix");
        if !prefix.is_empty() {
            named(prefix, &item.child("prefix"), variable_name(prefix), errors);
        }
        let mut found = 0;
        for key in ["configMapRef", "secretRef"] {
            let reference = at(source, key);
            if reference.is_null() {
                continue;
            }
            found += 1;
            let path = item.child(key);
            required_texts(reference, &path, &["name"], errors);
            let name = text(reference, "name");
            if !name.is_empty() {
                named(name, &path.child("name"), names::dns_subdomain(name, true), errors);
            }
        }
        match found {
            0 => errors.push(FieldError::invalid(path, "", "must specify one of: `configMapRef` or `secretRef`")),
            1 => {}
            _ => errors.push(FieldError::invalid(path, "", "may not have more than one field specified at a time")),
        }
    }
}

/// Variables from files: the volume must be there and be an empty directory.
pub(super) fn file_volumes(container: &Value, volumes: &[Value], path: &FieldPath, errors: &mut Errors) {
    for (index, variable) in items(container, "env").iter().enumerate() {
        let reference = at(variable, "valueFrom.fileKeyRef");
        if reference.is_null() {
            continue;
        }
        let path = path.child("env").index(index).child("valueFrom.fileKeyRef.volumeName");
        let name = text(reference, "volumeName");
        match volumes.iter().rfind(|volume| text(volume, "name") == name) {
            None => errors.push(FieldError::not_found(&path, name)),
            Some(volume) if at(volume, "emptyDir").is_null() => {
                errors.push(FieldError::invalid(&path, name, "referenced volume must be of type emptyDir"));
            }
            Some(_) => {}
        }
    }
}
