//! How a controller begins and ends.

use super::{Action, Bench, Duration, Event, Instant, Settings, done, ms, object};

#[tokio::test(start_paused = true)]
async fn b19_workers_wait_for_the_initial_list() {
    let bench = Bench::start(Settings::default(), done).await;
    bench.create("a");
    tokio::time::sleep(ms(1000)).await;
    assert_eq!(bench.log.of("a"), []);
    bench.synced();
    tokio::time::sleep(ms(1)).await;
    assert_eq!(bench.log.of("a"), [1000]);
}

#[tokio::test(start_paused = true)]
async fn b20_a_cache_that_does_not_sync_is_an_error_that_names_the_kind() {
    let bench = Bench::start(Settings::default(), done).await;
    let started = Instant::now();
    let error = bench.running.await.expect("no panic").expect_err("it gives up");
    assert_eq!(started.elapsed(), Duration::from_mins(2));
    assert_eq!(
        error.to_string(),
        "timed out waiting for cache of ConfigMap/v1 after 120s: the server does not serve the kind"
    );
}

#[tokio::test(start_paused = true)]
async fn b20_a_stop_while_syncing_is_no_error() {
    let bench = Bench::start(Settings::default(), done).await;
    tokio::time::sleep(ms(10)).await;
    bench.stop().await.expect("a stop is no error");
}

#[tokio::test(start_paused = true)]
async fn a_sync_time_out_that_no_clock_reaches_is_none() {
    let bench = Bench::start(Settings { sync_timeout: Some(Duration::MAX), ..Settings::default() }, done).await;
    bench.create("a");
    tokio::time::sleep(Duration::from_hours(24)).await;
    bench.synced();
    tokio::time::sleep(ms(1)).await;
    assert_eq!(bench.log.of("a").len(), 1);
    bench.stop().await.expect("a stop is no error");
}

#[tokio::test(start_paused = true)]
async fn a_source_that_fails_ends_the_controller_when_reconciles_have_ended() {
    let bench = Bench::start(Settings::default(), |_, cx| {
        Box::pin(async move {
            cx.cancelled().await;
            tokio::time::sleep(ms(30)).await;
            Ok(Action::done())
        })
    })
    .await;
    bench.synced();
    bench.create("a");
    tokio::time::sleep(ms(10)).await;
    bench.source.failed.cancel();
    let before = Instant::now();
    let error = bench.running.await.expect("no panic").expect_err("it ends");
    assert_eq!((error.to_string(), before.elapsed()), ("as asked".to_owned(), ms(30)));
}

#[tokio::test(start_paused = true)]
async fn a_stop_lets_reconciles_end_and_starts_no_more() {
    let bench = Bench::start(Settings::default(), |_, cx| {
        Box::pin(async move {
            cx.cancelled().await;
            tokio::time::sleep(ms(30)).await;
            Ok(Action::requeue())
        })
    })
    .await;
    bench.synced();
    bench.create("a");
    bench.create("b");
    tokio::time::sleep(ms(10)).await;
    let (log, before) = (bench.log.clone(), Instant::now());
    bench.stop().await.expect("a stop is no error");
    assert_eq!(before.elapsed(), ms(30));
    assert_eq!((log.of("a").len(), log.of("b").len()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn live_events_go_before_the_initial_list() {
    let bench = Bench::start(Settings::default(), done).await;
    for name in ["a", "b"] {
        bench.create(name);
        bench.event(&Event::Created { object: object("initial"), initial: true });
    }
    bench.put(&object("initial"));
    bench.synced();
    tokio::time::sleep(ms(10)).await;
    assert_eq!(bench.log.order(), ["a", "b", "initial"]);
}
