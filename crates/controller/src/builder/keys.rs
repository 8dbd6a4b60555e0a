use controller_runtime_cache::Cache;
use controller_runtime_scheme::{ObjectKey, TypedObject};

use super::Controller;
use crate::handler::Handler;
use crate::store::{Keys, Store};
use crate::watch::Watch;

/// A controller of keys that watches nothing yet; see [`Controller::for_keys`]. It can be run when it watches something.
#[derive(Debug)]
#[must_use = "a controller does nothing until it is run"]
pub struct KeyController(Controller<ObjectKey>);

impl KeyController {
    pub(super) fn new(name: String) -> Self {
        Self(Controller::with(name, |_: &Cache| -> Box<dyn Store<ObjectKey>> { Box::new(Keys) }))
    }

    /// See [`Controller::watches`].
    pub fn watches<W: TypedObject>(
        self,
        map: impl Fn(&W, &Cache) -> Vec<ObjectKey> + Send + Sync + 'static,
    ) -> Controller<ObjectKey> {
        self.0.watches(map)
    }

    /// See [`Controller::watches_mapped`].
    pub fn watches_mapped<W: Send + Sync + 'static>(
        self,
        watch: Watch<W>,
        map: impl Fn(&W, &Cache) -> Vec<ObjectKey> + Send + Sync + 'static,
    ) -> Controller<ObjectKey> {
        self.0.watches_mapped(watch, map)
    }

    /// See [`Controller::watches_with`].
    pub fn watches_with<W: Send + Sync + 'static>(
        self,
        watch: Watch<W>,
        handler: impl Handler<W>,
    ) -> Controller<ObjectKey> {
        self.0.watches_with(watch, handler)
    }
}
