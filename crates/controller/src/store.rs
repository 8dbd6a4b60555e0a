use std::sync::Arc;

use controller_runtime_cache::{CacheError, Reader};
use controller_runtime_scheme::{Object, ObjectKey};

/// Where a worker finds the object it is to reconcile.
pub(crate) trait Store<K>: Send + Sync + 'static {
    /// The object, not older than this program's own writes; `None` when it is gone.
    fn get(&self, key: &ObjectKey) -> impl Future<Output = Result<Option<Arc<K>>, CacheError>> + Send;
}

impl<K: Object> Store<K> for Reader<K> {
    async fn get(&self, key: &ObjectKey) -> Result<Option<Arc<K>>, CacheError> {
        self.get_opt(key).await
    }
}
