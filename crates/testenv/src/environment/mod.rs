mod backend;
mod binary;
mod embedded;
mod existing;

use std::fmt;

use controller_runtime_ambient::Ambient;
use controller_runtime_apiserver::{AdmissionHook, ApiServer, ApiServerBuilder, Identity};
use controller_runtime_client::{Client, ClientOptions};
use controller_runtime_scheme::{Kind, Object, ObjectKey, TypedObject, Unstructured};
use kube_client::Api;
use kube_client::api::{DeleteParams, PostParams};
use kube_client::config::Kubeconfig;
use parking_lot::Mutex;
use serde_json::json;

pub use self::backend::{Backend, Door};
use self::binary::Binary;
use self::embedded::Embedded;
use self::existing::Existing;
use crate::assert::Eventually;
use crate::crds::{Crds, definition_kind};
use crate::error::Error;

/// Whose writes a test's client makes.
const FIELD_MANAGER: &str = "test";

/// An API server to test against, and a client of it that may do everything.
///
/// [`stop`](Self::stop) it at the end of a test. Dropping it ends what runs as well, abruptly; on a server that others
/// share it then leaves the namespaces and definitions that were made through it.
pub struct Environment {
    ambient: Ambient,
    backend: Backend,
    client: kube_client::Client,
    made: Mutex<Made>,
    running: Running,
}

#[derive(Debug)]
enum Running {
    Embedded(Box<Embedded>),
    Binary(Box<Binary>),
    Existing(Box<Existing>),
}

/// What goes at the end where the server stays.
#[derive(Debug, Default)]
struct Made {
    namespaces: Vec<String>,
    definitions: Vec<String>,
}

/// How to start an [`Environment`].
#[derive(Clone, Debug, Default)]
#[must_use = "it starts nothing until `start` is called"]
pub struct EnvironmentBuilder {
    backend: Option<Backend>,
    door: Option<Door>,
    ambient: Ambient,
    rbac: bool,
    admission_hooks: Vec<AdmissionHook>,
}

impl EnvironmentBuilder {
    /// Which API server; by default what [`Backend::from_env`] says.
    pub fn backend(mut self, backend: Backend) -> Self {
        self.backend = Some(backend);
        self
    }

    /// How the client reaches an embedded server; by default what [`Door::from_env`] says. Other backends have only
    /// HTTPS and ignore it.
    pub fn door(mut self, door: Door) -> Self {
        self.door = Some(door);
        self
    }

    /// Clock, randomness and ids of the embedded server; by default the machine's.
    pub fn ambient(mut self, ambient: Ambient) -> Self {
        self.ambient = ambient;
        self
    }

    /// Whether roles and their bindings decide on the embedded server what users may do. Default: false, everybody with
    /// a token may do everything. On other backends the server's own settings count.
    pub fn rbac(mut self, on: bool) -> Self {
        self.rbac = on;
        self
    }

    /// One more hook that the embedded server asks about writes. Other backends have none; what a test shows by a hook it
    /// shows there by webhooks.
    pub fn admission(mut self, hook: AdmissionHook) -> Self {
        self.admission_hooks.push(hook);
        self
    }

    /// Starts it and waits until it answers. Fails when a program or a kubeconfig is missing, or when the server isn't
    /// ready within 90 seconds. Dropping the future ends what was started.
    pub async fn start(self) -> Result<Environment, Error> {
        let backend = self.backend.map_or_else(Backend::from_env, Ok)?;
        let (client, running) = match backend {
            Backend::Embedded => {
                let door = self.door.map_or_else(Door::from_env, Ok)?;
                let (client, embedded) = Embedded::start(self.embedded(), door).await?;
                (client, Running::Embedded(Box::new(embedded)))
            }
            Backend::Reference => {
                if let Some(existing) = Existing::named()? {
                    (existing.client().await?, Running::Existing(Box::new(existing)))
                } else {
                    let (client, binary) = Binary::start(&self.ambient).await?;
                    (client, Running::Binary(Box::new(binary)))
                }
            }
            Backend::Existing => {
                let existing = Existing::named()?.map_or_else(Existing::usual, Ok)?;
                (existing.client().await?, Running::Existing(Box::new(existing)))
            }
        };
        Ok(Environment { ambient: self.ambient, backend, client, made: Mutex::default(), running })
    }

    /// The embedded server that is wanted.
    fn embedded(&self) -> ApiServerBuilder {
        let server = ApiServer::builder().ambient(self.ambient.clone()).rbac(self.rbac);
        self.admission_hooks.iter().cloned().fold(server, ApiServerBuilder::admission)
    }
}

impl Environment {
    /// Starts what the environment variables ask for; the embedded server without them. See [`Backend`].
    pub async fn start() -> Result<Self, Error> {
        Self::builder().start().await
    }

    /// To start a certain one.
    pub fn builder() -> EnvironmentBuilder {
        EnvironmentBuilder::default()
    }

    /// Which API server it has.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// A client that may do everything. Clones share one connection.
    pub fn kube_client(&self) -> kube_client::Client {
        self.client.clone()
    }

    /// A client of this project's own that may do everything; it writes as the field manager `test`.
    pub fn client(&self) -> Client {
        let options = ClientOptions::builder().ambient(self.ambient.clone()).field_manager(FIELD_MANAGER).build();
        Client::new(self.kube_client(), options)
    }

    /// Clock, randomness and ids that the environment was started with.
    pub fn ambient(&self) -> &Ambient {
        &self.ambient
    }

    /// The embedded server, for its request log and more; none on other backends.
    pub fn api_server(&self) -> Option<&ApiServer> {
        match &self.running {
            Running::Embedded(embedded) => Some(embedded.server()),
            Running::Binary(_) | Running::Existing(_) => None,
        }
    }

    /// A kubeconfig for other programs, with all certificates inline. The embedded server opens an HTTPS listener on a
    /// loopback port for it when first asked.
    pub async fn kubeconfig(&self) -> Result<Kubeconfig, Error> {
        match &self.running {
            Running::Embedded(embedded) => embedded.kubeconfig().await,
            Running::Binary(binary) => Ok(binary.kubeconfig().clone()),
            Running::Existing(existing) => Ok(existing.kubeconfig().clone()),
        }
    }

    /// A kubeconfig for other programs that are `user`. Servers that this environment started believe a certificate in it
    /// (name, uid and groups stand there; `extra` can't). On a server that runs already it impersonates the user's name and
    /// groups, which the kubeconfig's own user must be allowed.
    pub async fn kubeconfig_as(&self, user: &Identity) -> Result<Kubeconfig, Error> {
        match &self.running {
            Running::Embedded(embedded) => embedded.kubeconfig_as(user).await,
            Running::Binary(binary) => binary.kubeconfig_as(user),
            Running::Existing(existing) => Ok(existing.kubeconfig_as(user)),
        }
    }

    /// A client that is `user`, by the credentials of [`kubeconfig_as`](Self::kubeconfig_as).
    pub async fn kube_client_as(&self, user: &Identity) -> Result<kube_client::Client, Error> {
        existing::client_of("of a user", self.kubeconfig_as(user).await?).await
    }

    /// Whether somebody collects garbage and empties deleted namespaces: kube-controller-manager, or the embedded
    /// server's own controllers. On a cluster that runs already it is what the variable `CONTROLLER_RUNTIME_CONTROLLERS`
    /// lists; yes, where that isn't set.
    pub fn has_controllers(&self) -> bool {
        match &self.running {
            Running::Embedded(_) => true,
            Running::Binary(binary) => binary.has_controllers(),
            Running::Existing(existing) => existing.has_controllers(),
        }
    }

    /// Creates a namespace whose name begins with `prefix` and is no other's; returns the name.
    pub async fn namespace(&self, prefix: &str) -> Result<String, Error> {
        let api = self.namespaces();
        let object =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"generateName": format!("{prefix}-")}});
        let doing = format!("create a namespace {prefix}-…");
        let object = serde_json::from_value(object).map_err(kube_client::Error::SerdeError);
        let object = object.map_err(Error::request(doing.clone()))?;
        let created = api.create(&PostParams::default(), &object).await.map_err(Error::request(doing))?;
        let name = created.metadata.name.unwrap_or_default();
        self.made.lock().namespaces.push(name.clone());
        Ok(name)
    }

    /// Installs definitions of custom resources and waits until they are served. See [`Crds::install`].
    pub async fn install(&self, crds: &Crds) -> Result<(), Error> {
        self.made.lock().definitions.extend(crds.names().map(str::to_owned));
        crds.install(&self.client).await
    }

    /// To wait for the state of one object of a typed kind.
    pub fn eventually<K: TypedObject>(&self, key: impl Into<ObjectKey>) -> Eventually<K> {
        Eventually::new(self.client.clone(), Kind::typed(), key)
    }

    /// To wait for the state of one object of any kind.
    pub fn eventually_of<K: Object>(&self, kind: Kind<K>, key: impl Into<ObjectKey>) -> Eventually<K> {
        Eventually::new(self.client.clone(), kind, key)
    }

    /// Ends what was started, in order. On a server that runs on it deletes the namespaces and definitions that were
    /// made through this environment, without waiting for their contents to go.
    pub async fn stop(self) -> Result<(), Error> {
        match self.running {
            Running::Embedded(embedded) => {
                drop(self.client);
                embedded.stop().await;
                Ok(())
            }
            Running::Binary(binary) => binary.stop().await,
            Running::Existing(_) => self.remove_made().await,
        }
    }

    async fn remove_made(&self) -> Result<(), Error> {
        let made = std::mem::take(&mut *self.made.lock());
        for name in made.namespaces {
            remove(&self.namespaces(), "Namespace", &name).await?;
        }
        let definitions = Api::all_with(self.client.clone(), definition_kind().dynamic_type());
        for name in made.definitions {
            remove(&definitions, "CustomResourceDefinition", &name).await?;
        }
        Ok(())
    }

    fn namespaces(&self) -> Api<Unstructured> {
        let kind = controller_runtime_scheme::GroupVersionKind::gvk("", "v1", "Namespace");
        let resource = controller_runtime_scheme::ApiResource::from_gvk_with_plural(&kind, "namespaces");
        Api::all_with(self.client.clone(), &resource)
    }
}

/// Deletes an object that may be gone already.
async fn remove(api: &Api<Unstructured>, kind: &str, name: &str) -> Result<(), Error> {
    match api.delete(name, &DeleteParams::background()).await {
        Ok(_) => Ok(()),
        Err(kube_client::Error::Api(status)) if status.code == 404 => Ok(()),
        Err(error) => Err(Error::request(format!("delete {kind} {name}"))(error)),
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("backend", &self.backend)
            .field("made", &self.made)
            .field("running", &self.running)
            .finish_non_exhaustive()
    }
}
