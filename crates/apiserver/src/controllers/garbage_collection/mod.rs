//! Deletes objects whose owners are gone, and lets owners wait for, or let go of, what they own.

mod collector;
mod graph;
mod invalid_owner;
mod owners;

use std::sync::Arc;

use controller_runtime_ambient::CancellationToken;

use self::collector::Collector;
use super::run::run;
use crate::server::Door;

/// Runs garbage collection until the server stops.
pub(crate) async fn garbage_collection(door: Arc<Door>, stop: CancellationToken) {
    let store = Arc::clone(&door.core.store);
    run(Collector::new(door), store, stop).await;
}
