//! Where events come from, and which count.

use std::sync::atomic::{AtomicUsize, Ordering};

use controller_runtime_scheme::ObjectKey;

use super::{Arc, Bench, ConfigMap, Duration, Event, Events, Instant, Settings, Source, StdError, done, ms, object};
use crate::handler::{key, mapped};
use crate::predicate;
use crate::source::{TrySendError, channel, channel_with_buffer};
use crate::testing;
use crate::watch::Watch;

fn feed<W: Send + Sync + 'static>(watch: Watch<W>, handler: impl crate::handler::Handler<W>) -> crate::source::Feed {
    let client = testing::client(&controller_runtime_ambient::Ambient::seeded(0));
    watch.isolated_feed(client.cache(), handler)
}

#[tokio::test(start_paused = true)]
async fn predicates_must_all_pass() {
    let watch: fn(Watch<ConfigMap>) -> Watch<ConfigMap> = |watch| {
        watch
            .with_predicate(predicate::resource_version_changed())
            .with_predicate(|event: &Event<ConfigMap>| event.object().metadata.name.as_deref() != Some("unwanted"))
    };
    let bench = Bench::start(Settings { watch: Some(watch), ..Settings::default() }, done).await;
    bench.synced();
    for name in ["unwanted", "wanted"] {
        bench.create(name);
        tokio::time::sleep(ms(10)).await;
        bench.event(&Event::Updated { old: object(name), new: object(name) });
    }
    tokio::time::sleep(ms(10)).await;
    assert_eq!((bench.log.of("unwanted"), bench.log.of("wanted")), (vec![], vec![10]));
}

#[tokio::test(start_paused = true)]
async fn a_predicate_that_panics_passes_its_event() {
    let watch: fn(Watch<ConfigMap>) -> Watch<ConfigMap> =
        |watch| watch.with_predicate(|_: &Event<ConfigMap>| panic!("as asked"));
    let bench = Bench::start(Settings { watch: Some(watch), ..Settings::default() }, done).await;
    bench.synced();
    bench.create("a");
    tokio::time::sleep(ms(1)).await;
    assert_eq!(bench.log.of("a").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_channel_brings_events_and_is_bounded() {
    let (sender, source) = channel();
    let settings = Settings { more: vec![feed(Watch::source(source), key())], ..Settings::default() };
    let bench = Bench::start(settings, done).await;
    bench.put(&object("a"));
    bench.synced();
    tokio::time::sleep(ms(5)).await;
    sender.send(ObjectKey::namespaced("shop", "a")).await.expect("the controller runs");
    tokio::time::sleep(ms(5)).await;
    assert_eq!(bench.log.of("a"), [5]);
    let bench = {
        // Nobody takes what is sent in one go: the buffer fills.
        let free = std::iter::from_fn(|| sender.try_send(ObjectKey::cluster("b")).ok()).take(2000).count();
        assert_eq!((free, sender.try_send(ObjectKey::cluster("b"))), (1024, Err(TrySendError::Full)));
        bench
    };
    bench.stop().await.expect("a stop is no error");
    sender.send(ObjectKey::cluster("b")).await.expect_err("nobody takes it");
    assert_eq!(sender.try_send(ObjectKey::cluster("b")), Err(TrySendError::Closed));
}

#[tokio::test(start_paused = true)]
async fn a_controller_goes_on_without_a_channel_that_is_closed() {
    let (sender, source) = channel_with_buffer::<ObjectKey>(1);
    let settings = Settings { more: vec![feed(Watch::source(source), key())], ..Settings::default() };
    let bench = Bench::start(settings, done).await;
    bench.synced();
    drop(sender);
    tokio::time::sleep(ms(5)).await;
    bench.create("a");
    tokio::time::sleep(ms(5)).await;
    assert_eq!(bench.log.of("a"), [5]);
}

/// A source of one's own that never says that it has synced.
struct Mute;

impl Source<ObjectKey> for Mute {
    fn name(&self) -> String {
        "mute".to_owned()
    }

    async fn run(self, _: Events<ObjectKey>) -> Result<(), Box<dyn StdError + Send + Sync>> {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn b20_a_source_that_does_not_sync_in_time_is_an_error() {
    let settings = Settings {
        more: vec![feed(Watch::source(Mute), key())],
        sync_timeout: Some(Duration::from_secs(10)),
        ..Settings::default()
    };
    let bench = Bench::start(settings, done).await;
    bench.synced();
    let started = Instant::now();
    let error = bench.running.await.expect("no panic").expect_err("it gives up");
    assert_eq!(error.to_string(), "timed out waiting for source mute to sync after 10s");
    assert_eq!(started.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_loses_its_event_only() {
    let (sender, source) = channel();
    let calls = Arc::new(AtomicUsize::new(0));
    let handler = mapped({
        let calls = calls.clone();
        move |key: &ObjectKey| {
            calls.fetch_add(1, Ordering::SeqCst);
            assert_ne!(key.name, "bad", "as asked");
            vec![key.clone()]
        }
    });
    let settings = Settings { more: vec![feed(Watch::source(source), handler)], ..Settings::default() };
    let bench = Bench::start(settings, done).await;
    bench.put(&object("good"));
    bench.synced();
    for name in ["bad", "good"] {
        sender.send(ObjectKey::namespaced("shop", name)).await.expect("the controller runs");
    }
    tokio::time::sleep(ms(5)).await;
    assert_eq!((calls.load(Ordering::SeqCst), bench.log.of("good").len()), (2, 1));
    bench.stop().await.expect("a stop is no error");
}
