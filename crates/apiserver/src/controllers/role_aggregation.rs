//! Fills cluster roles that aggregate others: their rules are those of all roles that their selectors choose.

use std::collections::BTreeSet;
use std::sync::Arc;

use controller_runtime_ambient::CancellationToken;
use serde_json::{Value, json};

use super::client::Client;
use super::queue::Queue;
use super::run::{Controller, run};
use crate::selector::LabelSelector;
use crate::server::Door;
use crate::store::{Event, EventType, Object, ObjectKey, Range, Store};

const COLLECTION: &str = "clusterroles.rbac.authorization.k8s.io";
const PATH: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

/// Runs the aggregation of roles until the server stops.
pub(crate) async fn role_aggregation(door: Arc<Door>, stop: CancellationToken) {
    let store = Arc::clone(&door.core.store);
    let client = Client::new(door, "clusterrole-aggregation-controller");
    let aggregator =
        Aggregator { store: Arc::clone(&store), client, queue: Queue::new(), aggregating: BTreeSet::new() };
    run(aggregator, store, stop).await;
}

struct Aggregator {
    store: Arc<Store>,
    client: Client,
    queue: Queue<String>,
    /// The names of the roles that aggregate others.
    aggregating: BTreeSet<String>,
}

impl Controller for Aggregator {
    type Work = String;

    /// Any role may be part of any other, so a change of one is a reason to look at all that aggregate.
    fn observe(&mut self, event: &Event) {
        if &*event.object.collection != COLLECTION {
            return;
        }
        let name = event.object.key.name.clone();
        if event.kind != EventType::Deleted && selectors(event.object.value()).next().is_some() {
            self.aggregating.insert(name);
        } else {
            self.aggregating.remove(&name);
        }
        self.aggregating.iter().for_each(|name| self.queue.add(name.clone()));
    }

    fn resync(&mut self) {
        let aggregates = |role: &Arc<Object>| selectors(role.value()).next().is_some();
        let roles = self.roles();
        self.aggregating = roles.iter().filter(|role| aggregates(role)).map(|role| role.key.name.clone()).collect();
        self.aggregating.iter().for_each(|name| self.queue.add(name.clone()));
    }

    fn queue(&mut self) -> &mut Queue<String> {
        &mut self.queue
    }

    async fn process(&mut self, name: String) {
        let Some(role) = self.store.get(COLLECTION, &ObjectKey::new("", name.as_str())) else {
            self.queue.forget(&name);
            return;
        };
        let rules = self.aggregated(&role);
        if rules.iter().eq(rules_of(role.value())) {
            self.queue.forget(&name);
            return;
        }
        match self.client.apply(&format!("{PATH}/{}", path_segment(&name)), &applied(&name, &rules)).await {
            Ok(_) => self.queue.forget(&name),
            Err(error) if error.is_not_found() => self.queue.forget(&name),
            Err(error) => {
                tracing::warn!(%error, role = name, "a role could not be aggregated");
                self.queue.retry(name);
            }
        }
    }
}

impl Aggregator {
    fn roles(&self) -> Vec<Arc<Object>> {
        self.store.list(COLLECTION, &Range::default(), |_| true).map(|page| page.objects).unwrap_or_default()
    }

    /// The rules of all chosen roles, selector by selector and role by role, each once.
    fn aggregated(&self, role: &Object) -> Vec<Value> {
        let all = self.roles();
        let mut rules = Vec::new();
        for selector in selectors(role.value()) {
            let Ok(selector) = LabelSelector::of_object(selector) else { continue };
            let chosen = all.iter().filter(|other| other.key != role.key && selector.matches(other.value()));
            for rule in chosen.flat_map(|role| rules_of(role.value())) {
                if !rules.contains(rule) {
                    rules.push(rule.clone());
                }
            }
        }
        rules
    }
}

fn rules_of(role: &Value) -> impl Iterator<Item = &Value> {
    role.get("rules").and_then(Value::as_array).into_iter().flatten()
}

fn selectors(role: &Value) -> impl Iterator<Item = &Value> {
    role.pointer("/aggregationRule/clusterRoleSelectors").and_then(Value::as_array).into_iter().flatten()
}

fn applied(name: &str, rules: &[Value]) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": name}, "rules": rules,
    })
}

fn path_segment(name: &str) -> String {
    percent_encoding::utf8_percent_encode(name, percent_encoding::NON_ALPHANUMERIC).to_string()
}
