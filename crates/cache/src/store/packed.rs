use std::sync::Arc;

/// How the store keeps one object. The only thing that knows whether objects are kept decoded; readers don't.
pub(crate) trait Packed<K>: Clone + Send + Sync + 'static {
    fn pack(object: Arc<K>) -> Self;
    fn unpack(&self) -> Arc<K>;
}

/// Decoded and shared.
impl<K: Send + Sync + 'static> Packed<K> for Arc<K> {
    fn pack(object: Arc<K>) -> Self {
        object
    }

    fn unpack(&self) -> Arc<K> {
        self.clone()
    }
}
