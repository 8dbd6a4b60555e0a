use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use controller_runtime_client::{ClientError, WatchEventType};
use controller_runtime_scheme::{Object, ObjectKey};
use tokio::time::Instant;

use crate::informer::{Listed, Scope};
use crate::reflector::Reflector;
use crate::reflector::decode::Decoded;

/// What has come so far of everything there is.
pub(super) struct Collected<K> {
    objects: BTreeMap<ObjectKey, Arc<K>>,
    /// Objects that exist and don't fit the type.
    undecodable: BTreeSet<ObjectKey>,
    /// Whether there is an object of which not even the key can be read: it may be any of those that are missing.
    unnamed: bool,
}

impl<K: Object> Collected<K> {
    pub(super) fn new() -> Self {
        Self { objects: BTreeMap::new(), undecodable: BTreeSet::new(), unnamed: false }
    }

    /// Takes in an object that is there.
    pub(super) fn add(&mut self, decoded: Decoded<K>) {
        match decoded {
            Decoded::Object(key, object) => {
                self.undecodable.remove(&key);
                self.objects.insert(key, object);
            }
            Decoded::Unfit(sketch) => match sketch.key {
                Some(key) => {
                    self.objects.remove(&key);
                    self.undecodable.insert(key);
                }
                None => self.unnamed = true,
            },
        }
    }

    /// Takes out an object that is gone.
    pub(super) fn remove(&mut self, decoded: &Decoded<K>) {
        let key = match decoded {
            Decoded::Object(key, _) => Some(key),
            Decoded::Unfit(sketch) => sketch.key.as_ref(),
        };
        if let Some(key) = key {
            self.objects.remove(key);
            self.undecodable.remove(key);
        }
    }

    pub(super) fn apply(&mut self, event: WatchEventType, decoded: Decoded<K>) {
        if event == WatchEventType::Deleted { self.remove(&decoded) } else { self.add(decoded) }
    }

    pub(super) fn finish(self, version: String, began: Instant) -> Listed<K> {
        let Self { objects, undecodable, unnamed } = self;
        Listed { objects, undecodable, unnamed, version, began }
    }
}

impl<K: Object> Reflector<K> {
    /// Reads everything in pages, hands it over in one step, and gives its version.
    pub(super) async fn list(&self, scope: &Scope) -> Result<String, ClientError> {
        let began = Instant::now();
        let mut options = self.list_options(scope);
        let mut collected = Collected::new();
        self.shared.metrics.list();
        let version = loop {
            let page = match self.shared.source.list(&options).await {
                // The server forgot the list between two pages: read it in one.
                Err(error) if error.is_expired() && options.continue_token.is_some() => {
                    options.continue_token = None;
                    options.limit = None;
                    collected = Collected::new();
                    continue;
                }
                page => page?,
            };
            for item in &page.items {
                collected.add(self.decode(scope, item));
            }
            options.continue_token = page.continue_token.filter(|token| !token.is_empty());
            if options.continue_token.is_none() {
                break page.resource_version;
            }
        };
        self.shared.replace(scope, collected.finish(version.clone(), began));
        Ok(version)
    }
}
