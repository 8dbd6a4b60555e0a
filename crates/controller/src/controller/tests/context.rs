//! What a reconcile has at hand.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Action, Arc, Bench, Error, Event, Mutex, Options, Settings, ms, version};

#[tokio::test(start_paused = true)]
async fn a_run_knows_its_attempt_and_has_an_id_of_its_own() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let bench = Bench::start(Settings::default(), {
        let seen = seen.clone();
        move |attempt, cx| {
            seen.lock().push((cx.attempt(), cx.reconcile_id().to_owned()));
            Box::pin(async move {
                match attempt {
                    0 => Err(Error::transient("broken")),
                    1 => Ok(Action::requeue()),
                    _ => Ok(Action::done()),
                }
            })
        }
    })
    .await;
    bench.synced();
    bench.create("a");
    tokio::time::sleep(ms(100)).await;
    bench.create("a");
    tokio::time::sleep(ms(100)).await;
    let seen = seen.lock();
    assert_eq!(seen.iter().map(|(attempt, _)| *attempt).collect::<Vec<_>>(), [1, 2, 3, 1]);
    let ids: std::collections::BTreeSet<_> = seen.iter().map(|(_, id)| id).collect();
    assert_eq!(ids.len(), 4);
}

/// Counts while it is there.
struct Alive(Arc<AtomicUsize>);

impl Alive {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count.clone())
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[tokio::test(start_paused = true)]
async fn tasks_end_with_their_run_however_it_ends() {
    let options = Options { timeout: Some(ms(50)), ..Options::default() };
    let alive = Arc::new(AtomicUsize::new(0));
    let bench = Bench::start(Settings { options, ..Settings::default() }, {
        let alive = alive.clone();
        move |attempt, cx| {
            let alive = alive.clone();
            Box::pin(async move {
                assert_eq!(alive.load(Ordering::SeqCst), 0, "those of the last run have ended");
                for _ in 0..3 {
                    let (alive, held) = (Alive::new(&alive), cx.clone());
                    cx.spawn("helper", async move {
                        held.cancelled().await;
                        std::future::pending::<()>().await;
                        drop(alive);
                    });
                }
                tokio::time::sleep(ms(1)).await;
                match attempt {
                    0 => Err(Error::transient("broken")),
                    1 => panic!("as asked"),
                    2 => std::future::pending().await,
                    _ => Ok(Action::done()),
                }
            })
        }
    })
    .await;
    bench.synced();
    bench.create("a");
    tokio::time::sleep(ms(500)).await;
    assert_eq!(bench.log.of("a"), [0, 6, 17, 87]);
    assert_eq!(alive.load(Ordering::SeqCst), 0);
    bench.stop().await.expect("a stop is no error");
}

#[tokio::test(start_paused = true)]
async fn nothing_starts_after_its_run() {
    let (ran, kept) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(None)));
    let bench = Bench::start(Settings::default(), {
        let kept = kept.clone();
        move |_, cx| {
            *kept.lock() = Some(cx);
            Box::pin(async { Ok(Action::done()) })
        }
    })
    .await;
    bench.synced();
    bench.create("a");
    tokio::time::sleep(ms(1)).await;
    let cx = kept.lock().take().expect("it has run");
    assert!(cx.is_cancelled());
    cx.spawn("late", {
        let ran = ran.clone();
        async move {
            ran.fetch_add(1, Ordering::SeqCst);
        }
    });
    tokio::time::sleep(ms(1)).await;
    assert_eq!(ran.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn a_newer_version_cancels_the_run_that_has_an_older_one() {
    let check = async |cancel_outdated, expected: &[u128], results: [&str; 2]| {
        let settings = Settings { cancel_outdated, ..Settings::default() };
        let bench = Bench::start(settings, |_, _| {
            Box::pin(async {
                tokio::time::sleep(ms(100)).await;
                Ok(Action::done())
            })
        })
        .await;
        bench.synced();
        let tell = |old, new| {
            bench.put(&version("a", new));
            bench.event(&Event::Updated { old: version("a", old), new: version("a", new) });
        };
        tell("0", "1");
        tokio::time::sleep(ms(10)).await;
        // The same version again is no reason.
        bench.event(&Event::Updated { old: version("a", "1"), new: version("a", "1") });
        tokio::time::sleep(ms(20)).await;
        tell("1", "2");
        tokio::time::sleep(ms(500)).await;
        assert_eq!(bench.log.of("a"), expected);
        assert_eq!([bench.results("success"), bench.results("requeue")], results);
        bench.stop().await.expect("a stop is no error");
    };
    check(true, &[0, 30], ["1", "1"]).await;
    check(false, &[0, 100], ["2", "0"]).await;
}
