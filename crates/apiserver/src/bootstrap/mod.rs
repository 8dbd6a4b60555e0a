//! What exists before the first request: the namespaces and priority classes that every cluster has, the API server's own
//! service, and with RBAC the default roles.

mod recorded;

use std::sync::Arc;

use bytes::Bytes;
use futures::FutureExt;
use serde_json::{Value, json};

use crate::access::rbac::default_policy;
use crate::access::{Authorizer, Identity};
use crate::core::Core;
use crate::pipeline::negotiate::Accept;
use crate::pipeline::query::Query;
use crate::strategy::SYSTEM_PRIORITY_CLASSES;
use crate::verbs::{Call, create};

const NAMESPACES: [&str; 4] = ["kube-system", "kube-public", "kube-node-lease", "default"];

/// Creates what a new server starts with, as its own user would.
pub(crate) fn bootstrap(core: &Arc<Core>) {
    for name in NAMESPACES {
        create_one(core, "", "namespaces", "", &json!({"metadata": {"name": name}}));
    }
    create_one(core, "", "services", "default", &service());
    for (name, value, description) in SYSTEM_PRIORITY_CLASSES {
        let class = json!({"metadata": {"name": name}, "value": value, "description": description});
        create_one(core, "scheduling.k8s.io", "priorityclasses", "", &class);
    }
    recorded::create(core);
    if core.authorizer == Authorizer::Rbac {
        for (plural, namespace, object) in default_policy() {
            create_one(core, "rbac.authorization.k8s.io", &plural, &namespace, &object);
        }
    }
}

fn service() -> Value {
    json!({
        "metadata": {"name": "kubernetes", "labels": {"component": "apiserver", "provider": "kubernetes"}},
        "spec": {
            "clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"],
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443}],
        },
    })
}

fn create_one(core: &Arc<Core>, group: &str, plural: &str, namespace: &str, object: &Value) {
    let Some(resource) = core.registry.get(group, "v1", plural) else { return };
    let call = Call {
        core: Arc::clone(core),
        user: Identity::admin(),
        resource,
        namespace: namespace.to_owned(),
        name: None,
        subresource: None,
        query: Query::default(),
        content_type: String::new(),
        body: Bytes::from(object.to_string()),
        accept: Accept::default(),
        user_agent: "kube-apiserver".to_owned(),
        warnings: parking_lot::Mutex::default(),
    };
    // Nothing that a new server creates waits for anybody: there are no webhooks yet.
    if let Some(Err(error)) = create(&call).now_or_never() {
        tracing::error!(%error, plural, "an object that every server has could not be created");
    }
}
