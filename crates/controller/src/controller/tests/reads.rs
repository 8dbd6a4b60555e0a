//! Objects that cannot be read.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::{
    Ambient, Arc, CacheError, CancellationToken, ConfigMap, Duration, Found, Log, ObjectKey, Options, Registry,
    Scripted, Store, Worker, done, testing,
};

/// Counts reads, which all fail.
struct Unreadable {
    reads: Arc<AtomicUsize>,
    error: fn() -> CacheError,
}

impl Store<ConfigMap> for Unreadable {
    fn get<'a>(&'a self, _: &'a ObjectKey) -> Found<'a, ConfigMap> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(Err((self.error)())))
    }

    fn version<'a>(&self, _: &'a ConfigMap) -> Option<&'a str> {
        None
    }
}

/// How often an object is read within a minute that gives this error each time.
async fn reads(error: fn() -> CacheError) -> usize {
    let (ambient, reads) = (Ambient::seeded(0), Arc::new(AtomicUsize::new(0)));
    let worker = Worker {
        controller: "test".to_owned(),
        reconciler: Scripted { script: Box::new(done), log: Log::default(), since: tokio::time::Instant::now() },
        store: Box::new(Unreadable { reads: reads.clone(), error }),
        client: testing::client(&ambient),
        ambient: ambient.clone(),
        metrics: Registry::new().controller("test", 1),
        options: Options::default(),
        runs: None,
    };
    let (queue, token) = (controller_runtime_workqueue::Queue::new(&ambient), CancellationToken::new());
    queue.add(ObjectKey::namespaced("elsewhere", "a"));
    let ended = tokio::time::timeout(Duration::from_mins(1), worker.run(queue, token)).await;
    assert!(ended.is_err(), "a worker goes on after an error");
    reads.load(Ordering::SeqCst)
}

#[tokio::test(start_paused = true)]
async fn a_read_is_tried_again_only_if_that_can_help() {
    let unknown =
        || CacheError::UnknownNamespace { kind: "ConfigMap/v1".to_owned(), namespace: "elsewhere".to_owned() };
    assert_eq!(reads(unknown).await, 1);
    let late = || CacheError::NotStarted { kind: "ConfigMap/v1".to_owned() };
    assert!(reads(late).await > 5);
}
