//! Fields that an endpoint takes from the stored object, whatever the request says.

use controller_runtime_merge::{FieldPath, FieldSet};

use crate::resource::Resource;

/// The fields that nobody comes to own by writing through the resource itself, or through one of its subresources.
pub(super) fn reset_fields(resource: &Resource, subresource: Option<&str>) -> FieldSet {
    let paths: &[&[&str]] = match subresource {
        None if resource.has_status() => &[&["status"]],
        Some("status") if !resource.strategy.typed() || RESETS_METADATA.contains(&resource.kind.as_str()) => {
            return reset_in_status();
        }
        Some("status") if resource.kind == "Deployment" => &[&["spec"], &["metadata", "labels"]],
        Some("status") if resource.kind == "Pod" => {
            &[&["spec"], &["metadata", "deletionTimestamp"], &["metadata", "ownerReferences"]]
        }
        Some("status") => &[&["spec"]],
        _ => &[],
    };
    paths.iter().map(|path| FieldPath::fields(path.iter().copied())).collect()
}

/// Those of a status that is written without any of the metadata.
pub(super) fn reset_in_status() -> FieldSet {
    ["metadata", "spec"].into_iter().map(|name| FieldPath::fields([name])).collect()
}

/// Kinds whose status is written without any of the metadata.
const RESETS_METADATA: [&str; 16] = [
    "ValidatingAdmissionPolicy",
    "StorageVersion",
    "PodCertificateRequest",
    "FlowSchema",
    "PriorityLevelConfiguration",
    "Eviction",
    "EvictionRequest",
    "ServiceCIDR",
    "DeviceTaintRule",
    "ResourceClaim",
    "ResourcePoolStatusRequest",
    "CompositePodGroup",
    "PodGroup",
    "CSINode",
    "VolumeAttachment",
    "StorageVersionMigration",
];
