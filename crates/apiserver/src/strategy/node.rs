//! `v1` Node.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::fields::{at, object_or_new};
use super::{Strategy, StrategyContext};

/// What is special about nodes.
#[derive(Debug)]
pub(super) struct Node;

impl Strategy for Node {
    fn definition(&self) -> Option<&'static str> {
        Some("io.k8s.api.core.v1.Node")
    }

    /// A new node takes no pods until its kubelet says that it is ready.
    fn prepare_create(&self, object: &mut Value, _cx: &StrategyContext<'_>) {
        let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
        let Some(node) = object.as_object_mut() else { return };
        if let Some(spec) = object_or_new(node, "spec") {
            let taints = spec.entry("taints").or_insert_with(|| json!([]));
            if let Some(list) = taints.as_array_mut()
                && !list.contains(&taint)
            {
                list.push(taint);
            }
        }
    }

    /// The status of a node may be given at once.
    fn drops_status(&self) -> bool {
        false
    }

    fn selectable_labels(&self) -> &[&'static str] {
        &["spec.unschedulable"]
    }

    fn selectable(&self, object: &Value) -> BTreeMap<String, String> {
        let unschedulable = at(object, "spec.unschedulable").as_bool().unwrap_or_default();
        [("spec.unschedulable".to_owned(), unschedulable.to_string())].into()
    }
}
