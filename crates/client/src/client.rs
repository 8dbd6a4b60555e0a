use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::Ambient;
use controller_runtime_metrics::Registry;
use controller_runtime_scheme::{Kind, Object, ObjectKey, TypedObject};
use kube_core::object::HasStatus;

use crate::api::{Api, Deletion, Upsert};
use crate::class::Classify;
use crate::client_options::ClientOptions;
use crate::error::ClientError;
use crate::interceptor::Interceptor;
use crate::list::List;
use crate::mapper::RestMapper;
use crate::options::{DeleteOptions, FieldValidation, ListOptions, WriteOptions};
use crate::patch::Patch;
use crate::rate_limit::RateLimit;
use crate::retry::retry_on_conflict;
use crate::transport::Transport;

/// The server's name in metrics where nobody says it.
const UNKNOWN_HOST: &str = "unknown";

/// A client of one API server: reads and writes go to the server at once. Cloning is cheap.
///
/// Its verbs are for types that state their kind. [`Client::api`] gives the same verbs for any kind.
#[derive(Clone, Debug)]
pub struct Client {
    transport: Arc<Transport>,
    write: WriteOptions,
}

impl Client {
    /// A client that sends through `client`. Switch that one's own retries off
    /// ([`Config::default_retry`](kube_client::Config::default_retry)): they would hide throttling and run into our
    /// deadlines. It does not tell which server it talks to, so metrics name the host `unknown`; see
    /// [`Client::with_host`].
    pub fn new(client: kube_client::Client, options: ClientOptions) -> Self {
        Self::with_host(client, UNKNOWN_HOST, options)
    }

    /// A client for a configuration, with kube-client's own retries off.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use controller_runtime_client::{Client, ClientOptions};
    /// use k8s_openapi::api::core::v1::ConfigMap;
    ///
    /// let config = kube_client::Config::infer().await?;
    /// let client = Client::from_config(config, ClientOptions::builder().field_manager("example").build())?;
    /// let config_map: ConfigMap = client.get(("default", "settings")).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_config(mut config: kube_client::Config, options: ClientOptions) -> Result<Self, ClientError> {
        config.default_retry = false;
        let host = config.cluster_url.authority().map(ToString::to_string).unwrap_or_default();
        let client = kube_client::Client::try_from(config)
            .map_err(|source| ClientError::Configuration { source: Box::new(source) })?;
        Ok(Self::with_host(client, &host, options))
    }

    /// A client that sends through `client`, whose server is called `host` in metrics.
    pub fn with_host(client: kube_client::Client, host: &str, options: ClientOptions) -> Self {
        let write = WriteOptions {
            field_manager: options.field_manager.clone(),
            field_validation: options.field_validation,
            ..WriteOptions::default()
        };
        Self { transport: Arc::new(Transport::new(client, host, options)), write }
    }

    /// The client below, for what this one does not do.
    pub fn kube_client(&self) -> &kube_client::Client {
        &self.transport.client
    }

    /// Clock and randomness.
    pub fn ambient(&self) -> &Ambient {
        &self.transport.options.ambient
    }

    /// Where requests are counted.
    pub fn metrics(&self) -> &Registry {
        &self.transport.options.metrics
    }

    /// Each request's deadline.
    pub fn timeout(&self) -> Duration {
        self.transport.options.timeout
    }

    /// The name that writes are attributed to.
    pub fn field_manager(&self) -> Option<&str> {
        self.write.field_manager.as_deref()
    }

    /// The namespace that the client is bound to.
    pub fn namespace(&self) -> Option<&str> {
        self.transport.namespace.as_deref()
    }

    /// Where kinds and resources are served. Clones of the client share what it learns.
    pub fn mapper(&self) -> RestMapper {
        RestMapper::new(self.transport.clone())
    }

    pub(crate) fn transport(&self) -> &Transport {
        &self.transport
    }

    /// The same client, bound to one namespace: that is the default where none is given, and another one is refused
    /// before anything is sent. Cluster-scoped kinds are not affected.
    #[must_use]
    pub fn in_namespace(mut self, namespace: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.transport).namespace = Some(namespace.into().into());
        self
    }

    /// The same client with an interceptor around those that it has.
    #[must_use]
    pub fn with_interceptor(mut self, interceptor: Interceptor) -> Self {
        Arc::make_mut(&mut self.transport).intercept(interceptor);
        self
    }

    /// The same client with a rate limit on top of those that it has. Clones of the result share the limit.
    #[must_use]
    pub fn with_rate_limit(mut self, limit: RateLimit) -> Self {
        Arc::make_mut(&mut self.transport).limit(limit);
        self
    }

    /// The same client, whose writes are checked and answered but not stored.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.write.dry_run = true;
        self
    }

    /// Whether writes are checked and answered but not stored.
    pub fn is_dry_run(&self) -> bool {
        self.write.dry_run
    }

    /// The same client, whose writes are attributed to `name`.
    #[must_use]
    pub fn with_field_manager(mut self, name: impl Into<String>) -> Self {
        self.write.field_manager = Some(name.into());
        self
    }

    /// The same client, whose writes have their fields checked so.
    #[must_use]
    pub fn with_field_validation(mut self, validation: FieldValidation) -> Self {
        self.write.field_validation = Some(validation);
        self
    }

    /// The same client, whose apply reports a conflict instead of taking over fields that others own.
    #[must_use]
    pub fn keep_conflicts(mut self) -> Self {
        self.write.keep_conflicts = true;
        self
    }

    /// The same client with another deadline for each request.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        Arc::make_mut(&mut self.transport).options.timeout = timeout;
        self
    }

    /// The verbs for any kind: unstructured, metadata only, or typed.
    pub fn api<K: Object>(&self, kind: Kind<K>) -> Api<K> {
        Api::new(kind, self.transport.clone(), self.write.clone())
    }

    fn typed<K: TypedObject>(&self) -> Api<K> {
        self.api(Kind::typed())
    }

    /// See [`Api::get`].
    pub async fn get<K: TypedObject>(&self, key: impl Into<ObjectKey>) -> Result<K, ClientError> {
        self.typed().get(key).await
    }

    /// See [`Api::get_opt`].
    pub async fn get_opt<K: TypedObject>(&self, key: impl Into<ObjectKey>) -> Result<Option<K>, ClientError> {
        self.typed().get_opt(key).await
    }

    /// See [`Api::list`].
    pub async fn list<K: TypedObject>(&self, options: &ListOptions) -> Result<List<K>, ClientError> {
        self.typed().list(options).await
    }

    /// See [`Api::create`].
    pub async fn create<K: TypedObject>(&self, object: &K) -> Result<K, ClientError> {
        self.typed().create(object).await
    }

    /// See [`Api::update`].
    pub async fn update<K: TypedObject>(&self, object: &K) -> Result<K, ClientError> {
        self.typed().update(object).await
    }

    /// See [`Api::patch`].
    pub async fn patch<K: TypedObject>(&self, key: impl Into<ObjectKey>, patch: &Patch) -> Result<K, ClientError> {
        self.typed().patch(key, patch).await
    }

    /// See [`Api::apply`].
    pub async fn apply<K: TypedObject>(&self, object: &K) -> Result<K, ClientError> {
        self.typed().apply(object).await
    }

    /// See [`Api::delete`].
    pub async fn delete<K: TypedObject>(&self, key: impl Into<ObjectKey>) -> Result<Deletion<K>, ClientError> {
        self.typed().delete(key).await
    }

    /// See [`Api::delete_with`].
    pub async fn delete_with<K: TypedObject>(
        &self,
        key: impl Into<ObjectKey>,
        options: &DeleteOptions,
    ) -> Result<Deletion<K>, ClientError> {
        self.typed().delete_with(key, options).await
    }

    /// See [`Api::delete_all`].
    pub async fn delete_all<K: TypedObject>(
        &self,
        selected: &ListOptions,
        options: &DeleteOptions,
    ) -> Result<(), ClientError> {
        self.typed::<K>().delete_all(selected, options).await
    }

    /// See [`Api::create_or_update`].
    pub async fn create_or_update<K: TypedObject>(
        &self,
        start: K,
        change: impl FnOnce(&mut K) -> Result<(), ClientError>,
    ) -> Result<(K, Upsert), ClientError> {
        self.typed().create_or_update(start, change).await
    }

    /// See [`Api::create_or_patch`].
    pub async fn create_or_patch<K: TypedObject>(
        &self,
        start: K,
        change: impl FnOnce(&mut K) -> Result<(), ClientError>,
    ) -> Result<(K, Upsert), ClientError> {
        self.typed().create_or_patch(start, change).await
    }

    /// See [`Api::update_status`].
    pub async fn update_status<K: TypedObject>(&self, object: &K) -> Result<K, ClientError> {
        self.typed().update_status(object).await
    }

    /// See [`Api::patch_status`].
    pub async fn patch_status<K: TypedObject>(
        &self,
        key: impl Into<ObjectKey>,
        patch: &Patch,
    ) -> Result<K, ClientError> {
        self.typed().patch_status(key, patch).await
    }

    /// See [`Api::apply_status`].
    pub async fn apply_status<K: TypedObject>(&self, object: &K) -> Result<K, ClientError> {
        self.typed().apply_status(object).await
    }

    /// See [`Api::change_status`].
    pub async fn change_status<K>(&self, object: &K, change: impl FnOnce(&mut K::Status)) -> Result<K, ClientError>
    where
        K: TypedObject + HasStatus<Status: Default>,
    {
        self.typed().change_status(object, change).await
    }

    /// Runs `attempt` again while it ends in a conflict, see [`retry_on_conflict`].
    pub async fn retry_on_conflict<T, E, F>(&self, attempt: impl FnMut() -> F) -> Result<T, E>
    where
        E: Classify,
        F: Future<Output = Result<T, E>>,
    {
        retry_on_conflict(self.ambient(), attempt).await
    }
}
