//! Which strategy each built-in kind has.

use std::sync::Arc;

use super::config_map::ConfigMap;
use super::cron_job::CronJob;
use super::daemon_set::DaemonSet;
use super::deployment::Deployment;
use super::disruption_budget::PodDisruptionBudget;
use super::event::Event;
use super::horizontal_pod_autoscaler::HorizontalPodAutoscaler;
use super::ingress::Ingress;
use super::job::Job;
use super::lease::Lease;
use super::limit_range::LimitRange;
use super::namespace::Namespace;
use super::node::Node;
use super::persistent_volume::PersistentVolume;
use super::persistent_volume_claim::PersistentVolumeClaim;
use super::plain::{Generation, Plain};
use super::pod::Pod;
use super::priority_class::PriorityClass;
use super::rbac::{Role, RoleBinding};
use super::replica_set::ReplicaSet;
use super::replication_controller::ReplicationController;
use super::resource_quota::ResourceQuota;
use super::secret::Secret;
use super::service::Service;
use super::service_account::ServiceAccount;
use super::service_network::IpAddress;
use super::stateful_set::StatefulSet;
use super::webhook_configuration::WebhookConfiguration;
use super::{Strategy, api_service, network, network_policy, service_network, storage};
use crate::custom::DefinitionStrategy;

/// The strategy of a built-in kind, whose schema has the name `definition`.
pub(crate) fn strategy_for(group: &str, kind: &str, definition: &'static str) -> Arc<dyn Strategy> {
    match (group, kind) {
        ("", "ConfigMap") => Arc::new(ConfigMap),
        ("", "Event") => Arc::new(Event::Core),
        ("", "Namespace") => Arc::new(Namespace),
        ("", "Node") => Arc::new(Node),
        ("", "PersistentVolume") => Arc::new(PersistentVolume),
        ("", "PersistentVolumeClaim") => Arc::new(PersistentVolumeClaim),
        ("scheduling.k8s.io", "PriorityClass") => Arc::new(PriorityClass),
        ("", "ResourceQuota") => Arc::new(ResourceQuota),
        ("", "LimitRange") => Arc::new(LimitRange),
        ("", "Pod") => Arc::new(Pod),
        ("", "ReplicationController") => Arc::new(ReplicationController),
        ("", "Secret") => Arc::new(Secret),
        ("", "Service") => Arc::new(Service),
        ("", "ServiceAccount") => Arc::new(ServiceAccount),
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration") => Arc::new(WebhookConfiguration::Mutating),
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration") => {
            Arc::new(WebhookConfiguration::Validating)
        }
        ("apiextensions.k8s.io", "CustomResourceDefinition") => Arc::new(DefinitionStrategy),
        ("apps", "DaemonSet") => Arc::new(DaemonSet),
        ("apps", "Deployment") => Arc::new(Deployment),
        ("apps", "ReplicaSet") => Arc::new(ReplicaSet),
        ("apps", "StatefulSet") => Arc::new(StatefulSet),
        ("autoscaling", "HorizontalPodAutoscaler") if definition.contains(".v1.") => {
            Arc::new(HorizontalPodAutoscaler::First)
        }
        ("autoscaling", "HorizontalPodAutoscaler") => Arc::new(HorizontalPodAutoscaler::Second),
        ("batch", "CronJob") => Arc::new(CronJob),
        ("batch", "Job") => Arc::new(Job),
        ("coordination.k8s.io", "Lease") => Arc::new(Lease),
        ("events.k8s.io", "Event") => Arc::new(Event::Events),
        ("networking.k8s.io", "Ingress") => Arc::new(Ingress),
        ("networking.k8s.io", "IPAddress") => Arc::new(IpAddress),
        ("policy", "PodDisruptionBudget") => Arc::new(PodDisruptionBudget),
        ("rbac.authorization.k8s.io", "ClusterRole") => Arc::new(Role::Cluster),
        ("rbac.authorization.k8s.io", "ClusterRoleBinding") => Arc::new(RoleBinding::Cluster),
        ("rbac.authorization.k8s.io", "Role") => Arc::new(Role::Namespaced),
        ("rbac.authorization.k8s.io", "RoleBinding") => Arc::new(RoleBinding::Namespaced),
        _ => Arc::new(plain(group, kind, definition)),
    }
}

/// The facts about kinds that need no code of their own.
fn plain(group: &str, kind: &str, definition: &'static str) -> Plain {
    let mut plain = Plain::new(definition);
    plain.generation = match (group, kind) {
        ("admissionregistration.k8s.io" | "apiextensions.k8s.io" | "flowcontrol.apiserver.k8s.io", _)
        | ("networking.k8s.io", "IngressClass" | "NetworkPolicy")
        | ("resource.k8s.io", "ResourceSlice" | "DeviceClass" | "DeviceTaintRule") => Generation::Counts,
        ("discovery.k8s.io", "EndpointSlice") => Generation::CountsLabels,
        _ => Generation::None,
    };
    plain.unconditional = !matches!(
        (group, kind),
        ("admissionregistration.k8s.io" | "apiextensions.k8s.io" | "storagemigration.k8s.io", _)
            | ("node.k8s.io", "RuntimeClass")
            | ("certificates.k8s.io", "ClusterTrustBundle" | "PodCertificateRequest")
            | ("storage.k8s.io", "CSIDriver" | "CSIStorageCapacity" | "VolumeAttachment" | "CSINode")
    );
    plain.create_on_update = matches!((group, kind), ("", "Endpoints") | ("node.k8s.io", "RuntimeClass"));
    plain.returns_deleted = matches!(
        (group, kind),
        ("storage.k8s.io", "CSIDriver" | "StorageClass" | "VolumeAttachment" | "CSINode" | "VolumeAttributesClass")
            | ("resource.k8s.io", _)
    );
    plain.rules = match (group, kind) {
        ("", "Endpoints") => network::endpoints,
        ("apiregistration.k8s.io", "APIService") => api_service::rules,
        ("discovery.k8s.io", "EndpointSlice") => network::endpoint_slice,
        ("networking.k8s.io", "IngressClass") => network::ingress_class,
        ("networking.k8s.io", "NetworkPolicy") => network_policy::rules,
        ("networking.k8s.io", "ServiceCIDR") => service_network::service_cidr,
        ("storage.k8s.io", "StorageClass") => storage::class_rules,
        _ => plain.rules,
    };
    if kind == "EndpointSlice" {
        plain.warnings = network::endpoint_slice_warnings;
    }
    plain.labels = match (group, kind) {
        ("certificates.k8s.io", "CertificateSigningRequest" | "ClusterTrustBundle") => &["spec.signerName"],
        ("certificates.k8s.io", "PodCertificateRequest") => &["spec.signerName", "spec.podName", "spec.nodeName"],
        ("resource.k8s.io", "ResourceSlice") => &["spec.nodeName", "spec.driver"],
        _ => &[],
    };
    plain
}
