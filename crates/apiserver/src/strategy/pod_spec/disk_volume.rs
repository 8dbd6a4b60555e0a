//! Rules for volumes that are disks, claimed or of a vendor.

use controller_runtime_schema::{FieldError, FieldPath, Pattern};
use serde_json::Value;

use super::super::fields::{Fields, at, is_given, number, text};
use super::super::persistent_volume_claim::validate_spec as validate_claim_spec;
use super::super::rules::{Errors, labels, named, one_of_given, required_texts, within};
use super::annotations;
use crate::metadata::names;

/// `PersistentVolumeClaimVolumeSource`.
pub(super) fn claim(source: &Value, path: &FieldPath, errors: &mut Errors) {
    required_texts(source, path, &["claimName"], errors);
}

/// `GCEPersistentDiskVolumeSource`.
pub(super) fn google(source: &Value, path: &FieldPath, errors: &mut Errors) {
    required_texts(source, path, &["pdName"], errors);
    partition(source, path, errors);
}

/// `AWSElasticBlockStoreVolumeSource`.
pub(super) fn amazon(source: &Value, path: &FieldPath, errors: &mut Errors) {
    required_texts(source, path, &["volumeID"], errors);
    partition(source, path, errors);
}

fn partition(source: &Value, path: &FieldPath, errors: &mut Errors) {
    let partition = number(source, "partition").unwrap_or_default();
    if !(0..=255).contains(&partition) {
        let detail = "must be between 1 and 255, inclusive";
        errors.push(FieldError::invalid(&path.child("partition"), partition, detail));
    }
}

/// `ISCSIVolumeSource`.
pub(super) fn iscsi(source: &Value, path: &FieldPath, errors: &mut Errors) {
    required_texts(source, path, &["targetPortal"], errors);
    let name = text(source, "iqn");
    if name.is_empty() {
        errors.push(FieldError::required(&path.child("iqn"), ""));
    } else {
        initiator(name, &path.child("iqn"), errors);
    }
    within(at(source, "lun"), 0..=255, &path.child("lun"), errors);
    let authenticates =
        ["chapAuthDiscovery", "chapAuthSession"].iter().any(|key| at(source, key) == &Value::Bool(true));
    if authenticates && at(source, "secretRef").is_null() {
        errors.push(FieldError::required(&path.child("secretRef"), ""));
    }
    if let Some(name) = at(source, "initiatorName").as_str() {
        initiator(name, &path.child("initiatorname"), errors);
    }
}

/// The name of an initiator or target (RFC 3721).
fn initiator(name: &str, path: &FieldPath, errors: &mut Errors) {
    let pattern = match name.get(..3) {
        Some("iqn") => r"iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$",
        Some("eui") => r"^eui.[[:alnum:]]{16}$",
        Some("naa") => r"^naa.[[:alnum:]]{32}$",
        _ => {
            let detail = "must be valid format starting with iqn, eui, or naa";
            errors.push(FieldError::invalid(path, name, detail));
            return;
        }
    };
    if !Pattern::new(pattern).is_match(name).unwrap_or(false) {
        errors.push(FieldError::invalid(path, name, "must be valid format"));
    }
}

/// `CinderVolumeSource`.
pub(super) fn cinder(source: &Value, path: &FieldPath, errors: &mut Errors) {
    required_texts(source, path, &["volumeID"], errors);
    if !at(source, "secretRef").is_null() {
        required_texts(at(source, "secretRef"), &path.child("secretRef"), &["name"], errors);
    }
}

/// `FCVolumeSource`.
pub(super) fn fibre_channel(source: &Value, path: &FieldPath, errors: &mut Errors) {
    let path_of_names = path.child("targetWWNs");
    match (is_given(source, "targetWWNs"), is_given(source, "wwids")) {
        (false, false) => {
            let detail = "must specify either targetWWNs or wwids, but not both";
            errors.push(FieldError::required(&path_of_names, detail));
        }
        (true, true) => {
            let detail = "targetWWNs and wwids can not be specified simultaneously";
            errors.push(FieldError::invalid(&path_of_names, at(source, "targetWWNs").clone(), detail));
        }
        _ => {}
    }
    if is_given(source, "targetWWNs") {
        if at(source, "lun").is_null() {
            errors.push(FieldError::required(&path.child("lun"), "lun is required if targetWWNs is specified"));
        }
        within(at(source, "lun"), 0..=255, &path.child("lun"), errors);
    }
}

/// `FlexVolumeSource`.
pub(super) fn flex(source: &Value, path: &FieldPath, errors: &mut Errors) {
    required_texts(source, path, &["driver"], errors);
    for key in at(source, "options").as_object().into_iter().flat_map(Fields::keys) {
        let namespace = key.split_once('/').map_or(key.as_str(), |(namespace, _)| namespace);
        let namespace = format!(".{}", namespace.to_lowercase());
        if namespace.ends_with(".kubernetes.io") || namespace.ends_with(".k8s.io") {
            let detail = "kubernetes.io and k8s.io namespaces are reserved";
            errors.push(FieldError::invalid(&path.child("options").key(key), key.as_str(), detail));
        }
    }
}

/// `VsphereVirtualDiskVolumeSource`.
pub(super) fn vsphere(source: &Value, path: &FieldPath, errors: &mut Errors) {
    required_texts(source, path, &["volumePath"], errors);
}

/// `PhotonPersistentDiskVolumeSource`.
pub(super) fn photon(source: &Value, path: &FieldPath, errors: &mut Errors) {
    required_texts(source, path, &["pdID"], errors);
}

/// `PortworxVolumeSource`.
pub(super) fn portworx(source: &Value, path: &FieldPath, errors: &mut Errors) {
    required_texts(source, path, &["volumeID"], errors);
}

/// `AzureDiskVolumeSource`.
pub(super) fn azure_disk(source: &Value, path: &FieldPath, errors: &mut Errors) {
    required_texts(source, path, &["diskName", "diskURI"], errors);
    let modes = ["None", "ReadOnly", "ReadWrite"];
    one_of_given(at(source, "cachingMode"), &path.child("cachingMode"), &modes, errors);
    let kind = at(source, "kind");
    one_of_given(kind, &path.child("kind"), &["Dedicated", "Managed", "Shared"], errors);
    let uri = text(source, "diskURI");
    let (starts, form) = if kind == "Managed" {
        let form = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
        ("/subscriptions/", form)
    } else {
        ("https://", "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd")
    };
    if !kind.is_null() && !uri.starts_with(starts) {
        errors.push(FieldError::not_supported(&path.child("diskURI"), uri, &[form]));
    }
}

/// `CSIVolumeSource`.
pub(super) fn csi(source: &Value, path: &FieldPath, errors: &mut Errors) {
    csi_driver(text(source, "driver"), &path.child("driver"), errors);
    let secret = at(source, "nodePublishSecretRef");
    if !secret.is_null() {
        let name = text(secret, "name");
        if name.is_empty() {
            errors.push(FieldError::required(&path.child("nodePublishSecretRef.name"), ""));
        } else {
            named(name, &path.child("name"), names::dns_subdomain(name, false), errors);
        }
    }
}

/// The name of a driver.
pub(super) fn csi_driver(driver: &str, path: &FieldPath, errors: &mut Errors) {
    if driver.is_empty() {
        errors.push(FieldError::required(path, ""));
        return;
    }
    if driver.len() > 63 {
        errors.push(FieldError::too_long(path, 63));
    }
    named(driver, path, names::dns_subdomain(&driver.to_lowercase(), false), errors);
}

/// `EphemeralVolumeSource`.
pub(super) fn ephemeral(source: &Value, path: &FieldPath, errors: &mut Errors) {
    let template = at(source, "volumeClaimTemplate");
    let path = path.child("volumeClaimTemplate");
    if template.is_null() {
        errors.push(FieldError::required(&path, ""));
        return;
    }
    let metadata_path = path.child("metadata");
    let metadata = at(template, "metadata");
    annotations(at(metadata, "annotations"), &metadata_path.child("annotations"), errors);
    labels(at(metadata, "labels"), &metadata_path.child("labels"), errors);
    let fields = [
        "name",
        "generateName",
        "namespace",
        "selfLink",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "ownerReferences",
        "finalizers",
        "managedFields",
    ];
    for field in fields {
        if is_given(metadata, field) {
            errors.push(FieldError::forbidden(&metadata_path.child(field), "cannot be set"));
        }
    }
    validate_claim_spec(at(template, "spec"), &path.child("spec"), errors);
}
