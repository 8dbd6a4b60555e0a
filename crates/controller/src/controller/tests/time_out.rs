use super::{Action, Bench, Duration, Options, Settings, ms};

fn timeout(timeout: Duration, timeout_includes_wait: bool) -> Settings {
    let options = Options { timeout: Some(timeout), timeout_includes_wait, ..Options::default() };
    Settings { options, ..Settings::default() }
}

#[tokio::test(start_paused = true)]
async fn b18_only_its_own_deadline_counts_as_a_time_out() {
    let bench = Bench::start(timeout(ms(50), false), |attempt, _| {
        Box::pin(async move {
            match attempt {
                0 => tokio::time::timeout(ms(20), std::future::pending::<()>()).await?,
                1 => tokio::time::sleep(ms(51)).await,
                _ => {}
            }
            Ok(Action::done())
        })
    })
    .await;
    bench.synced();
    bench.create("a");
    tokio::time::sleep(ms(500)).await;
    assert_eq!(bench.log.of("a"), [0, 25, 85]);
    assert_eq!(bench.count("reconcile_timeouts_total"), "1");
    assert_eq!(bench.count("reconcile_errors_total"), "2");
}

/// How often the second of two objects runs into its time-out, when the first takes 40 of its 50 ms before it and the
/// second as much after it.
async fn timeouts(includes_wait: bool) -> String {
    let bench = Bench::start(timeout(ms(50), includes_wait), |attempt, _| {
        Box::pin(async move {
            if attempt == 0 {
                tokio::time::sleep(ms(40)).await;
            }
            Ok(Action::done())
        })
    })
    .await;
    bench.synced();
    bench.create("a");
    bench.create("b");
    tokio::time::sleep(ms(500)).await;
    assert_eq!(bench.results("success"), "2");
    bench.count("reconcile_timeouts_total")
}

#[tokio::test(start_paused = true)]
async fn a_deadline_includes_the_wait_for_a_worker_only_where_that_is_asked_for() {
    assert_eq!((timeouts(false).await, timeouts(true).await), ("0".to_owned(), "1".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_time_out_that_no_clock_reaches_is_none() {
    let bench = Bench::start(timeout(Duration::MAX, true), |_, cx| {
        Box::pin(async move {
            assert_eq!(cx.deadline(), None);
            Ok(Action::done())
        })
    })
    .await;
    bench.synced();
    bench.create("a");
    tokio::time::sleep(ms(1)).await;
    assert_eq!(bench.results("success"), "1");
}
