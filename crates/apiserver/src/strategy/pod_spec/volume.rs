//! Rules for the volumes of a pod, of which each has one source.

use std::collections::BTreeSet;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::super::fields::{at, items, text};
use super::super::quantity::Quantity;
use super::super::rules::{Errors, named};
use super::{Volumes, disk_volume, file_volume, network_volume, projected_volume};
use crate::metadata::names;

/// Checks one source at its place.
pub(super) type SourceRule = fn(&Value, &FieldPath, &mut Errors);

/// Every source in the order in which it is looked for, the name under which its errors stand, and its rules.
const SOURCES: &[(&str, &str, SourceRule)] = &[
    ("emptyDir", "emptyDir", empty_dir),
    ("hostPath", "hostPath", file_volume::host_path),
    ("gitRepo", "gitRepo", file_volume::git_repo),
    ("gcePersistentDisk", "persistentDisk", disk_volume::google),
    ("awsElasticBlockStore", "awsElasticBlockStore", disk_volume::amazon),
    ("secret", "secret", file_volume::secret),
    ("nfs", "nfs", network_volume::nfs),
    ("iscsi", "iscsi", disk_volume::iscsi),
    ("glusterfs", "glusterfs", network_volume::gluster),
    ("flocker", "flocker", network_volume::flocker),
    ("persistentVolumeClaim", "persistentVolumeClaim", disk_volume::claim),
    ("rbd", "rbd", network_volume::rbd),
    ("cinder", "cinder", disk_volume::cinder),
    ("cephfs", "cephfs", network_volume::ceph),
    ("quobyte", "quobyte", network_volume::quobyte),
    ("downwardAPI", "downwardAPI", projected_volume::downward_api),
    ("fc", "fc", disk_volume::fibre_channel),
    ("flexVolume", "flexVolume", disk_volume::flex),
    ("configMap", "configMap", file_volume::config_map),
    ("azureFile", "azureFile", network_volume::azure_file),
    ("vsphereVolume", "vsphereVolume", disk_volume::vsphere),
    ("photonPersistentDisk", "photonPersistentDisk", disk_volume::photon),
    ("portworxVolume", "portworxVolume", disk_volume::portworx),
    ("azureDisk", "azureDisk", disk_volume::azure_disk),
    ("storageos", "storageos", network_volume::storage_os),
    ("projected", "projected", projected_volume::projected),
    ("scaleIO", "scaleIO", network_volume::scale_io),
    ("csi", "csi", disk_volume::csi),
    ("ephemeral", "ephemeral", disk_volume::ephemeral),
    ("image", "image", file_volume::image),
];

/// Rules for volumes; gives those that are right. `pod` is the pod's name, empty in a template.
pub(super) fn volumes<'a>(volumes: &'a [Value], pod: &str, path: &FieldPath, errors: &mut Errors) -> Volumes<'a> {
    let mut known = Volumes::new();
    let created: BTreeSet<String> = volumes
        .iter()
        .filter(|volume| !pod.is_empty() && !at(volume, "ephemeral").is_null())
        .map(|volume| format!("{pod}-{}", text(volume, "name")))
        .collect();
    for (index, volume) in volumes.iter().enumerate() {
        let path = path.index(index);
        let mut wrong = Errors::new();
        let name = text(volume, "name");
        source(volume, pod, &path, &mut wrong);
        let name_path = path.child("name");
        if name.is_empty() {
            wrong.push(FieldError::required(&name_path, ""));
        } else {
            named(name, &name_path, names::dns_label(name, false), &mut wrong);
        }
        if known.contains_key(name) {
            wrong.push(FieldError::duplicate(&name_path, name));
        }
        if wrong.is_empty() {
            known.insert(name, volume);
        }
        errors.extend(wrong);
        let claim = text(volume, "persistentVolumeClaim.claimName");
        if created.contains(claim) {
            let detail = "must not reference a PVC that gets created for an ephemeral volume";
            errors.push(FieldError::invalid(&path.child("persistentVolumeClaim.claimName"), claim, detail));
        }
    }
    known
}

fn source(volume: &Value, pod: &str, path: &FieldPath, errors: &mut Errors) {
    let name = text(volume, "name");
    let mut found = false;
    for (key, place, rule) in SOURCES {
        let source = at(volume, key);
        if source.is_null() {
            continue;
        }
        if found {
            // The reference spells these so.
            let key = match *key {
                "downwardAPI" => "downwarAPI",
                "cephfs" => "cephFS",
                key => key,
            };
            errors.push(FieldError::forbidden(&path.child(key), "may not specify more than 1 volume type"));
        } else {
            rule(source, &path.child(place), errors);
        }
        if *key == "iscsi" && !at(source, "initiatorName").is_null() {
            let portal = text(source, "targetPortal");
            if name.len() + 1 + portal.len() > 64 {
                let detail = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if \
                              iscsi.initiatorName is specified.";
                errors.push(FieldError::invalid(&path.child("name"), name, detail));
            }
        }
        if *key == "ephemeral" && !found && !pod.is_empty() && !name.is_empty() {
            let claim = format!("{pod}-{name}");
            for text in names::dns_subdomain(&claim, false) {
                let detail = format!("PVC name \"{claim}\": {text}");
                errors.push(FieldError::invalid(&path.child("ephemeral.name"), name, detail));
            }
        }
        found = true;
    }
    if !found {
        errors.push(FieldError::required(path, "must specify a volume type"));
    }
}

fn empty_dir(source: &Value, path: &FieldPath, errors: &mut Errors) {
    let limit = at(source, "sizeLimit").as_str().and_then(Quantity::parse);
    if limit.is_some_and(Quantity::is_negative) {
        let detail = "SizeLimit field must be a valid resource quantity";
        errors.push(FieldError::forbidden(&path.child("sizeLimit"), detail));
    }
}

/// A path that stays inside what it is relative to.
pub(super) fn descending_path(target: &str, path: &FieldPath, errors: &mut Errors) {
    if target.starts_with('/') {
        errors.push(FieldError::invalid(path, target, "must be a relative path"));
    }
    no_backsteps(target, path, errors);
}

/// A path without `..`.
pub(super) fn no_backsteps(target: &str, path: &FieldPath, errors: &mut Errors) {
    if target.split('/').any(|part| part == "..") {
        errors.push(FieldError::invalid(path, target, "must not contain '..'"));
    }
}

/// The path of a file that a volume makes: relative, and not of a name that the kubelet keeps for itself.
pub(super) fn file_path(target: &str, path: &FieldPath, errors: &mut Errors) {
    descending_path(target, path, errors);
    if target.starts_with("..") && !target.starts_with("../") {
        errors.push(FieldError::invalid(path, target, "must not start with '..'"));
    }
}

/// The mode of files, where it is given.
pub(super) fn file_mode(mode: &Value, path: &FieldPath, errors: &mut Errors) {
    if mode.as_i64().is_some_and(|mode| !(0..=0o777).contains(&mode)) {
        let detail = "must be a number between 0 and 0777 (octal), both inclusive";
        errors.push(FieldError::invalid(path, mode.clone(), detail));
    }
}

/// Keys that become files.
pub(super) fn keys_to_paths(source: &Value, path: &FieldPath, errors: &mut Errors) {
    for (index, item) in items(source, "items").iter().enumerate() {
        key_to_path(item, &path.child("items").index(index), errors);
    }
}

/// A key that becomes a file.
pub(super) fn key_to_path(item: &Value, path: &FieldPath, errors: &mut Errors) {
    super::super::rules::required_texts(item, path, &["key", "path"], errors);
    file_path(text(item, "path"), &path.child("path"), errors);
    file_mode(at(item, "mode"), &path.child("mode"), errors);
}
