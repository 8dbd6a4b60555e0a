use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use controller_runtime_client::{Api, ClientError, ListOptions, WatchEventType, WatchOptions, WatchStream};
use controller_runtime_scheme::Object;
use futures::future::BoxFuture;
use futures::stream::{BoxStream, StreamExt, try_unfold};

/// An object as a [`ListWatch`] gives it.
#[derive(Clone, Debug)]
pub enum Payload<K> {
    /// Its JSON text. One that doesn't fit its type is reported and skipped.
    Json(Bytes),
    /// The object.
    Object(Arc<K>),
}

/// One page of a list.
#[derive(Clone, Debug)]
pub struct ListPage<K> {
    /// The objects.
    pub items: Vec<Payload<K>>,
    /// The version that the list shows. The watch starts from the last page's.
    pub resource_version: String,
    /// What to ask for the next page with ([`ListOptions::continue_token`]); none on the last one.
    pub continue_token: Option<String>,
}

/// One event of a watch.
#[derive(Clone, Debug)]
pub struct WatchItem<K> {
    /// What happened. [`WatchEventType::Error`] is never given: errors end the stream as a [`ClientError`].
    pub event: WatchEventType,
    /// The object, of a deletion its last state, of a bookmark only its version (and annotations).
    pub object: Payload<K>,
}

/// The events of a watch, in order. An end without an error is no failure: the watch is opened again.
pub type WatchItems<K> = BoxStream<'static, Result<WatchItem<K>, ClientError>>;

/// Where an informer's objects come from. [`Api`] is one; a user's own can, for example, filter, add headers, or give
/// objects of something that isn't an API server.
///
/// The rules are those of the Kubernetes API: an expired version or token is an error of class
/// [`Expired`](controller_runtime_client::ErrorClass::Expired), upon which everything is listed again.
pub trait ListWatch<K: 'static>: Send + Sync + 'static {
    /// Reads a page of the objects that the options select. Its future must be bounded in time.
    fn list(&self, options: &ListOptions) -> impl Future<Output = Result<ListPage<K>, ClientError>> + Send;

    /// Starts a watch. Its future must be bounded in time; the stream needn't be.
    ///
    /// With [`WatchOptions::send_initial_events`] the watch gives all objects first, and then a bookmark with the
    /// annotation `k8s.io/initial-events-end`. An implementation that can't refuses with an error of class
    /// [`Invalid`](controller_runtime_client::ErrorClass::Invalid) or
    /// [`Terminal`](controller_runtime_client::ErrorClass::Terminal), and is asked for a list instead.
    fn watch(&self, options: &WatchOptions) -> impl Future<Output = Result<WatchItems<K>, ClientError>> + Send;
}

impl<K: Object> ListWatch<K> for Api<K> {
    async fn list(&self, options: &ListOptions) -> Result<ListPage<K>, ClientError> {
        let page = self.page(options).await?;
        let items = page.items.into_iter().map(Payload::Json).collect();
        Ok(ListPage { items, resource_version: page.resource_version, continue_token: page.continue_token })
    }

    async fn watch(&self, options: &WatchOptions) -> Result<WatchItems<K>, ClientError> {
        let stream = Self::watch(self, options).await?;
        let frames = try_unfold(stream, async |mut stream: WatchStream| {
            let frame = stream.next().await?;
            Ok(frame.map(|frame| (WatchItem { event: frame.event, object: Payload::Json(frame.object) }, stream)))
        });
        Ok(frames.boxed())
    }
}

/// A [`ListWatch`] of two functions.
#[derive(Clone, Debug)]
pub struct ListWatchFns<L, W> {
    list: L,
    watch: W,
}

impl<L, W> ListWatchFns<L, W> {
    /// Lists with `list` and watches with `watch`, which get the options.
    pub fn new<K: 'static, ListFuture, WatchFuture>(list: L, watch: W) -> Self
    where
        L: Fn(ListOptions) -> ListFuture + Send + Sync + 'static,
        ListFuture: Future<Output = Result<ListPage<K>, ClientError>> + Send,
        W: Fn(WatchOptions) -> WatchFuture + Send + Sync + 'static,
        WatchFuture: Future<Output = Result<WatchItems<K>, ClientError>> + Send,
    {
        Self { list, watch }
    }
}

impl<K, L, W, ListFuture, WatchFuture> ListWatch<K> for ListWatchFns<L, W>
where
    K: Send + Sync + 'static,
    L: Fn(ListOptions) -> ListFuture + Send + Sync + 'static,
    ListFuture: Future<Output = Result<ListPage<K>, ClientError>> + Send,
    W: Fn(WatchOptions) -> WatchFuture + Send + Sync + 'static,
    WatchFuture: Future<Output = Result<WatchItems<K>, ClientError>> + Send,
{
    fn list(&self, options: &ListOptions) -> impl Future<Output = Result<ListPage<K>, ClientError>> + Send {
        (self.list)(options.clone())
    }

    fn watch(&self, options: &WatchOptions) -> impl Future<Output = Result<WatchItems<K>, ClientError>> + Send {
        (self.watch)(options.clone())
    }
}

/// A [`ListWatch`] of whatever type, so that informers don't carry it in theirs.
pub(crate) trait AnyListWatch<K: 'static>: Send + Sync {
    fn list<'a>(&'a self, options: &'a ListOptions) -> BoxFuture<'a, Result<ListPage<K>, ClientError>>;
    fn watch<'a>(&'a self, options: &'a WatchOptions) -> BoxFuture<'a, Result<WatchItems<K>, ClientError>>;
}

impl<K: 'static, T: ListWatch<K>> AnyListWatch<K> for T {
    fn list<'a>(&'a self, options: &'a ListOptions) -> BoxFuture<'a, Result<ListPage<K>, ClientError>> {
        Box::pin(ListWatch::list(self, options))
    }

    fn watch<'a>(&'a self, options: &'a WatchOptions) -> BoxFuture<'a, Result<WatchItems<K>, ClientError>> {
        Box::pin(ListWatch::watch(self, options))
    }
}

/// A resource's own sources, by the type of their objects.
#[derive(Clone, Default)]
pub(crate) struct ListWatches {
    by_type: BTreeMap<TypeId, Arc<dyn Any + Send + Sync>>,
}

impl ListWatches {
    pub(crate) fn insert<K: Object>(&mut self, source: impl ListWatch<K>) {
        let source: Arc<dyn AnyListWatch<K>> = Arc::new(source);
        self.by_type.insert(TypeId::of::<K>(), Arc::new(source));
    }

    pub(crate) fn get<K: Object>(&self) -> Option<Arc<dyn AnyListWatch<K>>> {
        self.by_type.get(&TypeId::of::<K>())?.downcast_ref::<Arc<dyn AnyListWatch<K>>>().cloned()
    }
}

impl fmt::Debug for ListWatches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListWatches").field("types", &self.by_type.len()).finish()
    }
}
