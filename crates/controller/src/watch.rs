use std::fmt;
use std::sync::Arc;

use controller_runtime_cache::{Cache, Selection};
use controller_runtime_scheme::{Kind, Object, PartialObjectMeta, TypedObject, Unstructured};

use crate::handler::Handler;
use crate::predicate::Predicate;
use crate::source::{Ending, Events, Feed, InformerSource, Inlet, Sink, Source};

/// A source whose type is hidden: its name, and how it runs.
struct Prepared<W> {
    name: String,
    run: Box<dyn FnOnce(Events<W>) -> Ending + Send>,
}

/// How a watch becomes a source, with the host's cache at hand.
type SetUp<W> = Box<dyn FnOnce(&Cache) -> Prepared<W> + Send>;

/// Where a controller's events come from, and which of them count.
///
/// All controllers of a host that watch a kind share one informer. Predicates are called where it tells of events, so they
/// must be quick; one that panics passes its event. Map functions and handlers of a user's own run in a task of their own:
/// a slow one delays nobody else. While it lags, up to 16 events of each object wait for it; of more updates in a row it
/// sees the first and the last. One that panics is reported, and its event leads nowhere.
#[must_use = "a watch does nothing until a controller has it"]
pub struct Watch<W> {
    set_up: SetUp<W>,
    predicates: Vec<Arc<dyn Predicate<W>>>,
}

impl<W: Object> Watch<W> {
    /// All events of a kind whose type states it.
    pub fn new() -> Self
    where
        W: TypedObject,
    {
        Self::of(Kind::typed())
    }

    /// All events of any kind.
    pub fn of(kind: Kind<W>) -> Self {
        Self::set_up(move |cache| prepare(InformerSource(cache.informer_of(&kind))))
    }

    /// The events of some objects of a kind. Only those are fetched and held.
    pub fn selecting(kind: Kind<W>, selection: Selection) -> Self {
        Self::set_up(move |cache| prepare(InformerSource(cache.informer_selecting(&kind, &selection))))
    }
}

impl Watch<Unstructured> {
    /// All events of a kind, of whose objects only the metadata is fetched and held.
    ///
    /// For a kind known at run time only, [`Watch::of`] with [`Kind::metadata_only`] does the same.
    pub fn metadata<W: TypedObject>() -> Watch<PartialObjectMeta> {
        Watch::of(Kind::<W>::typed().metadata_only())
    }
}

impl<W: Send + Sync + 'static> Watch<W> {
    /// The events of a [source](crate::source) that isn't a kind of the cluster.
    pub fn source(source: impl Source<W>) -> Self {
        Self::set_up(move |_| prepare(source))
    }

    fn set_up(set_up: impl FnOnce(&Cache) -> Prepared<W> + Send + 'static) -> Self {
        Self { set_up: Box::new(set_up), predicates: Vec::new() }
    }

    /// Only events that `predicate` passes; of several, all must.
    pub fn with_predicate(mut self, predicate: impl Predicate<W>) -> Self {
        self.predicates.push(Arc::new(predicate));
        self
    }

    /// Only events that all of `predicates` pass.
    pub(crate) fn with_predicates(self, predicates: Vec<Arc<dyn Predicate<W>>>) -> Self {
        Self { predicates, ..self }
    }

    /// The feed of a handler of ours, which is quick.
    pub(crate) fn feed(self, cache: &Cache, handler: impl Handler<W>) -> Feed {
        self.into_feed(cache, Box::new(handler), false)
    }

    /// The feed of a handler that may be slow.
    pub(crate) fn isolated_feed(self, cache: &Cache, handler: impl Handler<W>) -> Feed {
        self.into_feed(cache, Box::new(handler), true)
    }

    fn into_feed(self, cache: &Cache, handler: Box<dyn Handler<W>>, isolated: bool) -> Feed {
        let predicates = self.predicates;
        let Prepared { name, run } = (self.set_up)(cache);
        let run = move |inlet: Inlet| {
            let Inlet { queue, synced, sync_timeout } = inlet;
            run(Events::new(Sink { predicates, handler, queue, synced, sync_timeout, isolated }))
        };
        Feed { name, run: Box::new(run) }
    }
}

fn prepare<W: Send + Sync + 'static>(source: impl Source<W>) -> Prepared<W> {
    Prepared { name: source.name(), run: Box::new(move |events| Box::pin(source.run(events))) }
}

impl<W: TypedObject> Default for Watch<W> {
    fn default() -> Self {
        Self::new()
    }
}

impl<W> fmt::Debug for Watch<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("predicates", &self.predicates.len()).finish_non_exhaustive()
    }
}
