//! Rules for volumes that are file systems in the network.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::super::fields::{at, is_given, text};
use super::super::rules::{Errors, named, required_texts};
use crate::metadata::names;

/// `NFSVolumeSource`.
pub(super) fn nfs(source: &Value, path: &FieldPath, errors: &mut Errors) {
    required_texts(source, path, &["server", "path"], errors);
    let target = text(source, "path");
    if !target.starts_with('/') {
        errors.push(FieldError::invalid(&path.child("path"), target, "must be an absolute path"));
    }
}

/// `GlusterfsVolumeSource`.
pub(super) fn gluster(source: &Value, path: &FieldPath, errors: &mut Errors) {
    required_texts(source, path, &["endpoints", "path"], errors);
}

/// `FlockerVolumeSource`.
pub(super) fn flocker(source: &Value, path: &FieldPath, errors: &mut Errors) {
    let (name, uuid) = (text(source, "datasetName"), text(source, "datasetUUID"));
    if name.is_empty() && uuid.is_empty() {
        errors.push(FieldError::required(path, "one of datasetName and datasetUUID is required"));
    }
    if !name.is_empty() && !uuid.is_empty() {
        let detail = "datasetName and datasetUUID can not be specified simultaneously";
        errors.push(FieldError::invalid(path, "resource", detail));
    }
    if name.contains('/') {
        errors.push(FieldError::invalid(&path.child("datasetName"), name, "must not contain '/'"));
    }
}

/// `RBDVolumeSource`.
pub(super) fn rbd(source: &Value, path: &FieldPath, errors: &mut Errors) {
    ceph(source, path, errors);
    required_texts(source, path, &["image"], errors);
}

/// `CephFSVolumeSource`.
pub(super) fn ceph(source: &Value, path: &FieldPath, errors: &mut Errors) {
    if !is_given(source, "monitors") {
        errors.push(FieldError::required(&path.child("monitors"), ""));
    }
}

/// `QuobyteVolumeSource`.
pub(super) fn quobyte(source: &Value, path: &FieldPath, errors: &mut Errors) {
    let registry = text(source, "registry");
    let pairs = "must be a host:port pair or multiple pairs separated by commas";
    if registry.is_empty() {
        errors.push(FieldError::required(&path.child("registry"), pairs));
    } else if text(source, "tenant").len() >= 65 {
        let detail = "must be a UUID and may not exceed a length of 64 characters";
        errors.push(FieldError::required(&path.child("tenant"), detail));
    } else {
        for _ in registry.split(',').filter(|pair| !is_host_and_port(pair)) {
            errors.push(FieldError::invalid(&path.child("registry"), registry, pairs));
        }
    }
    required_texts(source, path, &["volume"], errors);
}

fn is_host_and_port(pair: &str) -> bool {
    let Some((host, port)) = pair.rsplit_once(':') else { return false };
    let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    !port.contains([']', '[']) && inner.map_or(!host.contains([':', '[', ']']), |inner| !inner.contains(['[', ']']))
}

/// `AzureFileVolumeSource`.
pub(super) fn azure_file(source: &Value, path: &FieldPath, errors: &mut Errors) {
    required_texts(source, path, &["secretName", "shareName"], errors);
}

/// `StorageOSVolumeSource`.
pub(super) fn storage_os(source: &Value, path: &FieldPath, errors: &mut Errors) {
    required_texts(source, path, &["volumeName"], errors);
    for key in ["volumeName", "volumeNamespace"] {
        let name = text(source, key);
        if !name.is_empty() {
            named(name, &path.child(key), names::dns_label(name, false), errors);
        }
    }
    if !at(source, "secretRef").is_null() {
        required_texts(at(source, "secretRef"), &path.child("secretRef"), &["name"], errors);
    }
}

/// `ScaleIOVolumeSource`.
pub(super) fn scale_io(source: &Value, path: &FieldPath, errors: &mut Errors) {
    required_texts(source, path, &["gateway", "system", "volumeName"], errors);
}
