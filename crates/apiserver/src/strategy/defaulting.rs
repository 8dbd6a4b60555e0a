//! Defaults that exist on the reference only as Go code, by the definition they belong to: a PodSpec gets them wherever it
//! stands.

use controller_runtime_schema::{Link, Schema};
use serde_json::{Value, json};

use super::fields::{Fields, set_default};
use super::{
    cron_job, daemon_set, deployment, horizontal_pod_autoscaler, job, limit_range, namespace, network_policy, node,
    persistent_volume, persistent_volume_claim, pod, pod_template, rbac, replica_set, replication_controller, secret,
    service, stateful_set, storage,
};
use crate::catalogue::{catalogue, written_as_null};

/// Sets the defaults of one object; what is inside it comes later.
type Defaulter = fn(&mut Fields);

/// Sets all defaults in an object of a definition.
pub(crate) fn set_defaults(object: &mut Value, definition: &str) {
    if let Ok(Some(schema)) = catalogue().definitions.get(definition) {
        walk(object, &schema, Some(definition), true);
    }
}

/// Writes null where Go does when something isn't there, and sets no defaults: so an object looks that nobody has set
/// anything in.
pub(crate) fn write_nulls(object: &mut Value, definition: &str) {
    if let Ok(Some(schema)) = catalogue().definitions.get(definition) {
        walk(object, &schema, Some(definition), false);
    }
}

fn follow(value: &mut Value, link: &Link, all: bool) {
    walk(value, link.get(), link.name(), all);
}

/// Sets defaults (`all`) and nulls in a value and in what is inside it.
fn walk(value: &mut Value, schema: &Schema, definition: Option<&str>, all: bool) {
    match value {
        Value::Object(fields) => {
            if let Some(definition) = definition {
                fields.retain(|key, field| !is_empty_default(key, field, schema, definition));
                if let Some(set_defaults) = defaulter(definition).filter(|_| all) {
                    set_defaults(fields);
                }
                for field in written_as_null(definition) {
                    fields.entry(field).or_insert(Value::Null);
                }
            }
            for (key, field) in fields {
                if let Some(link) = schema.child_link(key) {
                    follow(field, link, all);
                }
            }
        }
        Value::Array(items) => {
            if let Some(link) = &schema.items {
                for item in items {
                    follow(item, link, all);
                }
            }
        }
        _ => {}
    }
}

/// Whether it is the empty name of what is referred to: Go leaves that out, though the schema has it as the default.
fn is_empty_default(key: &str, field: &Value, schema: &Schema, definition: &str) -> bool {
    field == ""
        && key == "name"
        && definition.starts_with("io.k8s.api.core.v1.")
        && definition != "io.k8s.api.core.v1.NodeRuntimeHandler"
        && schema.properties.get(key).is_some_and(|link| link.default_value().is_some_and(|default| default == ""))
        && !schema.required.iter().any(|required| required == key)
}

fn defaulter(definition: &str) -> Option<Defaulter> {
    let name = definition.strip_prefix("io.k8s.api.")?;
    let (package, kind) = name.rsplit_once('.')?;
    match package {
        "core.v1" => core(kind),
        "apps.v1" => apps(kind),
        "batch.v1" => batch(kind),
        "rbac.v1" => rbac(kind),
        "networking.v1" => networking(kind),
        "storage.v1" => storage(kind),
        "autoscaling.v2" if kind == "HorizontalPodAutoscalerSpec" => Some(horizontal_pod_autoscaler::defaults),
        "autoscaling.v1" if kind == "HorizontalPodAutoscalerSpec" => {
            Some(horizontal_pod_autoscaler::first_version_defaults)
        }
        "scheduling.v1" if kind == "PriorityClass" => {
            Some(|class| set_default(class, "preemptionPolicy", "PreemptLowerPriority"))
        }
        "discovery.v1" if kind == "EndpointPort" => Some(|port| {
            set_default(port, "name", "");
            set_default(port, "protocol", "TCP");
        }),
        "resource.v1" => resource(kind),
        "flowcontrol.v1" => flowcontrol(kind),
        _ => None,
    }
}

fn core(kind: &str) -> Option<Defaulter> {
    Some(match kind {
        "Pod" => pod::defaults,
        "PodStatus" => pod::status_defaults,
        "PodSpec" => pod_template::pod_spec,
        "Container" | "EphemeralContainer" => pod_template::container,
        "Probe" => pod_template::probe,
        "HTTPGetAction" => pod_template::http_get,
        "Volume" => pod_template::volume,
        "SecretVolumeSource" | "ConfigMapVolumeSource" | "DownwardAPIVolumeSource" | "ProjectedVolumeSource" => {
            pod_template::mode
        }
        "ServiceAccountTokenProjection" => |token| set_default(token, "expirationSeconds", 3600),
        // The type of the field has no absent value.
        "ResourceFieldSelector" => |selector| set_default(selector, "divisor", "0"),
        "ObjectFieldSelector" => |selector| set_default(selector, "apiVersion", "v1"),
        "HostPathVolumeSource" => |source| set_default(source, "type", ""),
        "ContainerPort" | "EndpointPort" => |port| set_default(port, "protocol", "TCP"),
        "Service" => service::defaults,
        "Secret" => secret::defaults,
        "Namespace" => namespace::defaults,
        "NamespaceStatus" => |status| set_default(status, "phase", "Active"),
        "PersistentVolume" => persistent_volume::defaults,
        "PersistentVolumeClaim" => persistent_volume_claim::defaults,
        "PersistentVolumeClaimSpec" => |spec| set_default(spec, "volumeMode", "Filesystem"),
        "ReplicationController" => replication_controller::defaults,
        "LimitRangeItem" => limit_range::defaults,
        "NodeSpec" => node::defaults,
        "NodeStatus" => |status| {
            if let Some(capacity) = status.get("capacity").cloned() {
                set_default(status, "allocatable", capacity);
            }
        },
        _ => return None,
    })
}

fn apps(kind: &str) -> Option<Defaulter> {
    Some(match kind {
        "DeploymentSpec" => deployment::defaults,
        "StatefulSetSpec" => stateful_set::defaults,
        "DaemonSet" => daemon_set::annotation_defaults,
        "DaemonSetSpec" => daemon_set::defaults,
        "ReplicaSetSpec" => replica_set::defaults,
        _ => return None,
    })
}

fn batch(kind: &str) -> Option<Defaulter> {
    Some(match kind {
        "Job" => job::defaults,
        "CronJobSpec" => cron_job::defaults,
        "PodFailurePolicy" => |policy| {
            // The store doesn't know an empty list from none.
            if policy.get("rules").and_then(Value::as_array).is_some_and(Vec::is_empty) {
                policy.insert("rules".to_owned(), Value::Null);
            }
        },
        "PodFailurePolicyOnPodConditionsPattern" => |pattern| {
            if pattern.get("status").is_none_or(|status| status.is_null() || status == "") {
                pattern.insert("status".to_owned(), json!("True"));
            }
        },
        _ => return None,
    })
}

fn rbac(kind: &str) -> Option<Defaulter> {
    Some(match kind {
        "RoleRef" => rbac::role_ref_defaults,
        "Subject" => rbac::subject_defaults,
        _ => return None,
    })
}

fn networking(kind: &str) -> Option<Defaulter> {
    Some(match kind {
        "NetworkPolicySpec" => network_policy::defaults,
        "NetworkPolicyPort" => |port| set_default(port, "protocol", "TCP"),
        "IngressClassParametersReference" => |reference| set_default(reference, "scope", "Cluster"),
        _ => return None,
    })
}

fn storage(kind: &str) -> Option<Defaulter> {
    Some(match kind {
        "StorageClass" => storage::class_defaults,
        "CSIDriverSpec" => storage::driver_defaults,
        _ => return None,
    })
}

fn resource(kind: &str) -> Option<Defaulter> {
    match kind {
        "ExactDeviceRequest" | "DeviceSubRequest" => Some(|request| {
            set_default(request, "allocationMode", "ExactCount");
            if request.get("allocationMode") == Some(&json!("ExactCount")) {
                set_default(request, "count", 1);
            }
        }),
        _ => None,
    }
}

fn flowcontrol(kind: &str) -> Option<Defaulter> {
    Some(match kind {
        "FlowSchemaSpec" => |spec| set_default(spec, "matchingPrecedence", 1000),
        "ExemptPriorityLevelConfiguration" => |exempt| {
            set_default(exempt, "nominalConcurrencyShares", 0);
            set_default(exempt, "lendablePercent", 0);
        },
        "LimitedPriorityLevelConfiguration" => |limited| {
            set_default(limited, "nominalConcurrencyShares", 30);
            set_default(limited, "lendablePercent", 0);
        },
        "QueuingConfiguration" => |queuing| {
            set_default(queuing, "handSize", 8);
            set_default(queuing, "queues", 64);
            set_default(queuing, "queueLengthLimit", 50);
        },
        _ => return None,
    })
}
