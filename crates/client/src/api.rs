mod delete;
mod read;
mod status;
mod subresource;
mod upsert;
mod write;

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use controller_runtime_metrics::Registry;
use controller_runtime_scheme::{ConversionError, Kind, Object, ObjectKey, PartialObjectMeta, Unstructured, decode};

use crate::error::{ClientError, Verb};
use crate::options::WriteOptions;
use crate::request::Request;
use crate::transport::Transport;

pub use delete::Deletion;
pub use upsert::Upsert;

/// Every verb for the objects of one kind: typed, unstructured or metadata only. Cloning is cheap.
///
/// [`Client`](crate::Client) has the same verbs for types that state their kind. All of them are safe to cancel by
/// dropping their futures; a write that was under way may or may not happen then.
pub struct Api<K: Object> {
    kind: Kind<K>,
    transport: Arc<Transport>,
    write: WriteOptions,
}

impl<K: Object> Api<K> {
    pub(crate) fn new(kind: Kind<K>, transport: Arc<Transport>, write: WriteOptions) -> Self {
        Self { kind, transport, write }
    }

    /// The kind of its objects.
    pub fn kind(&self) -> &Kind<K> {
        &self.kind
    }

    /// Where requests are counted.
    pub fn metrics(&self) -> &Registry {
        &self.transport.options.metrics
    }

    /// The same with another deadline for each request.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        Arc::make_mut(&mut self.transport).options.timeout = timeout;
        self
    }

    /// A request about one object.
    fn about(&self, verb: Verb, key: impl Into<ObjectKey>, subresource: Option<&str>) -> Result<Request, ClientError> {
        let ObjectKey { namespace, name } = key.into();
        Request::object(&self.kind, verb, &ObjectKey { namespace: self.namespace_or_own(namespace), name }, subresource)
    }

    /// A request about many objects.
    fn about_all(&self, verb: Verb, namespace: Option<String>) -> Result<Request, ClientError> {
        Request::objects(&self.kind, verb, self.namespace_or_own(namespace))
    }

    /// The namespace, or else the one that the client is bound to.
    fn namespace_or_own(&self, namespace: Option<String>) -> Option<String> {
        let own = self.transport.namespace.as_deref().filter(|_| self.kind.is_namespaced());
        namespace.or_else(|| own.map(str::to_owned))
    }

    /// Sends the request and decodes the answer as an object.
    async fn object(&self, request: Request) -> Result<K, ClientError> {
        let body = self.transport.fetch(&request).await?;
        self.decode(&body).map_err(|source| conversion(&request, source))
    }

    /// Decodes an object, for example one of a [`Page`](crate::Page) or a [`WatchFrame`](crate::WatchFrame).
    pub fn decode(&self, json: &Bytes) -> Result<K, ConversionError> {
        let mut object: K = decode(self.kind.name(), json)?;
        // Items of a list don't say what they are. Typed objects needn't, unstructured ones are useless without.
        let any = &mut object as &mut dyn Any;
        if let Some(unstructured) = any.downcast_mut::<Unstructured>() {
            unstructured.types.get_or_insert_with(|| self.kind.type_meta());
        } else if let Some(metadata) = any.downcast_mut::<PartialObjectMeta>() {
            // The server calls each of them a PartialObjectMetadata, whatever it is.
            metadata.types = Some(self.kind.type_meta());
        }
        Ok(object)
    }
}

impl<K: Object> Clone for Api<K> {
    fn clone(&self) -> Self {
        Self { kind: self.kind.clone(), transport: self.transport.clone(), write: self.write.clone() }
    }
}

impl<K: Object> fmt::Debug for Api<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api").field("kind", &self.kind).field("write", &self.write).finish_non_exhaustive()
    }
}

fn conversion(request: &Request, source: ConversionError) -> ClientError {
    ClientError::Conversion { request: request.info.clone(), source: Box::new(source) }
}

fn answer(request: &Request, source: serde_json::Error) -> ClientError {
    ClientError::Answer { request: request.info.clone(), source }
}
