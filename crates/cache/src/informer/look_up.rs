use std::collections::BTreeSet;

use controller_runtime_client::{Api, ClientError, ListOptions, Page};
use controller_runtime_scheme::{Object, ObjectKey};
use serde::Deserialize;

use crate::informer::scope::{Scope, number};
use crate::informer::write::Target;

/// What the server has of a target at one moment.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) objects: Vec<FoundObject>,
    /// The version of that moment; zero when it isn't a number.
    pub(crate) version: u64,
    /// Whether there is an object whose metadata can't be read.
    pub(crate) unreadable: bool,
}

/// One object of the server.
#[derive(Debug)]
pub(crate) struct FoundObject {
    pub(crate) key: ObjectKey,
    pub(crate) uid: Option<String>,
    pub(crate) version: String,
}

#[derive(Deserialize)]
struct Item {
    metadata: Metadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    namespace: Option<String>,
    name: String,
    uid: Option<String>,
    resource_version: Option<String>,
}

impl Found {
    /// Asks the server, for no more than the scope holds. A list by name is what a cache that may list and watch may
    /// surely do.
    pub(crate) async fn ask<K: Object>(api: &Api<K>, scope: &Scope, target: &Target) -> Result<Self, ClientError> {
        let mut options = ListOptions::all().limit(500).labels(scope.plan.selection.labels.clone());
        options.namespace = target.namespace().or(scope.namespace()).map(str::to_owned);
        let mut fields: Vec<_> = scope.plan.field_selector().into_iter().collect();
        match target {
            Target::Object(key) => fields.push(format!("metadata.name={}", key.name)),
            Target::Objects { labels, .. } => options = options.labels(labels.clone()),
        }
        if !fields.is_empty() {
            options.fields = Some(fields.join(","));
        }
        let mut found = Self::default();
        loop {
            let page = api.page(&options).await?;
            found.add(&page);
            options.continue_token = page.continue_token;
            if options.continue_token.is_none() {
                return Ok(found);
            }
        }
    }

    fn add(&mut self, page: &Page) {
        self.version = number(Some(&page.resource_version));
        for item in &page.items {
            let Ok(Item { metadata }) = serde_json::from_slice::<Item>(item) else {
                self.unreadable = true;
                continue;
            };
            self.objects.push(FoundObject {
                key: ObjectKey { namespace: metadata.namespace, name: metadata.name },
                uid: metadata.uid,
                version: metadata.resource_version.unwrap_or_default(),
            });
        }
    }

    pub(crate) fn uids(&self) -> BTreeSet<String> {
        self.objects.iter().filter_map(|object| object.uid.clone()).collect()
    }

    /// The newest version of its objects; zero without one that is a number.
    pub(crate) fn newest(&self) -> u64 {
        self.objects.iter().map(|object| number(Some(&object.version))).max().unwrap_or_default()
    }
}
