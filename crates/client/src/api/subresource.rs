use controller_runtime_scheme::{Object, ObjectKey};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::api::{Api, answer};
use crate::error::{ClientError, Verb};
use crate::patch::Patch;
use crate::request::Request;

const SCALE: &str = "scale";
const JSON: &str = "application/json";

/// Subresources by name. Their bodies have types of their own, for example `autoscaling/v1` `Scale`.
impl<K: Object> Api<K> {
    /// Reads a subresource.
    pub async fn get_subresource<T: DeserializeOwned>(
        &self,
        key: impl Into<ObjectKey>,
        subresource: &str,
    ) -> Result<T, ClientError> {
        self.value(self.about(Verb::Get, key, Some(subresource))?).await
    }

    /// Posts to a subresource, for example an `Eviction` to `eviction` or a `TokenRequest` to `token`.
    pub async fn create_subresource<B: Serialize, T: DeserializeOwned>(
        &self,
        key: impl Into<ObjectKey>,
        subresource: &str,
        body: &B,
    ) -> Result<T, ClientError> {
        let request = self.about(Verb::Create, key, Some(subresource))?;
        self.write_value(request, body).await
    }

    /// Replaces a subresource.
    pub async fn update_subresource<B: Serialize, T: DeserializeOwned>(
        &self,
        key: impl Into<ObjectKey>,
        subresource: &str,
        body: &B,
    ) -> Result<T, ClientError> {
        let request = self.about(Verb::Update, key, Some(subresource))?;
        self.write_value(request, body).await
    }

    /// Changes parts of a subresource.
    pub async fn patch_subresource<T: DeserializeOwned>(
        &self,
        key: impl Into<ObjectKey>,
        subresource: &str,
        patch: &Patch,
    ) -> Result<T, ClientError> {
        self.value(self.patch_request(key, Some(subresource), patch)?).await
    }

    /// Server-side apply of a subresource, see [`Api::apply`]. `body` says its own `apiVersion` and `kind`.
    pub async fn apply_subresource<B: Serialize, T: DeserializeOwned>(
        &self,
        key: impl Into<ObjectKey>,
        subresource: &str,
        body: &B,
    ) -> Result<T, ClientError> {
        let request = self.about(Verb::Apply, key, Some(subresource))?;
        let body = serde_json::to_vec(body).map_err(|source| answer(&request, source))?;
        self.value(self.applied(request, body)?).await
    }

    /// Sets the number of replicas through the `scale` subresource.
    pub async fn scale(&self, key: impl Into<ObjectKey>, replicas: i32) -> Result<(), ClientError> {
        let patch = Patch::Merge(serde_json::json!({"spec": {"replicas": replicas}}));
        self.patch_subresource::<serde::de::IgnoredAny>(key, SCALE, &patch).await.map(drop)
    }

    async fn write_value<B: Serialize, T: DeserializeOwned>(
        &self,
        request: Request,
        body: &B,
    ) -> Result<T, ClientError> {
        let body = serde_json::to_vec(body).map_err(|source| answer(&request, source))?;
        self.value(request.with_write(&self.write).with_body(JSON, body)).await
    }

    async fn value<T: DeserializeOwned>(&self, request: Request) -> Result<T, ClientError> {
        let body = self.transport.fetch(&request).await?;
        serde_json::from_slice(&body).map_err(|source| answer(&request, source))
    }
}
