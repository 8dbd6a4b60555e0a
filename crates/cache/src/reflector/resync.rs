use std::time::Duration;

use controller_runtime_scheme::Object;
use tokio::task::yield_now;
use tokio::time::sleep;

use crate::informer::Scope;
use crate::reflector::Reflector;
use crate::reflector::spread::resync_period;

/// How many objects handlers are told of in one go; changes come in between.
const BATCH: usize = 256;

impl<K: Object> Reflector<K> {
    /// Tells handlers of all objects again, now and then, without asking the server.
    pub(super) async fn resync(&self, scope: &Scope) {
        let period = self.shared.options.resync;
        if period == Duration::MAX || period.is_zero() {
            return std::future::pending().await;
        }
        loop {
            sleep(resync_period(&self.ambient, period)).await;
            let mut keys = self.shared.store.keys(scope.namespace());
            keys.retain(|key| scope.covers(key.namespace.as_deref()));
            for keys in keys.chunks(BATCH) {
                self.shared.repeat(keys);
                yield_now().await;
            }
        }
    }
}
