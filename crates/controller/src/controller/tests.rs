//! Controllers with sources and stores that tests hold in their hands, on a paused clock.

mod concurrency;
mod context;
mod metrics;
mod panics;
mod reads;
mod results;
mod sources;
mod start;
mod time_out;

use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::{Ambient, CancellationToken, Task};
use controller_runtime_cache::CacheError;
use controller_runtime_metrics::{Format, Registry};
use controller_runtime_scheme::ObjectKey;
use controller_runtime_workqueue::ItemBackoff;
use k8s_openapi::api::core::v1::ConfigMap;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::{ControllerError, Intake, Running};
use crate::action::Action;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::handler::itself;
use crate::reconciler::Reconciler;
use crate::runs::{Newest, Runs};
use crate::source::{Events, Feed, Source};
use crate::store::{Found, Store};
use crate::testing;
use crate::watch::Watch;
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

    fn order(&self) -> Vec<String> {
        self.0.lock().iter().map(|(name, ..)| name.clone()).collect()
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
    fn get<'a>(&'a self, key: &'a ObjectKey) -> Found<'a, ConfigMap> {
        Box::pin(std::future::ready(Ok(self.0.lock().get(key).cloned())))
    }

    fn version<'a>(&self, object: &'a ConfigMap) -> Option<&'a str> {
        object.metadata.resource_version.as_deref()
    }
}

/// A source that tells what the test gives it.
#[derive(Clone)]
struct Given {
    events: Arc<Mutex<Option<Events<ConfigMap>>>>,
    synced: CancellationToken,
    failed: CancellationToken,
}

impl Source<ConfigMap> for Given {
    fn name(&self) -> String {
        "given".to_owned()
    }

    async fn run(self, events: Events<ConfigMap>) -> Result<(), Box<dyn StdError + Send + Sync>> {
        *self.events.lock() = Some(events.clone());
        let synced = async {
            if tokio::time::timeout(events.sync_timeout(), self.synced.cancelled()).await.is_err() {
                return Err(CacheError::KindNotServed {
                    kind: "ConfigMap/v1".to_owned(),
                    after: events.sync_timeout(),
                });
            }
            events.synced();
            std::future::pending().await
        };
        tokio::select! {
            biased;
            () = self.failed.cancelled() => Err("as asked".into()),
            result = synced => Ok(result?),
        }
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
    options: Options,
    cancel_outdated: bool,
    sync_timeout: Option<Duration>,
    /// How its own kind is watched; all events by default.
    watch: Option<fn(Watch<ConfigMap>) -> Watch<ConfigMap>>,
    more: Vec<Feed>,
}

fn object(name: &str) -> Arc<ConfigMap> {
    let mut object = ConfigMap::default();
    object.metadata.name = Some(name.to_owned());
    object.metadata.namespace = Some("shop".to_owned());
    Arc::new(object)
}

/// The object in another version.
fn version(name: &str, version: &str) -> Arc<ConfigMap> {
    let mut object = (*object(name)).clone();
    object.metadata.resource_version = Some(version.to_owned());
    Arc::new(object)
}

fn done(_: usize, _: Context) -> Attempt {
    Box::pin(async { Ok(Action::done()) })
}

impl Bench {
    async fn start(settings: Settings, script: impl Fn(usize, Context) -> Attempt + Send + Sync + 'static) -> Self {
        let events = Arc::default();
        let source = Given { events, synced: CancellationToken::new(), failed: CancellationToken::new() };
        let (objects, log, metrics) = (Objects::default(), Log::default(), Registry::new());
        let ambient = Ambient::seeded(0);
        let client = testing::client(&ambient);
        let watch = settings.watch.unwrap_or(|watch| watch)(Watch::source(source.clone()));
        let runs = settings.cancel_outdated.then(|| Arc::new(Runs::default()));
        let feed = match &runs {
            Some(runs) => watch.feed(client.cache(), Newest(runs.clone())),
            None => watch.feed(client.cache(), itself()),
        };
        let max_concurrent = settings.max_concurrent.max(1);
        let worker = Worker {
            controller: "test".to_owned(),
            reconciler: Scripted { script: Box::new(script), log: log.clone(), since: Instant::now() },
            store: Box::new(objects.clone()),
            client,
            ambient: ambient.clone(),
            metrics: metrics.controller("test", max_concurrent),
            options: settings.options,
            runs,
        };
        let feeds = std::iter::once(feed).chain(settings.more).collect();
        let sync_timeout = settings.sync_timeout.unwrap_or(Duration::from_mins(2));
        let intake = Intake::new("test", &ambient, &metrics, Arc::new(ItemBackoff::default()), sync_timeout, feeds);
        let token = CancellationToken::new();
        let running = Running { intake, max_concurrent, worker };
        let running = ambient.spawn("controller", running.run(token.clone()));
        while source.events.lock().is_none() {
            tokio::task::yield_now().await;
        }
        Self { source, objects, log, metrics, token, running }
    }

    fn synced(&self) {
        self.source.synced.cancel();
    }

    fn event(&self, event: &Event<ConfigMap>) {
        let events = self.source.events.lock().clone();
        events.expect("the controller listens").emit(event);
    }

    fn put(&self, object: &Arc<ConfigMap>) {
        self.objects.0.lock().insert(ObjectKey::of(&**object), object.clone());
    }

    /// Puts an object into the store and tells of it.
    fn create(&self, name: &str) {
        let object = object(name);
        self.put(&object);
        self.event(&Event::Created { object, initial: false });
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
