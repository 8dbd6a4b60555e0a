mod bounds;
mod kind;
mod scope;

use std::collections::BTreeMap;
use std::time::Duration;

use bon::Builder;
use controller_runtime_client::Selector;
use controller_runtime_scheme::{ApiResource, Kind, Object};

use crate::transform::Transform;

pub use bounds::Bounds;
pub use kind::KindOptions;
pub use scope::ScopeOptions;
pub(crate) use scope::{ALL_OTHERS, Plan};

/// How a [`Cache`](crate::Cache) works. It never changes once it is built.
///
/// What an informer selects and how it transforms is decided for each setting by itself, by the first of these that
/// says something: the namespace in the kind's options, the kind's options, the namespace in these options, the
/// defaults in these options.
///
/// ```
/// use std::time::Duration;
///
/// use controller_runtime_cache::{CacheOptions, KindOptions, ScopeOptions, Transform};
/// use controller_runtime_client::Expression;
/// use k8s_openapi::api::core::v1::Secret;
///
/// let of_the_operator = Expression::Equal("app".to_owned(), "operator".to_owned());
/// let options = CacheOptions::builder()
///     .namespaces(["shop", "billing"])
///     .namespace("kube-system", ScopeOptions::builder().fields("metadata.name=settings").build())
///     .kind_of::<Secret>(KindOptions::builder().labels(of_the_operator).build())
///     .transform(Transform::strip_managed_fields())
///     .sync_timeout(Duration::from_secs(30))
///     .build();
/// assert_eq!(options.sync_timeout(), Duration::from_secs(30));
/// ```
#[derive(Clone, Debug, Builder)]
pub struct CacheOptions {
    #[builder(field)]
    pub(crate) namespaces: BTreeMap<String, ScopeOptions>,
    #[builder(field)]
    pub(crate) kinds: BTreeMap<ResourceName, KindOptions>,
    /// Caches only objects whose labels match. Default: all.
    #[builder(into)]
    pub(crate) labels: Option<Selector>,
    /// Caches only objects whose fields match, as the server understands it. Default: all.
    #[builder(into)]
    pub(crate) fields: Option<String>,
    /// What is done to each object before it is stored. Default: nothing.
    pub(crate) transform: Option<Transform>,
    /// Whether the first read of a kind starts its informer. Otherwise a read of a kind for which nobody has asked for
    /// an [`Informer`](crate::Informer) is an error, so that no watch is opened by accident. Default: yes.
    #[builder(default = true)]
    pub(crate) reads_start_informers: bool,
    /// How long a read waits for the first list of its kind. Default: 2 min.
    #[builder(default = Duration::from_mins(2))]
    pub(crate) sync_timeout: Duration,
    /// How long a read waits until the cache has seen what was written before. Default: 10 s.
    #[builder(default = Duration::from_secs(10))]
    pub(crate) write_timeout: Duration,
    /// How many objects one answer of a list holds. Default: 500.
    #[builder(default = 500)]
    pub(crate) page_size: u32,
    /// After how long handlers are told of every object again, as an update that changes nothing; each time is up to a
    /// tenth shorter or longer, so that kinds don't come together. `Duration::MAX`: never. Default: 10 h.
    #[builder(default = Duration::from_hours(10))]
    pub(crate) resync: Duration,
    /// Whether watches ask for bookmarks, with which a watch can resume and a read knows that the cache is new enough
    /// although nothing happened. Default: yes.
    #[builder(default = true)]
    pub(crate) bookmarks: bool,
    /// Whether the first objects come as a stream of watch events (KEP-3157) where the server can do that, instead of
    /// as a list in pages. Default: yes.
    #[builder(default = true)]
    pub(crate) streaming_lists: bool,
    /// How long the server is asked to keep a watch open; each watch gets up to as much again at random, so that they
    /// don't end together. Default: 5 min.
    #[builder(default = Duration::from_mins(5))]
    pub(crate) watch_timeout: Duration,
    /// After how much silence a watch's connection counts as broken. Servers send a bookmark about every minute.
    /// Default: 2 min.
    #[builder(default = Duration::from_mins(2))]
    pub(crate) idle_timeout: Duration,
    /// The shortest delay after a failed list or watch; it doubles with each failure. Default: 800 ms.
    #[builder(default = Duration::from_millis(800))]
    pub(crate) min_backoff: Duration,
    /// The longest delay after a failed list or watch. Default: 30 s; 10 s while the server does not serve the kind.
    #[builder(default = Duration::from_secs(30))]
    pub(crate) max_backoff: Duration,
}

/// A resource of any version: what all representations of its objects have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ResourceName {
    pub(crate) group: String,
    pub(crate) plural: String,
}

impl ResourceName {
    pub(crate) fn of(resource: &ApiResource) -> Self {
        Self { group: resource.group.clone(), plural: resource.plural.clone() }
    }
}

impl<S: cache_options_builder::State> CacheOptionsBuilder<S> {
    /// Caches only these namespaces' objects, and those of cluster-scoped kinds. Default: all namespaces.
    pub fn namespaces(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        for name in names {
            self.namespaces.entry(name.into()).or_default();
        }
        self
    }

    /// Caches this namespace, too, with settings of its own.
    pub fn namespace(mut self, name: impl Into<String>, options: ScopeOptions) -> Self {
        self.namespaces.insert(name.into(), options);
        self
    }

    /// Besides the namespaces that are named, caches all others, too, with these settings.
    pub fn other_namespaces(mut self, options: ScopeOptions) -> Self {
        self.namespaces.insert(ALL_OTHERS.to_owned(), options);
        self
    }

    /// Sets what is special about a resource, in all its versions and representations. The last call for a resource
    /// counts.
    pub fn kind<K: Object>(mut self, kind: &Kind<K>, options: KindOptions) -> Self {
        self.kinds.insert(ResourceName::of(kind.resource()), options);
        self
    }

    /// Sets what is special about the resource of a type that states its kind; see [`kind`](Self::kind).
    pub fn kind_of<K: controller_runtime_scheme::TypedObject>(self, options: KindOptions) -> Self {
        self.kind(&Kind::<K>::typed(), options)
    }
}

impl Default for CacheOptions {
    fn default() -> Self {
        Self::builder().build()
    }
}

impl CacheOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// How long a read waits for the first list of its kind.
    pub fn sync_timeout(&self) -> Duration {
        self.sync_timeout
    }

    /// How long a read waits until the cache has seen what was written before.
    pub fn write_timeout(&self) -> Duration {
        self.write_timeout
    }

    /// Whether the first read of a kind starts its informer.
    pub fn reads_start_informers(&self) -> bool {
        self.reads_start_informers
    }

    /// What is special about a resource.
    pub(crate) fn special(&self, resource: &ApiResource) -> Option<&KindOptions> {
        self.kinds.get(&ResourceName::of(resource))
    }

    /// The same, with a resource's own settings in place of the defaults.
    pub(crate) fn of_resource(&self, resource: &ApiResource) -> Self {
        let mut options = self.clone();
        if let Some(special) = self.special(resource) {
            options.page_size = special.page_size.unwrap_or(self.page_size);
            options.resync = special.resync.unwrap_or(self.resync);
            options.bookmarks = special.bookmarks.unwrap_or(self.bookmarks);
            options.streaming_lists = special.streaming_lists.unwrap_or(self.streaming_lists);
        }
        options
    }
}
