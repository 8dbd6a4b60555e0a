//! What a reconciler gives back, and when the object comes again.

use std::time::Duration;

use super::{Action, Bench, Error, Event, Settings, done, ms, object};

#[tokio::test(start_paused = true)]
async fn b12_an_error_retries_with_back_off() {
    let bench = Bench::start(Settings::default(), |_, _| Box::pin(async { Err(Error::transient("broken")) })).await;
    bench.synced();
    bench.create("a");
    tokio::time::sleep(ms(160)).await;
    assert_eq!(bench.log.of("a"), [0, 5, 15, 35, 75, 155]);
    assert_eq!((bench.results("error"), bench.count("reconcile_errors_total")), ("6".to_owned(), "6".to_owned()));
    assert_eq!(bench.count("terminal_reconcile_errors_total"), "0");
    bench.stop().await.expect("a stop is no error");
}

#[tokio::test(start_paused = true)]
async fn b13_a_terminal_error_waits_for_the_next_event() {
    let bench = Bench::start(Settings::default(), |_, _| Box::pin(async { Err(Error::terminal("nonsense")) })).await;
    bench.synced();
    bench.create("a");
    tokio::time::sleep(Duration::from_hours(1)).await;
    assert_eq!(bench.log.of("a").len(), 1);
    assert_eq!((bench.results("error"), bench.count("reconcile_errors_total")), ("1".to_owned(), "1".to_owned()));
    assert_eq!(bench.count("terminal_reconcile_errors_total"), "1");
    bench.create("a");
    tokio::time::sleep(ms(1)).await;
    assert_eq!(bench.log.of("a").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn b14_a_delay_forgets_failures() {
    let bench = Bench::start(Settings::default(), |attempt, _| {
        Box::pin(async move {
            match attempt {
                0 | 1 | 3 => Err(Error::transient("broken")),
                2 => Ok(Action::requeue_after(ms(200))),
                _ => Ok(Action::done()),
            }
        })
    })
    .await;
    bench.synced();
    bench.create("a");
    tokio::time::sleep(ms(1000)).await;
    // 5 and 10 ms after failures, 200 ms as asked, and then 5 ms again.
    assert_eq!(bench.log.of("a"), [0, 5, 15, 215, 220]);
    assert_eq!(bench.results("requeue_after"), "1");
}

#[tokio::test(start_paused = true)]
async fn b15_success_forgets_failures() {
    let bench = Bench::start(Settings::default(), |attempt, _| {
        Box::pin(async move { if attempt == 2 { Ok(Action::done()) } else { Err(Error::transient("broken")) } })
    })
    .await;
    bench.synced();
    bench.create("a");
    tokio::time::sleep(ms(100)).await;
    bench.create("a");
    tokio::time::sleep(ms(20)).await;
    assert_eq!(bench.log.of("a"), [0, 5, 15, 100, 105, 115]);
    assert_eq!(bench.results("success"), "1");
}

#[tokio::test(start_paused = true)]
async fn a_requeue_backs_off_until_it_is_done() {
    let bench = Bench::start(Settings::default(), |attempt, _| {
        Box::pin(async move { Ok(if attempt < 3 { Action::requeue() } else { Action::done() }) })
    })
    .await;
    bench.synced();
    bench.create("a");
    tokio::time::sleep(ms(500)).await;
    bench.create("a");
    tokio::time::sleep(ms(500)).await;
    assert_eq!(bench.log.of("a"), [0, 5, 15, 35, 500]);
    assert_eq!((bench.results("requeue"), bench.results("success")), ("3".to_owned(), "2".to_owned()));
}

/// Two objects are queued with low priority and asked to come again; while another is being reconciled they and a live
/// one become ready. `again` says how the one named "raised" comes again, the one named "kept" does the default.
async fn order(again: fn(bool) -> super::Result<Action>) -> Vec<String> {
    let bench = Bench::start(Settings::default(), move |attempt, cx| {
        Box::pin(async move {
            match (cx.key().name.as_str(), attempt) {
                ("kept", 0) => again(false),
                ("raised", 0) => again(true),
                ("blocks", _) => {
                    tokio::time::sleep(ms(50)).await;
                    Ok(Action::done())
                }
                _ => Ok(Action::done()),
            }
        })
    })
    .await;
    for name in ["kept", "raised"] {
        bench.put(&object(name));
        bench.event(&Event::Created { object: object(name), initial: true });
    }
    bench.synced();
    tokio::time::sleep(ms(1)).await;
    bench.create("blocks");
    tokio::time::sleep(ms(20)).await;
    bench.create("live");
    tokio::time::sleep(ms(100)).await;
    bench.log.order()
}

#[tokio::test(start_paused = true)]
async fn b16_a_priority_is_kept_unless_the_result_says_otherwise() {
    let expected = ["kept", "raised", "blocks", "raised", "live", "kept"];
    let check = async |again: fn(bool) -> super::Result<Action>| assert_eq!(order(again).await, expected);
    check(|raise| {
        let action = Action::requeue_after(ms(10));
        Ok(if raise { action.with_priority(1) } else { action })
    })
    .await;
    check(|raise| Ok(if raise { Action::requeue().with_priority(1) } else { Action::requeue() })).await;
    check(|raise| {
        let error = Error::transient("broken");
        Err(if raise { error.with_priority(1) } else { error })
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn o22_errors_delays_and_terminal_errors_count_apart() {
    let bench = Bench::start(Settings::default(), |attempt, cx| {
        Box::pin(async move {
            match (cx.key().name.as_str(), attempt) {
                ("hopeless", _) => Err(Error::terminal("nonsense")),
                (_, 4) => Ok(Action::requeue_after(ms(200))),
                _ => Err(Error::transient("broken")),
            }
        })
    })
    .await;
    let results = || ["success", "error", "requeue", "requeue_after"].map(|result| bench.results(result));
    assert_eq!(results(), ["0", "0", "0", "0"], "all four are there at the start");
    bench.synced();
    bench.create("a");
    bench.create("hopeless");
    // Up to the failure after the delay, whose retry would come at 280.
    tokio::time::sleep(ms(278)).await;
    assert_eq!(bench.log.of("a"), [0, 5, 15, 35, 75, 275]);
    assert_eq!(bench.log.of("hopeless").len(), 1);
    assert_eq!(results(), ["0", "6", "0", "1"]);
    assert_eq!(bench.count("reconcile_errors_total"), "6");
    assert_eq!(bench.count("terminal_reconcile_errors_total"), "1");
    // After the success before it the failure had the shortest back-off.
    tokio::time::sleep(ms(3)).await;
    assert_eq!(bench.log.of("a").last(), Some(&280));
}

#[tokio::test(start_paused = true)]
async fn a_server_is_not_waited_for_without_end() {
    use controller_runtime_client::{ClientError, RequestInfo, Status, Verb};

    let throttled = || ClientError::Status {
        request: Box::new(RequestInfo::new(Verb::Get, "ConfigMap/v1")),
        status: Box::new(Status::failure("later", "TooManyRequests").with_code(429)),
        retry_after: Some(Duration::MAX),
    };
    let bench = Bench::start(Settings::default(), move |_, _| {
        let error = throttled();
        Box::pin(async move { Err(error.into()) })
    })
    .await;
    bench.synced();
    bench.create("a");
    tokio::time::sleep(Duration::from_secs(1001)).await;
    assert_eq!(bench.log.of("a"), [0, 1_000_000]);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_gone_is_not_reconciled() {
    let bench = Bench::start(Settings::default(), done).await;
    bench.synced();
    bench.event(&Event::Deleted { object: object("a"), final_state_unknown: false });
    bench.create("b");
    tokio::time::sleep(ms(10)).await;
    assert_eq!((bench.log.of("a").len(), bench.log.of("b").len()), (0, 1));
    assert_eq!(bench.results("success"), "1");
}
