use super::{Action, Bench, Settings, ms};

#[tokio::test(start_paused = true)]
async fn o20_no_trigger_is_lost_and_no_limit_broken() {
    let settings = Settings { max_concurrent: 2, ..Settings::default() };
    let bench = Bench::start(settings, |_, _| {
        Box::pin(async {
            tokio::time::sleep(ms(100)).await;
            Ok(Action::done())
        })
    })
    .await;
    let names = ["a", "b", "c", "d", "e", "f"];
    bench.synced();
    for wait in [50, 100, 0] {
        for name in names {
            bench.create(name);
        }
        tokio::time::sleep(ms(wait)).await;
    }
    tokio::time::sleep(ms(1050)).await;
    assert_eq!(bench.count("active_workers"), "0", "all is idle after 1.2 s");
    assert_eq!(bench.count("max_concurrent_reconciles"), "2");
    let runs = bench.log.0.lock().clone();
    for name in names {
        let began = bench.log.of(name);
        assert!(began.len() <= 3 && began.last().is_some_and(|last| *last >= 150), "{name}: {began:?}");
    }
    for (name, began, _) in &runs {
        let during = |(_, from, to): &&(String, u128, u128)| from <= began && began < to;
        assert!(runs.iter().filter(during).count() <= 2, "at {began}: {runs:?}");
        assert_eq!(runs.iter().filter(during).filter(|(other, ..)| other == name).count(), 1, "{name} at {began}");
    }
}
