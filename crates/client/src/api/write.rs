use bytes::Bytes;
use controller_runtime_scheme::{Object, ObjectKey, with_type};

use crate::api::{Api, answer, conversion};
use crate::apply::configuration;
use crate::error::{ClientError, RequestProblem, Verb};
use crate::patch::Patch;
use crate::request::Request;

const JSON: &str = "application/json";

/// JSON is YAML; the server takes no JSON media type for apply that older versions know.
const APPLY: &str = "application/apply-patch+yaml";

impl<K: Object> Api<K> {
    /// Makes the object. An object without a name needs `generateName`.
    pub async fn create(&self, object: &K) -> Result<K, ClientError> {
        let ObjectKey { namespace, name } = ObjectKey::of(object);
        let key = ObjectKey { namespace: self.namespace_or_own(namespace), name };
        let request = Request::create(self.kind(), &key)?;
        self.object(self.with_object(request, object)?).await
    }

    /// Replaces the object. When `object` carries a `resourceVersion` and the server has another, that is a conflict.
    pub async fn update(&self, object: &K) -> Result<K, ClientError> {
        self.replace(object, None).await
    }

    /// Changes parts of the object.
    pub async fn patch(&self, key: impl Into<ObjectKey>, patch: &Patch) -> Result<K, ClientError> {
        self.object(self.patch_request(key, None, patch)?).await
    }

    /// Server-side apply: makes the object, or changes it so that the fields set in `object` have these values and
    /// those that this field manager set before, and that aren't set now, are gone.
    ///
    /// Only what is set is sent: fields that are `None` are left out, nulls in free JSON are meant. Fields that others own are taken over, as the Kubernetes documentation
    /// recommends for controllers; [`Client::keep_conflicts`](crate::Client::keep_conflicts) makes it a conflict
    /// instead. Needs a field manager.
    pub async fn apply(&self, object: &K) -> Result<K, ClientError> {
        self.object(self.apply_request(object, None)?).await
    }

    pub(super) async fn replace(&self, object: &K, subresource: Option<&str>) -> Result<K, ClientError> {
        let request = self.about(Verb::Update, ObjectKey::of(object), subresource)?;
        self.object(self.with_object(request, object)?).await
    }

    fn with_object(&self, request: Request, object: &K) -> Result<Request, ClientError> {
        if K::metadata_api() {
            return Err(request.refuse(RequestProblem::MetadataOnly));
        }
        let value = with_type(self.kind(), object).map_err(|source| conversion(&request, source))?;
        Ok(request.with_write(&self.write).with_body(JSON, value.to_string()))
    }

    pub(super) fn patch_request(
        &self,
        key: impl Into<ObjectKey>,
        subresource: Option<&str>,
        patch: &Patch,
    ) -> Result<Request, ClientError> {
        let request = self.about(Verb::Patch, key, subresource)?;
        let body = patch.to_bytes().map_err(|source| answer(&request, source))?;
        Ok(request.with_write(&self.write).with_body(patch.content_type(), body))
    }

    pub(super) fn apply_request(&self, object: &K, subresource: Option<&str>) -> Result<Request, ClientError> {
        let request = self.about(Verb::Apply, ObjectKey::of(object), subresource)?;
        let value = configuration(self.kind(), object).map_err(|source| conversion(&request, source))?;
        self.applied(request, value.to_string())
    }

    /// The request, with the body as what is applied.
    pub(super) fn applied(&self, request: Request, body: impl Into<Bytes>) -> Result<Request, ClientError> {
        if self.write.field_manager.is_none() {
            return Err(request.refuse(RequestProblem::MissingFieldManager));
        }
        let force = if self.write.keep_conflicts { "false" } else { "true" };
        Ok(request.with_write(&self.write).with_query("force", force).with_body(APPLY, body))
    }
}
