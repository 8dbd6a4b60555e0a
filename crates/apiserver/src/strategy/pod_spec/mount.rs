//! Rules for what a container mounts: volumes as directories and as block devices.

use std::collections::BTreeSet;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::super::fields::{at, items, text};
use super::super::rules::{Errors, one_of};
use super::Volumes;
use super::volume::descending_path;

/// Rules for `volumeMounts`.
pub(super) fn mounts(container: &Value, path: &FieldPath, volumes: &Volumes<'_>, errors: &mut Errors) {
    let devices = items(container, "volumeDevices");
    let mut taken = BTreeSet::new();
    for (index, mount) in items(container, "volumeMounts").iter().enumerate() {
        let item = path.index(index);
        let (name, place) = (text(mount, "name"), text(mount, "mountPath"));
        if name.is_empty() {
            errors.push(FieldError::required(&item.child("name"), ""));
        }
        if !volumes.contains_key(name) {
            errors.push(FieldError::not_found(&item.child("name"), name));
        }
        if place.is_empty() {
            errors.push(FieldError::required(&item.child("mountPath"), ""));
        }
        if !taken.insert(place) {
            errors.push(FieldError::invalid(&item.child("mountPath"), place, "must be unique"));
        }
        if devices.iter().any(|device| text(device, "name") == name) {
            let detail = "must not already exist in volumeDevices";
            errors.push(FieldError::invalid(&item.child("name"), name, detail));
        }
        if devices.iter().any(|device| text(device, "devicePath") == place) {
            let detail = "must not already exist as a path in volumeDevices";
            errors.push(FieldError::invalid(&item.child("mountPath"), place, detail));
        }
        sub_paths(mount, path, &item, errors);
        propagation(mount, container, path, errors);
    }
}

/// The reference tells no index where a path is wrong.
fn sub_paths(mount: &Value, path: &FieldPath, item: &FieldPath, errors: &mut Errors) {
    let (sub_path, expression) = (text(mount, "subPath"), text(mount, "subPathExpr"));
    if !sub_path.is_empty() {
        descending_path(sub_path, &path.child("subPath"), errors);
    }
    if !expression.is_empty() {
        if !sub_path.is_empty() {
            let detail = "subPathExpr and subPath are mutually exclusive";
            errors.push(FieldError::invalid(&item.child("subPathExpr"), expression, detail));
        }
        descending_path(expression, &path.child("subPathExpr"), errors);
    }
}

fn propagation(mount: &Value, container: &Value, path: &FieldPath, errors: &mut Errors) {
    let propagation = at(mount, "mountPropagation");
    if !propagation.is_null() {
        let path = path.child("mountPropagation");
        one_of(propagation, &path, &["Bidirectional", "HostToContainer", "None"], errors);
        if propagation == "Bidirectional" && at(container, "securityContext.privileged") != &Value::Bool(true) {
            let detail = "Bidirectional mount propagation is available only to privileged containers";
            errors.push(FieldError::forbidden(&path, detail));
        }
    }
    let path = path.child("recursiveReadOnly");
    match at(mount, "recursiveReadOnly").as_str() {
        None | Some("Disabled") => {}
        Some("Enabled" | "IfPossible") => {
            if at(mount, "readOnly") != &Value::Bool(true) {
                errors.push(FieldError::forbidden(&path, "may only be specified when readOnly is true"));
            }
            if !propagation.is_null() && propagation != "None" {
                let detail = "may only be specified when mountPropagation is None or not specified";
                errors.push(FieldError::forbidden(&path, detail));
            }
        }
        Some(other) => {
            errors.push(FieldError::not_supported(&path, other, &["Disabled", "Enabled", "IfPossible"]));
        }
    }
}

/// Rules for `volumeDevices`.
pub(super) fn devices(container: &Value, path: &FieldPath, volumes: &Volumes<'_>, errors: &mut Errors) {
    let mounts = items(container, "volumeMounts");
    let (mut names, mut places) = (BTreeSet::new(), BTreeSet::new());
    for (index, device) in items(container, "volumeDevices").iter().enumerate() {
        let item = path.index(index);
        let (name, place) = (text(device, "name"), text(device, "devicePath"));
        let (name_path, place_path) = (item.child("name"), item.child("devicePath"));
        if name.is_empty() {
            errors.push(FieldError::required(&name_path, ""));
        }
        if names.contains(name) {
            errors.push(FieldError::invalid(&name_path, name, "must be unique"));
        }
        match volumes.get(name) {
            None => errors.push(FieldError::not_found(&name_path, name)),
            Some(volume) if at(volume, "persistentVolumeClaim").is_null() && at(volume, "ephemeral").is_null() => {
                let detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
                errors.push(FieldError::invalid(&name_path, name, detail));
            }
            Some(_) => {}
        }
        if place.is_empty() {
            errors.push(FieldError::required(&place_path, ""));
        }
        if places.contains(place) {
            errors.push(FieldError::invalid(&place_path, place, "must be unique"));
        }
        if place.split('/').any(|part| part == "..") {
            errors.push(FieldError::invalid(&place_path, place, "can not contain backsteps ('..')"));
        } else {
            places.insert(place);
        }
        if mounts.iter().any(|mount| text(mount, "name") == name) {
            errors.push(FieldError::invalid(&name_path, name, "must not already exist in volumeMounts"));
        }
        if mounts.iter().any(|mount| text(mount, "mountPath") == place) {
            let detail = "must not already exist as a path in volumeMounts";
            errors.push(FieldError::invalid(&place_path, place, detail));
        }
        if !name.is_empty() {
            names.insert(name);
        }
    }
}
