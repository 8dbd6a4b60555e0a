use std::collections::BTreeMap;

use bytes::Bytes;
use controller_runtime_scheme::{ApiResource, GroupVersionKind, Kind, Scope};
use futures::future::try_join_all;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{APIGroupList, APIResource, APIResourceList, APIVersions};
use kube_core::discovery::v2::{
    ACCEPT_AGGREGATED_DISCOVERY_V2, APIGroupDiscoveryList, APIResourceDiscovery, APIVersionDiscovery,
};
use serde::de::DeserializeOwned;

use crate::error::{ClientError, RequestInfo, Verb};
use crate::mapper::Mapping;
use crate::request::Request;
use crate::transport::Transport;

/// What a server serves: groups by name, in each the versions, the preferred one first.
#[derive(Debug, Default)]
pub(crate) struct Served {
    groups: BTreeMap<String, Vec<Version>>,
}

#[derive(Debug)]
pub(crate) struct Version {
    pub(crate) name: String,
    pub(crate) resources: Vec<Mapping>,
}

impl Served {
    /// The versions of a group, the preferred one first.
    pub(crate) fn versions(&self, group: &str) -> &[Version] {
        self.groups.get(group).map_or(&[], Vec::as_slice)
    }

    /// Asks the server: two requests, for the core group and the named ones. A server that has no aggregated discovery
    /// (Kubernetes before 1.26) is asked for each version of each group, too.
    pub(crate) async fn load(transport: &Transport) -> Result<Self, ClientError> {
        let mut served = Self::default();
        for path in ["/api", "/apis"] {
            let request = request("the served groups", path.to_owned(), ACCEPT_AGGREGATED_DISCOVERY_V2);
            let body = transport.fetch(&request).await?;
            match kind_of(&request, &body)?.as_str() {
                "APIGroupDiscoveryList" => served.add_aggregated(parse(&request, &body)?),
                "APIVersions" => {
                    let core: APIVersions = parse(&request, &body)?;
                    served.add_legacy(transport, "", core.versions).await?;
                }
                _ => {
                    let list: APIGroupList = parse(&request, &body)?;
                    for group in list.groups {
                        let preferred = group.preferred_version.map(|preferred| preferred.version);
                        let mut versions: Vec<_> = group.versions.into_iter().map(|version| version.version).collect();
                        // It sorts stably: the others stay as they are.
                        versions.sort_by_key(|version| Some(version) != preferred.as_ref());
                        served.add_legacy(transport, &group.name, versions).await?;
                    }
                }
            }
        }
        Ok(served)
    }

    fn add_aggregated(&mut self, list: APIGroupDiscoveryList) {
        for group in list.items {
            let name = group.metadata.and_then(|metadata| metadata.name).unwrap_or_default();
            let versions =
                group.versions.into_iter().filter_map(|version| aggregated_version(&name, version)).collect();
            self.groups.insert(name, versions);
        }
    }

    async fn add_legacy(&mut self, transport: &Transport, group: &str, names: Vec<String>) -> Result<(), ClientError> {
        let versions = names.into_iter().map(|name| async move {
            // A version that can't be had now (an extension API server is down) must not hide all others.
            let resources = match resources_of(transport, group, &name).await {
                Ok(resources) => resources,
                Err(error) if error.status().is_some() => {
                    tracing::debug!(%error, group, version = name, "discovery leaves a version out");
                    Vec::new()
                }
                Err(error) => return Err(error),
            };
            Ok(Version { name, resources })
        });
        let versions = try_join_all(versions).await?;
        self.groups.insert(group.to_owned(), versions);
        Ok(())
    }
}

/// The resources of one version of a group, by legacy discovery: one request.
pub(crate) async fn resources_of(
    transport: &Transport,
    group: &str,
    version: &str,
) -> Result<Vec<Mapping>, ClientError> {
    let group_version = GroupVersionKind::gvk(group, version, "").api_version();
    let prefix = if group.is_empty() { "/api" } else { "/apis" };
    let what = format!("the resources of {group_version}");
    let request = request(&what, format!("{prefix}/{group_version}"), JSON);
    let body = transport.fetch(&request).await?;
    let list: APIResourceList = parse(&request, &body)?;
    let (whole, parts): (Vec<_>, Vec<_>) =
        list.resources.into_iter().partition(|resource| !resource.name.contains('/'));
    Ok(whole.into_iter().map(|resource| legacy_mapping(group, version, resource, &parts)).collect())
}

const JSON: &str = "application/json";

fn request(what: &str, path: String, accept: &'static str) -> Request {
    let info = RequestInfo { verb: Verb::Get, kind: what.to_owned(), namespace: None, name: None, subresource: None };
    Request { accept, ..Request::get_path(info, path) }
}

fn parse<T: DeserializeOwned>(request: &Request, body: &Bytes) -> Result<T, ClientError> {
    serde_json::from_slice(body).map_err(|source| ClientError::Answer { request: request.info.clone(), source })
}

fn kind_of(request: &Request, body: &Bytes) -> Result<String, ClientError> {
    #[derive(serde::Deserialize)]
    struct Typed {
        kind: String,
    }
    parse::<Typed>(request, body).map(|typed| typed.kind)
}

fn aggregated_version(group: &str, version: APIVersionDiscovery) -> Option<Version> {
    let name = version.version?;
    let resources = version.resources.into_iter().filter_map(|resource| aggregated_mapping(group, &name, resource));
    let resources = resources.collect();
    Some(Version { name, resources })
}

fn aggregated_mapping(group: &str, version: &str, resource: APIResourceDiscovery) -> Option<Mapping> {
    let plural = resource.resource?;
    let kind = resource.response_kind.and_then(|kind| kind.kind).filter(|kind| !kind.is_empty())?;
    let scope = if resource.scope.as_deref() == Some("Namespaced") { Scope::Namespaced } else { Scope::Cluster };
    Some(Mapping {
        kind: kind_at(group, version, &kind, &plural, scope),
        singular: resource.singular_resource.unwrap_or_default(),
        short_names: resource.short_names,
        verbs: resource.verbs,
        subresources: resource.subresources.into_iter().filter_map(|sub| sub.subresource).collect(),
    })
}

fn legacy_mapping(group: &str, version: &str, resource: APIResource, parts: &[APIResource]) -> Mapping {
    let scope = if resource.namespaced { Scope::Namespaced } else { Scope::Cluster };
    let own_parts = parts.iter().filter_map(|part| part.name.strip_prefix(&resource.name)?.strip_prefix('/'));
    Mapping {
        kind: kind_at(group, version, &resource.kind, &resource.name, scope),
        subresources: own_parts.map(str::to_owned).collect(),
        singular: resource.singular_name,
        short_names: resource.short_names.unwrap_or_default(),
        verbs: resource.verbs,
    }
}

fn kind_at(
    group: &str,
    version: &str,
    kind: &str,
    plural: &str,
    scope: Scope,
) -> Kind<controller_runtime_scheme::Unstructured> {
    let kind = GroupVersionKind::gvk(group, version, kind);
    Kind::dynamic(ApiResource::from_gvk_with_plural(&kind, plural), scope)
}
