use std::pin::Pin;
use std::sync::Arc;

use controller_runtime_cache::{CacheError, Reader};
use controller_runtime_scheme::{Object, ObjectKey};

/// An object that is to be reconciled, or that there is none.
pub(crate) type Found<'a, K> = Pin<Box<dyn Future<Output = Result<Option<Arc<K>>, CacheError>> + Send + 'a>>;

/// Where a worker finds the object it is to reconcile.
pub(crate) trait Store<K>: Send + Sync + 'static {
    /// The object, not older than this program's own writes; `None` when it is gone.
    fn get<'a>(&'a self, key: &'a ObjectKey) -> Found<'a, K>;

    /// The object's version.
    fn version<'a>(&self, object: &'a K) -> Option<&'a str>;
}

impl<K: Object> Store<K> for Reader<K> {
    fn get<'a>(&'a self, key: &'a ObjectKey) -> Found<'a, K> {
        Box::pin(self.get_opt(key))
    }

    fn version<'a>(&self, object: &'a K) -> Option<&'a str> {
        object.meta().resource_version.as_deref()
    }
}

/// For controllers that reconcile keys: what is behind them is not their business.
#[derive(Debug)]
pub(crate) struct Keys;

impl Store<ObjectKey> for Keys {
    fn get<'a>(&'a self, key: &'a ObjectKey) -> Found<'a, ObjectKey> {
        Box::pin(std::future::ready(Ok(Some(Arc::new(key.clone())))))
    }

    fn version<'a>(&self, _: &'a ObjectKey) -> Option<&'a str> {
        None
    }
}
