//! Kinds in versions that kube-apiserver still reads and doesn't serve, or not unless it is told to.

/// By `apiVersion`.
const READ: [(&str, &[&str]); 37] = [
    ("admission.k8s.io/v1", &["AdmissionReview"]),
    ("admission.k8s.io/v1beta1", &["AdmissionReview"]),
    (
        "admissionregistration.k8s.io/v1alpha1",
        &[
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
        ],
    ),
    (
        "admissionregistration.k8s.io/v1beta1",
        &[
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
            "MutatingWebhookConfiguration",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
            "ValidatingWebhookConfiguration",
        ],
    ),
    ("apps/v1beta1", &["ControllerRevision", "Deployment", "DeploymentRollback", "Scale", "StatefulSet"]),
    ("apps/v1beta2", &["ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "Scale", "StatefulSet"]),
    ("authentication.k8s.io/v1alpha1", &["SelfSubjectReview"]),
    ("authentication.k8s.io/v1beta1", &["SelfSubjectReview", "TokenReview"]),
    (
        "authorization.k8s.io/v1beta1",
        &["LocalSubjectAccessReview", "SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"],
    ),
    ("batch/v1beta1", &["CronJob"]),
    ("certificates.k8s.io/v1alpha1", &["ClusterTrustBundle"]),
    ("certificates.k8s.io/v1beta1", &["CertificateSigningRequest", "ClusterTrustBundle", "PodCertificateRequest"]),
    ("coordination.k8s.io/v1alpha2", &["LeaseCandidate"]),
    ("coordination.k8s.io/v1beta1", &["Lease", "LeaseCandidate"]),
    ("discovery.k8s.io/v1beta1", &["EndpointSlice"]),
    ("events.k8s.io/v1beta1", &["Event"]),
    (
        "extensions/v1beta1",
        &["DaemonSet", "Deployment", "DeploymentRollback", "Ingress", "NetworkPolicy", "ReplicaSet", "Scale"],
    ),
    ("flowcontrol.apiserver.k8s.io/v1beta1", &["FlowSchema", "PriorityLevelConfiguration"]),
    ("flowcontrol.apiserver.k8s.io/v1beta2", &["FlowSchema", "PriorityLevelConfiguration"]),
    ("flowcontrol.apiserver.k8s.io/v1beta3", &["FlowSchema", "PriorityLevelConfiguration"]),
    ("imagepolicy.k8s.io/v1alpha1", &["ImageReview"]),
    ("internal.apiserver.k8s.io/v1alpha1", &["StorageVersion"]),
    ("lifecycle.k8s.io/v1alpha1", &["Eviction", "EvictionRequest"]),
    ("networking.k8s.io/v1beta1", &["IPAddress", "Ingress", "IngressClass", "ServiceCIDR"]),
    ("node.k8s.io/v1alpha1", &["RuntimeClass"]),
    ("node.k8s.io/v1beta1", &["RuntimeClass"]),
    ("policy/v1beta1", &["Eviction", "PodDisruptionBudget"]),
    ("rbac.authorization.k8s.io/v1alpha1", &["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"]),
    ("rbac.authorization.k8s.io/v1beta1", &["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"]),
    ("resource.k8s.io/v1alpha3", &["DeviceTaintRule", "ResourcePoolStatusRequest"]),
    ("resource.k8s.io/v1beta1", &["DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"]),
    (
        "resource.k8s.io/v1beta2",
        &["DeviceClass", "DeviceTaintRule", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"],
    ),
    ("scheduling.k8s.io/v1alpha3", &["CompositePodGroup", "PodGroup", "Workload"]),
    ("scheduling.k8s.io/v1beta1", &["PodGroup", "PriorityClass", "Workload"]),
    ("storage.k8s.io/v1alpha1", &["CSIStorageCapacity", "VolumeAttachment", "VolumeAttributesClass"]),
    (
        "storage.k8s.io/v1beta1",
        &["CSIDriver", "CSINode", "CSIStorageCapacity", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"],
    ),
    ("storagemigration.k8s.io/v1beta1", &["StorageVersionMigration"]),
];

/// Whether objects of a kind are read in a version, to be told that it isn't the one that is served.
pub(super) fn is_read(api_version: &str, kind: &str) -> bool {
    READ.iter().any(|(version, kinds)| *version == api_version && kinds.contains(&kind))
}
