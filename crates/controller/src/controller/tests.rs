//! Controllers with sources and stores that tests hold in their hands, on a paused clock.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::{Ambient, CancellationToken, Task};
use controller_runtime_cache::CacheError;
use controller_runtime_metrics::{Format, Registry};
use controller_runtime_scheme::{Kind, ObjectKey};
use controller_runtime_workqueue::ItemBackoff;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::{ControllerError, Running};
use crate::action::Action;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::handler::{ControllerOwner, Itself};
use crate::predicate::{self, Predicate};
use crate::reconciler::Reconciler;
use crate::source::{Feed, KindFeed, Source};
use crate::store::Store;
use crate::testing;
use crate::worker::{Options, Worker};

type Attempt = Pin<Box<dyn Future<Output = Result<Action>> + Send>>;
type Script = Box<dyn Fn(usize, Context) -> Attempt + Send + Sync>;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// When reconciles began and ended, by object.
#[derive(Clone, Debug, Default)]
struct Log(Arc<Mutex<Vec<(String, u128, u128)>>>);

impl Log {
    fn of(&self, name: &str) -> Vec<u128> {
        self.0.lock().iter().filter(|(known, ..)| known == name).map(|(_, began, _)| *began).collect()
    }
}

/// Does what a script says for the n-th attempt on an object.
struct Scripted {
    script: Script,
    log: Log,
    since: Instant,
}

impl Reconciler<ConfigMap> for Scripted {
    async fn reconcile(&self, cx: &Context, object: Arc<ConfigMap>) -> Result<Action> {
        let name = object.metadata.name.clone().unwrap_or_default();
        let attempt = self.log.of(&name).len();
        let at = {
            let mut log = self.log.0.lock();
            log.push((name, self.since.elapsed().as_millis(), u128::MAX));
            log.len() - 1
        };
        let result = (self.script)(attempt, cx.clone()).await;
        if let Some((.., end)) = self.log.0.lock().get_mut(at) {
            *end = self.since.elapsed().as_millis();
        }
        result
    }
}

#[derive(Clone, Default)]
struct Objects(Arc<Mutex<BTreeMap<ObjectKey, Arc<ConfigMap>>>>);

impl Store<ConfigMap> for Objects {
    async fn get(&self, key: &ObjectKey) -> Result<Option<Arc<ConfigMap>>, CacheError> {
        Ok(self.0.lock().get(key).cloned())
    }
}

type Listener = Box<dyn Fn(Event<ConfigMap>) + Send + Sync>;

/// A source that tells what the test gives it.
#[derive(Clone)]
struct Given {
    listener: Arc<Mutex<Option<Listener>>>,
    synced: CancellationToken,
}

impl Source<ConfigMap> for Given {
    type Subscription = ();

    fn subscribe(&self, listener: impl Fn(Event<ConfigMap>) + Send + Sync + 'static) {
        *self.listener.lock() = Some(Box::new(listener));
    }

    async fn wait_for_sync(&self, within: Duration) -> Result<(), CacheError> {
        let synced = tokio::time::timeout(within, self.synced.cancelled()).await;
        synced.map_err(|_| CacheError::KindNotServed { kind: "ConfigMap/v1".to_owned(), after: within })
    }
}

/// A controller whose parts the test holds.
struct Bench {
    source: Given,
    objects: Objects,
    log: Log,
    metrics: Registry,
    token: CancellationToken,
    running: Task<Result<(), ControllerError>>,
}

#[derive(Default)]
struct Settings {
    max_concurrent: usize,
    timeout: Option<Duration>,
    keep_panics: bool,
    predicates: Vec<Arc<dyn Predicate<ConfigMap>>>,
    owner: Option<ControllerOwner>,
}

fn object(name: &str) -> Arc<ConfigMap> {
    let mut object = ConfigMap::default();
    object.metadata.name = Some(name.to_owned());
    object.metadata.namespace = Some("shop".to_owned());
    Arc::new(object)
}

impl Bench {
    async fn start(settings: Settings, script: impl Fn(usize, Context) -> Attempt + Send + Sync + 'static) -> Self {
        let source = Given { listener: Arc::default(), synced: CancellationToken::new() };
        let (objects, log, metrics) = (Objects::default(), Log::default(), Registry::new());
        let ambient = Ambient::seeded(0);
        let (given, predicates) = (source.clone(), settings.predicates);
        let feed: Box<dyn Feed> = match settings.owner {
            Some(handler) => Box::new(KindFeed { source: given, predicates, handler }),
            None => Box::new(KindFeed { source: given, predicates, handler: Itself }),
        };
        let max_concurrent = settings.max_concurrent.max(1);
        let worker = Worker {
            controller: "test".to_owned(),
            reconciler: Arc::new(Scripted { script: Box::new(script), log: log.clone(), since: Instant::now() }),
            store: objects.clone(),
            client: testing::client(&ambient),
            ambient: ambient.clone(),
            metrics: metrics.controller("test", max_concurrent),
            options: Options { timeout: settings.timeout, recover_panics: !settings.keep_panics },
        };
        let running = Running {
            name: "test".to_owned(),
            ambient: ambient.clone(),
            metrics: metrics.clone(),
            backoff: ItemBackoff::default(),
            max_concurrent,
            sync_timeout: Duration::from_mins(2),
            worker,
        };
        let token = CancellationToken::new();
        let running = ambient.spawn("controller", running.run::<ConfigMap>(vec![feed], token.clone()));
        // It subscribes before it first waits.
        tokio::task::yield_now().await;
        Self { source, objects, log, metrics, token, running }
    }

    fn synced(&self) {
        self.source.synced.cancel();
    }

    fn event(&self, event: Event<ConfigMap>) {
        let listener = self.source.listener.lock();
        listener.as_ref().expect("the controller listens")(event);
    }

    /// Puts an object into the store and tells of it.
    fn create(&self, name: &str) {
        let object = object(name);
        self.objects.0.lock().insert(ObjectKey::of(&*object), object.clone());
        self.event(Event::Created { object, initial: false });
    }

    /// The value of a series.
    fn metric(&self, series: &str) -> String {
        let text = self.metrics.encode(Format::PrometheusText).expect("it encodes");
        let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {series} in {text}")).to_owned()
    }

    fn results(&self, result: &str) -> String {
        self.metric(&format!(r#"controller_runtime_reconcile_total{{controller="test",result="{result}"}}"#))
    }

    fn count(&self, family: &str) -> String {
        self.metric(&format!(r#"controller_runtime_{family}{{controller="test"}}"#))
    }

    async fn stop(self) -> Result<(), ControllerError> {
        self.token.cancel();
        self.running.await.expect("it does not panic")
    }
}

#[tokio::test(start_paused = true)]
async fn b12_an_error_backs_off_and_b14_a_delay_forgets_it() {
    let bench = Bench::start(Settings::default(), |attempt, _| {
        Box::pin(async move {
            match attempt {
                4 => Ok(Action::requeue_after(ms(200))),
                6 => Ok(Action::done()),
                _ => Err(Error::transient("broken")),
            }
        })
    })
    .await;
    bench.synced();
    bench.create("a");
    tokio::time::sleep(ms(1000)).await;
    // 5, 10, 20 and 40 ms after each other, then 200 ms, then 5 ms again.
    assert_eq!(bench.log.of("a"), [0, 5, 15, 35, 75, 275, 280]);
    assert_eq!((bench.results("error"), bench.results("requeue_after")), ("5".to_owned(), "1".to_owned()));
    assert_eq!((bench.results("success"), bench.results("requeue")), ("1".to_owned(), "0".to_owned()));
    assert_eq!(bench.count("reconcile_errors_total"), "5");
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

#[tokio::test(start_paused = true)]
async fn a_panic_is_an_error_of_its_object_only() {
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
    tokio::time::sleep(ms(80)).await;
    assert_eq!(bench.log.of("bad"), [0, 5, 15, 35, 75]);
    assert_eq!(bench.log.of("good"), [0]);
    assert_eq!(bench.count("reconcile_panics_total"), "5");
    assert_eq!(bench.count("reconcile_errors_total"), "5");
    assert_eq!(bench.count("active_workers"), "0");
    bench.stop().await.expect("it has recovered");
}

#[tokio::test(start_paused = true)]
async fn a_panic_ends_a_controller_that_is_not_to_recover() {
    let settings = Settings { keep_panics: true, ..Settings::default() };
    let bench = Bench::start(settings, |_, _| Box::pin(async { panic!("as asked") })).await;
    bench.synced();
    bench.create("a");
    let error = bench.running.await.expect("the panic stays in its worker").expect_err("it ends");
    assert_eq!(error.to_string(), "task worker panicked: as asked");
}

#[tokio::test(start_paused = true)]
async fn b18_only_its_own_deadline_counts_as_a_time_out() {
    let settings = Settings { timeout: Some(ms(50)), ..Settings::default() };
    let bench = Bench::start(settings, |attempt, _| {
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

#[tokio::test(start_paused = true)]
async fn b19_workers_wait_for_the_initial_list() {
    let bench = Bench::start(Settings::default(), |_, _| Box::pin(async { Ok(Action::done()) })).await;
    bench.create("a");
    tokio::time::sleep(ms(1000)).await;
    assert_eq!(bench.log.of("a"), []);
    bench.synced();
    tokio::time::sleep(ms(1)).await;
    assert_eq!(bench.log.of("a"), [1000]);
}

#[tokio::test(start_paused = true)]
async fn b20_a_cache_that_does_not_sync_is_an_error_that_names_the_kind() {
    let bench = Bench::start(Settings::default(), |_, _| Box::pin(async { Ok(Action::done()) })).await;
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
    let bench = Bench::start(Settings::default(), |_, _| Box::pin(async { Ok(Action::done()) })).await;
    tokio::time::sleep(ms(10)).await;
    bench.stop().await.expect("a stop is no error");
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_gone_is_not_reconciled() {
    let bench = Bench::start(Settings::default(), |_, _| Box::pin(async { Ok(Action::done()) })).await;
    bench.synced();
    bench.event(Event::Deleted { object: object("a"), final_state_unknown: false });
    bench.create("b");
    tokio::time::sleep(ms(10)).await;
    assert_eq!((bench.log.of("a").len(), bench.log.of("b").len()), (0, 1));
    assert_eq!(bench.results("success"), "1");
}

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
    let bench = Bench::start(Settings::default(), |_, _| Box::pin(async { Ok(Action::done()) })).await;
    for name in ["a", "b"] {
        bench.create(name);
        bench.event(Event::Created { object: object("initial"), initial: true });
    }
    bench.objects.0.lock().insert(ObjectKey::of(&*object("initial")), object("initial"));
    bench.synced();
    tokio::time::sleep(ms(10)).await;
    let order: Vec<String> = bench.log.0.lock().iter().map(|(name, ..)| name.clone()).collect();
    assert_eq!(order, ["a", "b", "initial"]);
}

#[tokio::test(start_paused = true)]
async fn a_priority_is_kept_unless_the_action_says_otherwise() {
    let bench = Bench::start(Settings::default(), |attempt, cx| {
        Box::pin(async move {
            Ok(match (cx.key().name.as_str(), attempt) {
                ("kept", 0) => Action::requeue_after(ms(10)),
                ("raised", 0) => Action::requeue_after(ms(10)).with_priority(1),
                ("blocks", _) => {
                    tokio::time::sleep(ms(50)).await;
                    Action::done()
                }
                _ => Action::done(),
            })
        })
    })
    .await;
    for name in ["kept", "raised"] {
        bench.objects.0.lock().insert(ObjectKey::of(&*object(name)), object(name));
        bench.event(Event::Created { object: object(name), initial: true });
    }
    bench.synced();
    tokio::time::sleep(ms(5)).await;
    bench.create("blocks");
    tokio::time::sleep(ms(20)).await;
    bench.create("live");
    tokio::time::sleep(ms(100)).await;
    let order: Vec<String> = bench.log.0.lock().iter().map(|(name, ..)| name.clone()).collect();
    assert_eq!(order, ["kept", "raised", "blocks", "raised", "live", "kept"]);
}

#[tokio::test(start_paused = true)]
async fn predicates_must_all_pass() {
    let predicates: Vec<Arc<dyn Predicate<ConfigMap>>> = vec![
        Arc::new(predicate::resource_version_changed()),
        Arc::new(|event: &Event<ConfigMap>| event.object().metadata.name.as_deref() != Some("unwanted")),
    ];
    let bench =
        Bench::start(Settings { predicates, ..Settings::default() }, |_, _| Box::pin(async { Ok(Action::done()) }))
            .await;
    bench.synced();
    for name in ["unwanted", "wanted"] {
        bench.create(name);
        tokio::time::sleep(ms(10)).await;
        bench.event(Event::Updated { old: object(name), new: object(name) });
    }
    tokio::time::sleep(ms(10)).await;
    assert_eq!((bench.log.of("unwanted"), bench.log.of("wanted")), (vec![], vec![10]));
}

#[tokio::test(start_paused = true)]
async fn events_of_what_it_owns_lead_to_the_owner() {
    let settings = Settings { owner: Some(ControllerOwner::of(&Kind::<ConfigMap>::typed())), ..Settings::default() };
    let bench = Bench::start(settings, |_, _| Box::pin(async { Ok(Action::done()) })).await;
    bench.objects.0.lock().insert(ObjectKey::of(&*object("owner")), object("owner"));
    bench.synced();
    bench.create("owned by nobody");
    let mut owned = (*object("owned")).clone();
    owned.metadata.owner_references = Some(vec![OwnerReference {
        api_version: "v1".to_owned(),
        kind: "ConfigMap".to_owned(),
        name: "owner".to_owned(),
        controller: Some(true),
        ..OwnerReference::default()
    }]);
    bench.event(Event::Deleted { object: Arc::new(owned), final_state_unknown: true });
    tokio::time::sleep(ms(10)).await;
    assert_eq!((bench.log.of("owner").len(), bench.log.0.lock().len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn the_number_of_series_does_not_depend_on_that_of_objects() {
    let bench = Bench::start(Settings::default(), |_, _| Box::pin(async { Ok(Action::done()) })).await;
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
