use super::{Bench, Format, Settings, done, ms};

#[tokio::test(start_paused = true)]
async fn o22_the_number_of_series_does_not_depend_on_that_of_objects() {
    let bench = Bench::start(Settings::default(), done).await;
    let series = || {
        let text = bench.metrics.encode(Format::PrometheusText).expect("it encodes");
        assert!(!text.contains("shop") && !text.contains("object-"), "{text}");
        text.lines().filter(|line| !line.starts_with('#')).count()
    };
    bench.synced();
    bench.create("object-0");
    tokio::time::sleep(ms(10)).await;
    let one = series();
    (1..500).for_each(|at| bench.create(&format!("object-{at}")));
    tokio::time::sleep(ms(10)).await;
    assert_eq!((bench.results("success"), series()), ("500".to_owned(), one));
}
