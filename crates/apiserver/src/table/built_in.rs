//! The columns of built-in kinds, as the reference has them.

use super::column::Content::{Age, At, Count, Flag, Of, Text};
use super::column::{AGE, BuiltInColumn, CREATED_AT, NAME, boolean, date, integer, text, wide};
use super::{cell, definition, kind_cell, pod, service};

const CONTAINERS: BuiltInColumn = wide(text("Containers", Of(cell::containers)));
const IMAGES: BuiltInColumn = wide(text("Images", Of(cell::images)));
const SELECTOR: BuiltInColumn = wide(text("Selector", Of(cell::selector)));

/// The columns of a built-in kind; those of every kind when it has none of its own.
pub(super) fn columns(group: &str, kind: &str) -> &'static [BuiltInColumn] {
    match group {
        "" => core(kind),
        "apps" => apps(kind),
        "batch" => batch(kind),
        "events.k8s.io" => EVENT,
        "rbac.authorization.k8s.io" => rbac(kind),
        "networking.k8s.io" => networking(kind),
        "coordination.k8s.io" => const { &[NAME, text("Holder", Text("spec.holderIdentity")), AGE] },
        "policy" => {
            const {
                &[
                    NAME,
                    text("Min Available", Of(cell::min_available)),
                    text("Max Unavailable", Of(cell::max_unavailable)),
                    integer("Allowed Disruptions", Count("status.disruptionsAllowed")),
                    AGE,
                ]
            }
        }
        "apiextensions.k8s.io" => {
            const {
                &[
                    NAME,
                    text("Scope", Text("spec.scope")),
                    text("Versions", Of(definition::versions)),
                    CREATED_AT,
                    wide(text("Group", Text("spec.group"))),
                    wide(text("Kind", Text("spec.names.kind"))),
                    wide(text("ShortNames", Of(definition::short_names))),
                    wide(boolean("Established", Of(definition::established))),
                ]
            }
        }
        "storage.k8s.io" => storage(kind),
        "scheduling.k8s.io" => {
            const {
                &[
                    NAME,
                    integer("Value", Count("value")),
                    boolean("Global-Default", Flag("globalDefault")),
                    AGE,
                    text("PreemptionPolicy", Text("preemptionPolicy")),
                ]
            }
        }
        "autoscaling" => AUTOSCALER,
        "discovery.k8s.io" => {
            const {
                &[
                    NAME,
                    text("AddressType", Text("addressType")),
                    text("Ports", Of(kind_cell::slice_ports)),
                    text("Endpoints", Of(kind_cell::slice_endpoints)),
                    AGE,
                ]
            }
        }
        "apiregistration.k8s.io" => {
            const {
                &[
                    NAME,
                    text("Service", Of(kind_cell::api_service)),
                    text("Available", Of(kind_cell::api_service_available)),
                    AGE,
                ]
            }
        }
        "admissionregistration.k8s.io" => admission(kind),
        "certificates.k8s.io" if kind == "CertificateSigningRequest" => {
            const {
                &[
                    NAME,
                    AGE,
                    text("SignerName", Text("spec.signerName")),
                    text("Requestor", Text("spec.username")),
                    text("RequestedDuration", Of(kind_cell::requested_duration)),
                    text("Condition", Of(kind_cell::request_state)),
                ]
            }
        }
        "node.k8s.io" => const { &[NAME, text("Handler", Text("handler")), AGE] },
        _ => PLAIN,
    }
}

/// What this server shows of kinds whose own columns it doesn't know.
const PLAIN: &[BuiltInColumn] = &[NAME, AGE];

/// What the reference shows of kinds that it has no columns for.
const UNKNOWN: &[BuiltInColumn] = &[NAME, CREATED_AT];

const EVENT: &[BuiltInColumn] = &[
    text("Last Seen", At(cell::event_last)),
    text("Type", Text("type")),
    text("Reason", Text("reason")),
    text("Object", Of(cell::event_object)),
    wide(text("Subobject", Of(cell::event_subobject))),
    wide(text("Source", Of(cell::event_source))),
    text("Message", Of(cell::event_message)),
    wide(text("First Seen", At(cell::event_first))),
    wide(text("Count", Of(cell::event_count))),
    wide(NAME),
];

const PERSISTENT_VOLUME: &[BuiltInColumn] = &[
    NAME,
    text("Capacity", Text("spec.capacity.storage")),
    text("Access Modes", Of(cell::volume_modes)),
    text("Reclaim Policy", Text("spec.persistentVolumeReclaimPolicy")),
    text("Status", Of(cell::claim_status)),
    text("Claim", Of(cell::volume_claim)),
    text("StorageClass", Text("spec.storageClassName")),
    text("VolumeAttributesClass", Of(cell::attributes_class)),
    text("Reason", Text("status.reason")),
    AGE,
    wide(text("VolumeMode", Of(cell::volume_mode))),
];

const PERSISTENT_VOLUME_CLAIM: &[BuiltInColumn] = &[
    NAME,
    text("Status", Of(cell::claim_status)),
    text("Volume", Text("spec.volumeName")),
    text("Capacity", Of(cell::claim_capacity)),
    text("Access Modes", Of(cell::claim_modes)),
    text("StorageClass", Text("spec.storageClassName")),
    text("VolumeAttributesClass", Of(cell::attributes_class)),
    AGE,
    wide(text("VolumeMode", Of(cell::volume_mode))),
];

const POD: &[BuiltInColumn] = &[
    NAME,
    text("Ready", Of(pod::ready)),
    text("Status", Of(pod::status)),
    text("Restarts", At(pod::restarts)),
    AGE,
    wide(text("IP", Of(pod::address))),
    wide(text("Node", Of(pod::node))),
    wide(text("Nominated Node", Of(pod::nominated_node))),
    wide(text("Readiness Gates", Of(pod::readiness_gates))),
];

const REPLICATION_CONTROLLER: &[BuiltInColumn] = &[
    NAME,
    integer("Desired", Count("spec.replicas")),
    integer("Current", Count("status.replicas")),
    integer("Ready", Count("status.readyReplicas")),
    AGE,
    CONTAINERS,
    IMAGES,
    wide(text("Selector", Of(cell::map_selector))),
];

const SERVICE: &[BuiltInColumn] = &[
    NAME,
    text("Type", Text("spec.type")),
    text("Cluster-IP", Of(service::cluster_ip)),
    text("External-IP", Of(service::external_ip)),
    text("Port(s)", Of(service::ports)),
    AGE,
    wide(text("Selector", Of(cell::map_selector))),
];

fn core(kind: &str) -> &'static [BuiltInColumn] {
    match kind {
        "ConfigMap" => const { &[NAME, text("Data", Of(cell::config_map_data)), AGE] },
        "Event" => EVENT,
        "Namespace" => const { &[NAME, text("Status", Text("status.phase")), AGE] },
        "PersistentVolume" => PERSISTENT_VOLUME,
        "PersistentVolumeClaim" => PERSISTENT_VOLUME_CLAIM,
        "Pod" => POD,
        "PodTemplate" => {
            const {
                &[
                    NAME,
                    text("Containers", Of(cell::template_containers)),
                    text("Images", Of(cell::template_images)),
                    text("Pod Labels", Of(cell::template_labels)),
                ]
            }
        }
        "ReplicationController" => REPLICATION_CONTROLLER,
        "Secret" => const { &[NAME, text("Type", Text("type")), text("Data", Of(cell::secret_data)), AGE] },
        "Endpoints" => const { &[NAME, text("Endpoints", Of(kind_cell::endpoints)), AGE] },
        "Node" => NODE,
        "ResourceQuota" => {
            const { &[NAME, text("Request", Of(kind_cell::quota_requests)), text("Limit", Of(kind_cell::quota_limits)), AGE] }
        }
        "LimitRange" => UNKNOWN,
        "Service" => SERVICE,
        _ => PLAIN,
    }
}

fn apps(kind: &str) -> &'static [BuiltInColumn] {
    match kind {
        "Deployment" => {
            const {
                &[
                    NAME,
                    text("Ready", Of(cell::ready)),
                    text("Up-to-date", Count("status.updatedReplicas")),
                    text("Available", Count("status.availableReplicas")),
                    AGE,
                    CONTAINERS,
                    IMAGES,
                    wide(text("Selector", Of(cell::deployment_selector))),
                ]
            }
        }
        "ReplicaSet" => {
            const {
                &[
                    NAME,
                    integer("Desired", Count("spec.replicas")),
                    integer("Current", Count("status.replicas")),
                    integer("Ready", Count("status.readyReplicas")),
                    AGE,
                    CONTAINERS,
                    IMAGES,
                    SELECTOR,
                ]
            }
        }
        "StatefulSet" => const { &[NAME, text("Ready", Of(cell::ready)), AGE, CONTAINERS, IMAGES] },
        "DaemonSet" => {
            const {
                &[
                    NAME,
                    integer("Desired", Count("status.desiredNumberScheduled")),
                    integer("Current", Count("status.currentNumberScheduled")),
                    integer("Ready", Count("status.numberReady")),
                    integer("Up-to-date", Count("status.updatedNumberScheduled")),
                    integer("Available", Count("status.numberAvailable")),
                    text("Node Selector", Of(cell::node_selector)),
                    AGE,
                    CONTAINERS,
                    IMAGES,
                    SELECTOR,
                ]
            }
        }
        _ => PLAIN,
    }
}

fn batch(kind: &str) -> &'static [BuiltInColumn] {
    match kind {
        "Job" => {
            const {
                &[
                    NAME,
                    text("Status", Of(cell::job_status)),
                    text("Completions", Of(cell::job_completions)),
                    text("Duration", At(cell::job_duration)),
                    AGE,
                    CONTAINERS,
                    IMAGES,
                    SELECTOR,
                ]
            }
        }
        "CronJob" => {
            const {
                &[
                    NAME,
                    text("Schedule", Text("spec.schedule")),
                    text("Timezone", Of(cell::cron_job_time_zone)),
                    boolean("Suspend", Of(cell::cron_job_suspend)),
                    integer("Active", Of(cell::cron_job_active)),
                    text("Last Schedule", At(cell::cron_job_last)),
                    AGE,
                    wide(text("Containers", Of(cell::job_containers))),
                    wide(text("Images", Of(cell::job_images))),
                    wide(text("Selector", Of(cell::job_template_selector))),
                ]
            }
        }
        _ => PLAIN,
    }
}

fn rbac(kind: &str) -> &'static [BuiltInColumn] {
    match kind {
        "RoleBinding" | "ClusterRoleBinding" => {
            const {
                &[
                    NAME,
                    text("Role", Of(cell::role)),
                    AGE,
                    wide(text("Users", Of(cell::users))),
                    wide(text("Groups", Of(cell::groups))),
                    wide(text("ServiceAccounts", Of(cell::service_accounts))),
                ]
            }
        }
        _ => UNKNOWN,
    }
}

const AUTOSCALER: &[BuiltInColumn] = &[
    NAME,
    text("Reference", Of(kind_cell::autoscaler_reference)),
    text("Targets", Of(kind_cell::autoscaler_targets)),
    text("MinPods", Of(kind_cell::autoscaler_least)),
    text("MaxPods", Count("spec.maxReplicas")),
    text("Replicas", Count("status.currentReplicas")),
    AGE,
];

const NODE: &[BuiltInColumn] = &[
    NAME,
    text("Status", Of(kind_cell::node_status)),
    text("Roles", Of(kind_cell::node_roles)),
    AGE,
    text("Version", Text("status.nodeInfo.kubeletVersion")),
    wide(text("Internal-IP", Of(kind_cell::node_internal))),
    wide(text("External-IP", Of(kind_cell::node_external))),
    wide(text("OS-Image", Of(kind_cell::node_image))),
    wide(text("Kernel-Version", Of(kind_cell::node_kernel))),
    wide(text("Container-Runtime", Of(kind_cell::node_runtime))),
];

fn admission(kind: &str) -> &'static [BuiltInColumn] {
    match kind {
        "ValidatingAdmissionPolicy" => {
            const {
                &[
                    NAME,
                    integer("Validations", Of(kind_cell::validations)),
                    text("ParamKind", Of(kind_cell::parameter_kind)),
                    AGE,
                ]
            }
        }
        "MutatingAdmissionPolicy" => {
            const {
                &[
                    NAME,
                    integer("Mutations", Of(kind_cell::mutations)),
                    text("ParamKind", Of(kind_cell::parameter_kind)),
                    AGE,
                ]
            }
        }
        "ValidatingAdmissionPolicyBinding" | "MutatingAdmissionPolicyBinding" => {
            const { &[NAME, text("PolicyName", Text("spec.policyName")), text("ParamRef", Of(kind_cell::parameter)), AGE] }
        }
        _ => const { &[NAME, integer("Webhooks", Of(kind_cell::webhooks)), AGE] },
    }
}

fn storage(kind: &str) -> &'static [BuiltInColumn] {
    match kind {
        "StorageClass" => {
            const {
                &[
                    NAME,
                    text("Provisioner", Text("provisioner")),
                    text("ReclaimPolicy", Text("reclaimPolicy")),
                    text("VolumeBindingMode", Text("volumeBindingMode")),
                    text("AllowVolumeExpansion", Flag("allowVolumeExpansion")),
                    AGE,
                ]
            }
        }
        "CSIStorageCapacity" => UNKNOWN,
        _ => PLAIN,
    }
}

fn networking(kind: &str) -> &'static [BuiltInColumn] {
    match kind {
        "Ingress" => {
            const {
                &[
                    NAME,
                    text("Class", Of(cell::ingress_class)),
                    text("Hosts", Of(cell::ingress_hosts)),
                    text("Address", Of(service::balancer_address)),
                    text("Ports", Of(cell::ingress_ports)),
                    AGE,
                ]
            }
        }
        "NetworkPolicy" => const { &[NAME, text("Pod-Selector", Of(cell::pod_selector)), AGE] },
        "IngressClass" => {
            const {
                &[
                    NAME,
                    text("Controller", Text("spec.controller")),
                    text("Parameters", Of(kind_cell::class_parameters)),
                    AGE,
                ]
            }
        }
        // The cell of its age has no column on the reference either.
        "IPAddress" => const { &[NAME, text("ParentRef", Of(kind_cell::parent))] },
        "ServiceCIDR" => const { &[NAME, text("CIDRs", Of(kind_cell::networks)), AGE] },
        _ => PLAIN,
    }
}

/// What is shown of custom resources that declare no columns.
pub(super) const CUSTOM: &[BuiltInColumn] = &[NAME, date("Age", Age("metadata.creationTimestamp"))];
