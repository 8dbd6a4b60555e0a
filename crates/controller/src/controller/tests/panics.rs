use super::{Action, Bench, Duration, Options, Settings, ms};

#[tokio::test(start_paused = true)]
async fn b17_o23_a_panic_is_an_error_of_its_object_only() {
    let bench = Bench::start(Settings::default(), |_, cx| {
        Box::pin(async move {
            assert_ne!(cx.key().name, "bad", "as asked");
            Ok(Action::done())
        })
    })
    .await;
    bench.synced();
    bench.create("bad");
    bench.create("good");
    tokio::time::sleep(Duration::from_secs(1)).await;
    let attempts = bench.log.of("bad");
    assert_eq!(attempts, [0, 5, 15, 35, 75, 155, 315, 635]);
    assert_eq!(bench.log.of("good"), [0]);
    assert_eq!(bench.count("reconcile_panics_total"), attempts.len().to_string());
    assert_eq!(bench.count("reconcile_errors_total"), attempts.len().to_string());
    assert_eq!(bench.count("active_workers"), "0");
    bench.stop().await.expect("it has recovered");
}

#[tokio::test(start_paused = true)]
async fn o23_a_panic_ends_a_controller_that_is_not_to_recover() {
    let options = Options { recover_panics: false, ..Options::default() };
    let settings = Settings { options, ..Settings::default() };
    let bench = Bench::start(settings, |_, _| Box::pin(async { panic!("as asked") })).await;
    bench.synced();
    bench.create("a");
    tokio::time::sleep(ms(1)).await;
    assert_eq!(bench.count("active_workers"), "0");
    let error = bench.running.await.expect("the panic stays in its worker").expect_err("it ends");
    assert_eq!(error.to_string(), "task worker panicked: as asked");
}
