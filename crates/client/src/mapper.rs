use controller_runtime_scheme::{ApiResource, GroupVersionKind, Kind, Scope, Unstructured};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResourceList;

use crate::client::Client;
use crate::error::{ClientError, RequestInfo, Verb};
use crate::request::Request;

impl Client {
    /// Asks the server where it serves a kind, for objects whose kind is known only at run time. A kind it does not
    /// serve is [`ClientError::UnknownKind`].
    pub async fn discover(&self, wanted: &GroupVersionKind) -> Result<Kind<Unstructured>, ClientError> {
        let api_version = wanted.api_version();
        let prefix = if wanted.group.is_empty() { "/api" } else { "/apis" };
        let info = RequestInfo {
            verb: Verb::Get,
            kind: format!("the resources of {api_version}"),
            namespace: None,
            name: None,
            subresource: None,
        };
        let request = Request::get_path(info, format!("{prefix}/{api_version}"));
        let unknown = || ClientError::UnknownKind { kind: Box::new(wanted.clone()) };
        let body = match self.transport().fetch(&request).await {
            Err(error) if error.is_kind_not_served() || error.is_not_found() => return Err(unknown()),
            result => result?,
        };
        let list: APIResourceList = serde_json::from_slice(&body)
            .map_err(|source| ClientError::Answer { request: request.info.clone(), source })?;
        let found = list
            .resources
            .into_iter()
            .find(|resource| resource.kind == wanted.kind && !resource.name.contains('/'))
            .ok_or_else(unknown)?;
        let scope = if found.namespaced { Scope::Namespaced } else { Scope::Cluster };
        Ok(Kind::dynamic(ApiResource::from_gvk_with_plural(wanted, &found.name), scope))
    }
}
