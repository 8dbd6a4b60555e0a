//! Empties namespaces that are being deleted, and then lets them go.

mod conditions;
mod content;
mod deleter;

use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::CancellationToken;

use self::deleter::Deleter;
use super::run::run;
use crate::server::Door;

/// Runs namespace deletion until the server stops; a namespace is emptied when `delay` has passed.
pub(crate) async fn namespace_deletion(door: Arc<Door>, delay: Duration, stop: CancellationToken) {
    let store = Arc::clone(&door.core.store);
    run(Deleter::new(door, delay), store, stop).await;
}
