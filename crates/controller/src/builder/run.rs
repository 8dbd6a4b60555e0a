use std::convert::Infallible;
use std::sync::Arc;

use super::Controller;
use crate::controller::{Intake, Running};
use crate::host::{AddError, Host};
use crate::reconciler::Reconciler;
use crate::runnable::{Runnable, Stage};
use crate::runs::Runs;
use crate::worker::Worker;

impl<K: Send + Sync + 'static> Controller<K> {
    /// Lets `host` run the controller with `reconciler`. Gives an error when a controller of its name is there, or the
    /// host is stopping.
    ///
    /// Writes of the reconciler are attributed to the host's field manager or, when it has none, to the controller's
    /// name.
    pub fn run<R: Reconciler<K>>(self, reconciler: R, host: &(impl Host + ?Sized)) -> Result<(), AddError> {
        let runs = self.cancel_outdated.then(|| Arc::new(Runs::default()));
        let (name, ambient, cache) = (self.name, host.ambient().clone(), host.cache());
        let by_kind = || self.kind.as_ref().and_then(|kind| host.concurrency_of(kind.group(), kind.kind()));
        let max_concurrent = self.max_concurrent.or_else(by_kind).unwrap_or(1).max(1);
        let own = self.own.map(|own| own(cache, self.predicates, runs.clone()));
        let feeds = own.into_iter().chain(self.watches.into_iter().map(|set_up| set_up(cache))).collect();
        let live = host.client().live();
        let client = match live.field_manager() {
            Some(_) => host.client().clone(),
            None => host.client().with_client(live.clone().with_field_manager(&name)),
        };
        let worker = Worker {
            controller: name.clone(),
            reconciler,
            store: (self.store)(cache),
            client,
            ambient: ambient.clone(),
            metrics: host.metrics().controller(&name, max_concurrent),
            options: self.options,
            runs,
        };
        let intake = Intake::new(&name, &ambient, host.metrics(), self.rate_limiter, self.sync_timeout, feeds);
        let running = Running { intake: intake.clone(), max_concurrent, worker };
        host.add(Runnable::new(format!("controller {name}"), move |token| running.run(token)))?;
        if self.warm_up {
            let warm_up = Runnable::new(format!("warm-up of controller {name}"), move |_| async move {
                intake.warm_up();
                Ok::<_, Infallible>(())
            });
            host.add(warm_up.in_stage(Stage::WarmUp))?;
        }
        Ok(())
    }
}
