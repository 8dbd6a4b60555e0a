use std::collections::BTreeSet;
use std::sync::Arc;

use controller_runtime_client::{ClientError, ListOptions};
use controller_runtime_scheme::{Object, ObjectKey};
use tokio::time::Instant;

use crate::informer::Scope;
use crate::reflector::Reflector;
use crate::reflector::sketch::Sketch;

/// What the pages read so far have given.
struct Collected<K> {
    objects: Vec<Arc<K>>,
    /// Objects that exist and don't fit the type.
    undecodable: BTreeSet<ObjectKey>,
}

impl<K: Object> Reflector<K> {
    /// Reads everything, hands it over in one step, and gives its version.
    pub(super) async fn list(&self, scope: &Scope) -> Result<String, ClientError> {
        let began = Instant::now();
        let mut options = ListOptions::all();
        options.namespace.clone_from(&scope.plan.namespace);
        options.labels = scope.plan.selection.labels.clone();
        options.fields = scope.plan.field_selector();
        options.limit = Some(self.shared.options.page_size);
        let mut collected = Collected { objects: Vec::new(), undecodable: BTreeSet::new() };
        let version = loop {
            let page = match self.shared.api.page(&options).await {
                // The server forgot the list between two pages: read it in one.
                Err(error) if error.is_expired() && options.continue_token.is_some() => {
                    options.continue_token = None;
                    options.limit = None;
                    collected = Collected { objects: Vec::new(), undecodable: BTreeSet::new() };
                    continue;
                }
                page => page?,
            };
            for item in &page.items {
                match self.shared.decode(scope, item) {
                    Ok(object) => collected.objects.push(Arc::new(object)),
                    Err(error) => {
                        tracing::warn!(%error, "an object is skipped, because it does not fit its type");
                        collected.undecodable.insert(Sketch::of(item).into_key());
                    }
                }
            }
            options.continue_token = page.continue_token;
            if options.continue_token.is_none() {
                break page.resource_version;
            }
        };
        self.shared.replace(scope, collected.objects, &collected.undecodable, &version, began);
        Ok(version)
    }
}
