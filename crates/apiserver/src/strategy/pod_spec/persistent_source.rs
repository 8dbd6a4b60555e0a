//! Rules for the sources of persistent volumes, most of which pods have too.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::super::fields::{at, text};
use super::super::rules::{Errors, required_texts};
use super::volume::{SourceRule, no_backsteps};
use super::{disk_volume, file_volume, network_volume};

/// Every source in the order in which it is looked for, the name under which its errors stand, and its rules.
const SOURCES: &[(&str, &str, SourceRule)] = &[
    ("hostPath", "hostPath", file_volume::host_path),
    ("gcePersistentDisk", "persistentDisk", disk_volume::google),
    ("awsElasticBlockStore", "awsElasticBlockStore", disk_volume::amazon),
    ("glusterfs", "glusterfs", network_volume::gluster),
    ("flocker", "flocker", network_volume::flocker),
    ("nfs", "nfs", network_volume::nfs),
    ("rbd", "rbd", network_volume::rbd),
    ("quobyte", "quobyte", network_volume::quobyte),
    ("cephfs", "cephfs", network_volume::ceph),
    ("iscsi", "iscsi", disk_volume::iscsi),
    ("cinder", "cinder", disk_volume::cinder),
    ("fc", "fc", disk_volume::fibre_channel),
    ("flexVolume", "flexVolume", disk_volume::flex),
    ("azureFile", "azureFile", network_volume::azure_file),
    ("vsphereVolume", "vsphereVolume", disk_volume::vsphere),
    ("photonPersistentDisk", "photonPersistentDisk", disk_volume::photon),
    ("portworxVolume", "portworxVolume", disk_volume::portworx),
    ("azureDisk", "azureDisk", disk_volume::azure_disk),
    ("scaleIO", "scaleIO", network_volume::scale_io),
    ("local", "local", local),
    ("storageos", "storageos", network_volume::storage_os),
    ("csi", "csi", csi),
];

/// Whether a field of a persistent volume's spec is its source.
pub(in crate::strategy) fn is_persistent_source(key: &str) -> bool {
    SOURCES.iter().any(|(source, ..)| *source == key)
}

/// A persistent volume has one source.
pub(in crate::strategy) fn persistent_source(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let mut found = false;
    for (key, place, rule) in SOURCES.iter().filter(|(key, ..)| !at(spec, key).is_null()) {
        // The reference doesn't count this one.
        if found && *key != "flexVolume" {
            // The reference spells this one so.
            let key = if *key == "cephfs" { "cephFS" } else { key };
            errors.push(FieldError::forbidden(&path.child(key), "may not specify more than 1 volume type"));
        } else {
            rule(at(spec, key), &path.child(place), errors);
            if *key == "local" && at(spec, "nodeAffinity").is_null() {
                let detail = "Local volume requires node affinity";
                errors.push(FieldError::required(&path.child("nodeAffinity"), detail));
            }
        }
        found = true;
    }
    if !found {
        errors.push(FieldError::required(path, "must specify a volume type"));
    }
}

/// `LocalVolumeSource`.
fn local(source: &Value, path: &FieldPath, errors: &mut Errors) {
    required_texts(source, path, &["path"], errors);
    no_backsteps(text(source, "path"), &path.child("path"), errors);
}

/// `CSIPersistentVolumeSource`.
fn csi(source: &Value, path: &FieldPath, errors: &mut Errors) {
    disk_volume::csi_driver(text(source, "driver"), &path.child("driver"), errors);
    required_texts(source, path, &["volumeHandle"], errors);
    let secrets =
        ["controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef"];
    for key in secrets {
        let secret = at(source, key);
        if !secret.is_null() {
            required_texts(secret, &path.child(key), &["name", "namespace"], errors);
        }
    }
}
