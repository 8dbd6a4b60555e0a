use std::path::Path;
use std::time::Duration;

use controller_runtime_client::ClientOptions;
use controller_runtime_scheme::{ApiResource, GroupVersionKind, Kind, ObjectKey, Scope, Unstructured};
use kube_client::Client;
use serde::Serialize;
use serde_json::Value;

use crate::assert::Eventually;
use crate::error::Error;
use crate::manifest::{Manifest, read_manifests, split_manifests};

const FIELD_MANAGER: &str = "testenv";
const KIND: &str = "CustomResourceDefinition";
/// How long the server has to establish and serve one definition.
const ESTABLISHED_WITHIN: Duration = Duration::from_secs(30);
const POLL_EVERY: Duration = Duration::from_millis(20);

/// CustomResourceDefinitions to install, from files, texts and Rust values.
#[derive(Clone, Debug, Default)]
pub struct Crds {
    manifests: Vec<Manifest>,
}

impl Crds {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Those of a YAML or JSON file, or of all such files of a folder (not of folders in it). Fails when a document is
    /// malformed or another kind of object, and says which document of which file.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::new().and(read_manifests(path)?)
    }

    /// Those of a YAML text with any number of documents. Fails as [`Self::from_path`] does.
    pub fn from_yaml(text: &str) -> Result<Self, Error> {
        Self::new().and(split_manifests("YAML", text)?)
    }

    /// Adds one given as a Rust value, for example what `CustomResourceExt::crd` of kube-core returns.
    pub fn with(self, definition: &impl Serialize) -> Result<Self, Error> {
        let origin = "a definition given as a value".to_owned();
        let object = serde_json::to_value(definition)
            .map_err(|error| Error::Manifest { origin: origin.clone(), message: error.to_string() })?;
        self.and(vec![Manifest::new(origin, object)?])
    }

    fn and(mut self, manifests: Vec<Manifest>) -> Result<Self, Error> {
        for manifest in &manifests {
            if manifest.kind() != KIND {
                return Err(manifest.error(format!("a {} is no {KIND}", manifest.kind())));
            }
            if manifest.name().is_empty() {
                return Err(manifest.error(format!("the {KIND} has no metadata.name")));
            }
        }
        self.manifests.extend(manifests);
        Ok(self)
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.manifests.iter().map(Manifest::name)
    }

    /// Creates or updates each by server-side apply, then waits until each is established and its versions are served:
    /// 30 seconds for each at most. One that the server refuses is an error with its origin; those before it stay.
    pub async fn install(&self, client: &Client) -> Result<(), Error> {
        let kind = definition_kind();
        let options = ClientOptions::builder().field_manager(FIELD_MANAGER).build();
        let api = controller_runtime_client::Client::new(client.clone(), options).api(kind.clone());
        for manifest in &self.manifests {
            let definition = serde_json::from_value(manifest.object().clone());
            let definition = definition.map_err(|error| manifest.error(error.to_string()))?;
            let refused = |source| Error::Refused { origin: manifest.origin().to_owned(), source: Box::new(source) };
            api.apply(&definition).await.map_err(refused)?;
        }
        for manifest in &self.manifests {
            let definition = Eventually::new(client.clone(), kind.clone(), ObjectKey::cluster(manifest.name()));
            definition.within(ESTABLISHED_WITHIN).satisfies("is established", is_established).await?;
            wait_served(client, manifest).await?;
        }
        Ok(())
    }
}

pub(crate) fn definition_kind() -> Kind<Unstructured> {
    let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", KIND);
    Kind::dynamic(ApiResource::from_gvk_with_plural(&kind, "customresourcedefinitions"), Scope::Cluster)
}

fn is_established(definition: &Unstructured) -> bool {
    let conditions = definition.data.pointer("/status/conditions").and_then(Value::as_array);
    let is = |condition: &Value, field: &str, value: &str| condition.get(field).and_then(Value::as_str) == Some(value);
    conditions.into_iter().flatten().any(|found| is(found, "type", "Established") && is(found, "status", "True"))
}

/// An established definition is served a moment later; there is nothing to watch for that.
async fn wait_served(client: &Client, manifest: &Manifest) -> Result<(), Error> {
    let group = manifest.text("/spec/group").unwrap_or_default();
    let plural = manifest.text("/spec/names/plural").unwrap_or_default();
    let versions = manifest.object().pointer("/spec/versions").and_then(Value::as_array).into_iter().flatten();
    for version in versions.filter(|version| version.get("served") == Some(&Value::Bool(true))) {
        let version = version.get("name").and_then(Value::as_str).unwrap_or_default();
        let poll = async {
            while !serves(client, &format!("{group}/{version}"), plural).await {
                tokio::time::sleep(POLL_EVERY).await;
            }
        };
        tokio::time::timeout(ESTABLISHED_WITHIN, poll).await.map_err(|_| Error::Timeout {
            object: format!("{KIND} {}", manifest.name()),
            condition: format!("{version} is served"),
            after: ESTABLISHED_WITHIN,
            last: "discovery doesn't list it, or its objects can't be listed".to_owned(),
        })?;
    }
    Ok(())
}

/// Whether discovery lists the resource and the server lists its objects: kube-apiserver refuses that with 429 for a
/// moment after a definition changed.
async fn serves(client: &Client, group_version: &str, plural: &str) -> bool {
    let found = client.list_api_group_resources(group_version).await;
    let discovered = found.is_ok_and(|list| list.resources.iter().any(|resource| resource.name == plural));
    let request = http::Request::get(format!("/apis/{group_version}/{plural}?limit=1")).body(Vec::new());
    match request {
        Ok(request) if discovered => client.request_text(request).await.is_ok(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::Crds;

    #[test]
    fn only_definitions_are_taken() {
        let check = |text: &str, expected: &str| {
            let found = Crds::from_yaml(text).map(|crds| crds.names().collect::<Vec<_>>().join(","));
            assert_eq!(found.unwrap_or_else(|error| error.to_string()), expected, "{text}");
        };
        let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: ";
        check(&format!("{definition}{{name: a}}\n---\n{definition}{{name: b}}"), "a,b");
        check(
            &format!("{definition}{{}}"),
            "YAML, document 1 (from line 1): the CustomResourceDefinition has no metadata.name",
        );
        check(
            &format!("{definition}{{name: a}}\n---\napiVersion: v1\nkind: Secret"),
            "YAML, document 2 (from line 4): a Secret is no CustomResourceDefinition",
        );
    }
}
