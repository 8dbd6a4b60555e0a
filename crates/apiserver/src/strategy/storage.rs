//! `storage.k8s.io/v1`: storage classes and drivers.

use serde_json::json;

use super::fields::{Fields, set_default};

/// `StorageClass`.
pub(super) fn class_defaults(class: &mut Fields) {
    set_default(class, "reclaimPolicy", "Delete");
    set_default(class, "volumeBindingMode", "Immediate");
}

/// `CSIDriverSpec`.
pub(super) fn driver_defaults(spec: &mut Fields) {
    set_default(spec, "attachRequired", true);
    for key in ["podInfoOnMount", "storageCapacity", "requiresRepublish", "seLinuxMount"] {
        set_default(spec, key, false);
    }
    set_default(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
    set_default(spec, "volumeLifecycleModes", json!(["Persistent"]));
}
