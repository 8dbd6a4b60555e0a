//! Which types a scheme knows, and how they get there.

use controller_runtime_scheme::{
    GroupVersionKind, Kind, Registration, Scheme, SchemeError, Scope, Strictness, Unstructured,
};
use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, StatefulSet};
use k8s_openapi::api::autoscaling::{v1 as autoscaling_v1, v2 as autoscaling_v2};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod};
use kube_core::PartialObjectMeta;
use serde_json::json;

fn gvk(group: &str, version: &str, kind: &str) -> GroupVersionKind {
    GroupVersionKind::gvk(group, version, kind)
}

fn kinds(scheme: &Scheme) -> Vec<&str> {
    scheme.registrations().map(|known| known.resource().kind.as_str()).collect()
}

#[test]
fn look_ups_go_all_ways() {
    let mut scheme = Scheme::new();
    scheme.register_types::<(Deployment, Namespace)>().expect("they are free");
    scheme.register::<Deployment>().expect("again");

    let known = scheme.get(&gvk("apps", "v1", "Deployment")).expect("it is registered");
    assert!(known.is::<Deployment>() && !known.is::<Namespace>());
    assert_eq!((known.list_kind(), known.scope()), ("DeploymentList", &Scope::Namespaced));
    let known = scheme.get_by_list(&gvk("", "v1", "NamespaceList")).expect("it is registered");
    assert!(known.is::<Namespace>());
    assert_eq!((known.resource().plural.as_str(), known.scope()), ("namespaces", &Scope::Cluster));
    assert_eq!(known.kind().name(), "Namespace");
    let known = scheme.get_by_resource("apps", "v1", "deployments").expect("it is registered");
    assert!(known.is::<Deployment>() && known.type_name().ends_with("Deployment"));
    assert_eq!(scheme.get_by_type::<Deployment>().map(|known| known.resource().kind.as_str()), Some("Deployment"));
    assert_eq!(kinds(&scheme), ["Namespace", "Deployment"]);

    assert!(scheme.get_by_type::<ConfigMap>().is_none());
    assert!(scheme.get(&gvk("apps", "v1beta1", "Deployment")).is_none());
    assert!(scheme.get(&gvk("apps", "v1", "DeploymentList")).is_none());
    assert!(scheme.get_by_list(&gvk("apps", "v1", "Deployment")).is_none());
    assert!(scheme.get_by_resource("", "v1", "deployments").is_none());
}

#[test]
fn lists_may_have_a_name_of_their_own() {
    let mut scheme = Scheme::new();
    scheme.register_kind(Kind::<Pod>::typed().with_list_kind("Pods")).expect("it is free");
    assert!(scheme.get_by_list(&gvk("", "v1", "Pods")).is_some_and(Registration::is::<Pod>));
    assert!(scheme.get_by_list(&gvk("", "v1", "PodList")).is_none());
    assert_eq!(scheme.get_by_type::<Pod>().map(|known| known.kind().list_kind().to_owned()), Some("Pods".to_owned()));
}

#[test]
fn versions_of_a_kind_come_as_kubernetes_prefers_them() {
    let mut scheme = Scheme::new();
    scheme.register::<autoscaling_v1::HorizontalPodAutoscaler>().expect("it is free");
    scheme.register::<autoscaling_v2::HorizontalPodAutoscaler>().expect("it is free");
    scheme.register::<Deployment>().expect("it is free");
    let versions = |kind| -> Vec<&str> {
        scheme.versions("autoscaling", kind).into_iter().map(|known| known.resource().version.as_str()).collect()
    };
    assert_eq!(versions("HorizontalPodAutoscaler"), ["v2", "v1"]);
    assert_eq!(versions("Deployment"), [""; 0]);
}

#[test]
fn a_second_type_for_a_kind_is_refused() {
    let mut scheme = Scheme::new();
    scheme.register::<Deployment>().expect("it is free");
    let error = scheme.register::<PartialObjectMeta<Deployment>>().unwrap_err();
    assert!(matches!(error, SchemeError::KindTaken { .. }));
    let error = error.to_string();
    assert!(error.starts_with("Deployment of apps/v1 is registered for the type "), "{error}");
    assert!(scheme.get_by_type::<Deployment>().is_some());
    assert!(scheme.get_by_type::<PartialObjectMeta<Deployment>>().is_none());
}

#[test]
fn a_group_takes_its_own_types_only() {
    let mut scheme = Scheme::new();
    scheme.register_group::<(Deployment, StatefulSet, DaemonSet)>("apps", "v1").expect("they are of the group");
    assert_eq!(kinds(&scheme), ["DaemonSet", "Deployment", "StatefulSet"]);
    let check = |group: &str, version: &str, message: &str| {
        let error = Scheme::new().register_group::<(ConfigMap,)>(group, version).unwrap_err().to_string();
        assert!(error.ends_with(message), "{error}");
    };
    check("apps", "v1", "cannot be registered with the group apps/v1");
    check("", "v2", "cannot be registered with the group v2");
}

#[test]
fn other_crates_contribute_through_a_builder() {
    fn workloads(scheme: &mut Scheme) -> Result<(), SchemeError> {
        scheme.register_group::<(Deployment, StatefulSet)>("apps", "v1")
    }
    let core = Scheme::builder().with(|scheme| scheme.register::<Pod>().map(drop));
    let scheme = Scheme::builder().with(workloads).with_builder(core).with(workloads).build().expect("nothing clashes");
    assert_eq!(kinds(&scheme), ["Pod", "Deployment", "StatefulSet"]);

    let metadata_only = |scheme: &mut Scheme| scheme.register::<PartialObjectMeta<Deployment>>().map(drop);
    assert!(matches!(
        Scheme::builder().with(workloads).with(metadata_only).build(),
        Err(SchemeError::KindTaken { .. })
    ));
}

#[test]
fn required_fields_need_a_registered_type_and_a_path() {
    let mut scheme = Scheme::new();
    assert!(matches!(scheme.require::<Pod>(["spec"]), Err(SchemeError::UnknownType { .. })));
    scheme.register::<Pod>().expect("it is free");
    let error = scheme.require::<Pod>(["spec", "spec..a"]).unwrap_err().to_string();
    assert!(error.starts_with("\"spec..a\" is no path of a field that the type "), "{error}");
}

#[test]
fn an_object_becomes_whatever_is_registered_for_its_kind() {
    let mut scheme = Scheme::new();
    scheme.register_types::<(Pod, ConfigMap)>().expect("they are free");
    scheme.require::<ConfigMap>(["data"]).expect("it is a path");
    let object = |kind: &str| -> Unstructured {
        serde_json::from_value(json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "a"}})).expect("an object")
    };
    let any = scheme.to_any(&object("Pod"), Strictness::Strict).expect("it converts");
    assert!(any.downcast::<Pod>().is_ok_and(|pod| pod.metadata.name.as_deref() == Some("a")));
    let error = scheme.to_any(&object("ConfigMap"), Strictness::Strict).unwrap_err().to_string();
    assert_eq!(error, "cannot decode ConfigMap a at data: expected a value, found none");
    let error = scheme.to_any(&object("Secret"), Strictness::Lenient).unwrap_err().to_string();
    assert_eq!(error, "no type is registered for Secret of v1");
}
