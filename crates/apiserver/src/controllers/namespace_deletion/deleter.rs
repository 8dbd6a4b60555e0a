use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{conditions, content};
use crate::controllers::client::{Client, Failure};
use crate::controllers::queue::Queue;
use crate::controllers::reference::is_being_deleted;
use crate::controllers::run::Controller;
use crate::server::Door;
use crate::store::{Event, EventType, Object, Range};

const COLLECTION: &str = "namespaces";
/// The entry in `spec.finalizers` that stands for this controller.
const FINALIZER: &str = "kubernetes";

/// Namespace deletion: the namespaces that are on their way out.
#[derive(Debug)]
pub(super) struct Deleter {
    client: Client,
    queue: Queue<String>,
    /// When each of them is to be emptied.
    terminating: BTreeMap<String, Instant>,
    delay: Duration,
}

impl Controller for Deleter {
    type Work = String;

    fn observe(&mut self, event: &Event) {
        let object = &event.object;
        if &*object.collection != COLLECTION {
            self.look_again(&object.key.namespace);
        } else if event.kind == EventType::Deleted {
            self.terminating.remove(&object.key.name);
        } else {
            self.look_at(object);
        }
    }

    fn resync(&mut self) {
        self.terminating.clear();
        let store = Arc::clone(&self.client.door().core.store);
        if let Ok(page) = store.list(COLLECTION, &Range::default(), |_| true) {
            page.objects.iter().for_each(|namespace| self.look_at(namespace));
        }
    }

    fn queue(&mut self) -> &mut Queue<String> {
        &mut self.queue
    }

    async fn process(&mut self, name: String) {
        match self.sync(&name).await {
            Ok(()) => self.queue.forget(&name),
            Err(failure) => {
                tracing::debug!(namespace = name, error = %failure, "namespace deletion will try again");
                self.queue.retry(name);
            }
        }
    }
}

impl Deleter {
    pub(super) fn new(door: Arc<Door>, delay: Duration) -> Self {
        let client = Client::new(door, "namespace-controller");
        Self { client, queue: Queue::new(), terminating: BTreeMap::new(), delay }
    }

    fn look_at(&mut self, namespace: &Object) {
        if is_being_deleted(namespace.value()) && waits_for_us(namespace.value()) {
            let name = &namespace.key.name;
            if !self.terminating.contains_key(name) {
                let due = Instant::now() + self.delay;
                self.terminating.insert(name.clone(), due);
                if !self.delay.is_zero() {
                    self.queue.add_at(due, name.clone());
                }
            }
            self.look_again(name);
        } else {
            self.terminating.remove(&namespace.key.name);
        }
    }

    /// Something in a namespace has changed. One whose time hasn't come is looked at then.
    fn look_again(&mut self, name: &str) {
        if self.terminating.get(name).is_some_and(|due| *due <= Instant::now()) {
            self.queue.add(name.to_owned());
        }
    }

    /// Empties one namespace as far as it goes now. What is held back is looked at again when it changes.
    async fn sync(&mut self, name: &str) -> Result<(), Failure> {
        let path = format!("/api/v1/namespaces/{name}");
        let mut namespace = match self.client.get(&path).await {
            Err(failure) if failure.is_not_found() => return Ok(()),
            other => other?,
        };
        if !is_being_deleted(&namespace) || !waits_for_us(&namespace) {
            return Ok(());
        }
        if namespace.pointer("/status/phase") != Some(&json!("Terminating")) {
            namespace["status"]["phase"] = json!("Terminating");
            namespace = self.client.update(&format!("{path}/status"), &namespace).await?;
        }
        let remaining = content::delete(&self.client, name).await;
        let now = self.client.door().core.now();
        if conditions::update(&mut namespace, &remaining, &now) {
            namespace = self.client.update(&format!("{path}/status"), &namespace).await?;
        }
        if remaining.is_nothing() {
            self.finalize(&path, namespace).await?;
        } else if let Some(message) = remaining.failures.into_iter().next() {
            return Err(Failure::of(&path, message));
        }
        Ok(())
    }

    async fn finalize(&self, path: &str, mut namespace: Value) -> Result<(), Failure> {
        if let Some(finalizers) = namespace.pointer_mut("/spec/finalizers").and_then(Value::as_array_mut) {
            finalizers.retain(|finalizer| finalizer != FINALIZER);
        }
        match self.client.update(&format!("{path}/finalize"), &namespace).await {
            Err(failure) if !failure.is_not_found() => Err(failure),
            _ => Ok(()),
        }
    }
}

fn waits_for_us(namespace: &Value) -> bool {
    let finalizers = namespace.pointer("/spec/finalizers").and_then(Value::as_array);
    finalizers.is_some_and(|all| all.iter().any(|finalizer| finalizer == FINALIZER))
}
