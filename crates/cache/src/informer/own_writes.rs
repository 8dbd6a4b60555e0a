//! Reads that see our own writes: what an informer remembers of writes, and how reads wait for it.

use std::collections::BTreeSet;
use std::time::Duration;

use controller_runtime_client::ClientError;
use controller_runtime_scheme::{Object, ObjectKey};
use tokio::time::timeout;

use crate::error::CacheError;
use crate::informer::expectations::Until;
use crate::informer::look_up::Found;
use crate::informer::scope::{Scope, number};
use crate::informer::shared::Shared;
use crate::informer::write::{Ask, Target, Write, Written};
use crate::query::ListQuery;

impl<K: Object> Shared<K> {
    /// Remembers a write of ours that reads must see.
    pub(crate) fn wrote(&self, write: &Write) {
        match write {
            Write::Object(written) => self.wrote_object(written),
            Write::Gone { key, uid } => {
                let until = Until::Gone { uid: uid.clone(), later: None };
                self.expect(Target::Object(key.clone()), until);
            }
            Write::Unsure(target) => self.expect(target.clone(), Until::Unsure),
        }
    }

    fn wrote_object(&self, written: &Written) {
        let Some(scope) = self.covering(written.key.namespace.as_deref()).next() else { return };
        let target = || Target::Object(written.key.clone());
        let selection = &scope.plan.selection;
        let number = number(Some(&written.version));
        if selection.fields.is_some() || (number == 0 && !selection.labels.selects_all()) {
            // Only the server can tell whether the cache is to show it.
            self.expect(target(), Until::Unsure);
        } else if !selection.matches_labels(&written.labels) {
            // It never comes, and what there may be of it goes.
            self.expect(target(), Until::Only { alive: BTreeSet::new(), version: number });
        } else if number > 0 {
            scope.wrote(number);
            self.expectations.wrote_later(number, written.began);
        } else {
            let until = Until::Version { version: written.version.clone(), uid: written.uid.clone() };
            self.expect(target(), until);
        }
    }

    fn expect(&self, target: Target, until: Until) {
        // What is listed by somebody's own functions is not for us to ask the server for.
        if until == Until::Unsure && self.has_own_source || self.covering(target.namespace()).next().is_none() {
            return;
        }
        self.expectations.add(target, until);
        // A read that waits may have to ask the server now.
        self.progress.notify();
    }

    /// Whether the answer to a read shows what was written before it.
    pub(crate) fn is_caught_up(&self, ask: Ask<'_>) -> bool {
        self.covering(ask.namespace()).all(Scope::is_caught_up) && self.shows_nothing_gone(ask)
    }

    /// Whether nothing contradicts what is expected. To be asked again after the store was read: an informer that is
    /// behind may have put in, meanwhile, an object that we know to be gone.
    pub(crate) fn shows_nothing_gone(&self, ask: Ask<'_>) -> bool {
        let seen = |namespace: Option<&str>| self.covering(namespace).map(Scope::seen).min().unwrap_or_default();
        self.expectations.are_met(ask, &self.store, seen)
    }

    /// Waits until the answer to a read shows what was written before it, at most `within`. Where nobody knows what
    /// became of a write, the server is asked first. Cancel safe.
    pub(crate) async fn wait_for_writes(&self, ask: Ask<'_>, within: Duration) -> Result<(), CacheError> {
        let after = within.min(self.options.write_timeout);
        let unsure = || !self.expectations.unsure(ask).is_empty();
        let catch_up = async {
            while !self.is_caught_up(ask) && self.progress.ended().is_none() {
                self.look_up(ask).await?;
                let ready = || self.is_caught_up(ask) || self.progress.ended().is_some() || unsure();
                self.progress.until(after, ready).await;
            }
            Ok(())
        };
        if let Ok(Err(source)) = timeout(after, catch_up).await {
            return Err(CacheError::UnknownOutcome { kind: self.kind_name(), source });
        }
        if self.is_caught_up(ask) {
            return Ok(());
        }
        Err(match (self.progress.ended(), self.covering(ask.namespace()).find_map(Scope::denial)) {
            (Some(ended), _) => ended,
            (None, Some(denied)) => CacheError::Forbidden(denied),
            (None, None) => CacheError::Stale { kind: self.kind_name(), after },
        })
    }

    /// Asks the server what became of the writes of which nobody knows.
    async fn look_up(&self, ask: Ask<'_>) -> Result<(), ClientError> {
        for (id, target) in self.expectations.unsure(ask) {
            let mut all = Found { version: u64::MAX, ..Found::default() };
            for scope in self.covering(target.namespace()) {
                let found = Found::ask(&self.api, scope, &target).await?;
                scope.wrote(found.newest());
                all.version = all.version.min(found.version);
                all.unreadable |= found.unreadable;
                all.objects.extend(found.objects);
            }
            if all.version == 0 {
                self.expect_by_equality(&target, &all);
            } else if !all.unreadable {
                let until = Until::Only { alive: all.uids(), version: all.version };
                self.expectations.add(target, until);
            }
            self.expectations.settled(id);
        }
        Ok(())
    }

    /// What to expect where versions aren't numbers: the versions that the server has, and that what it has no more
    /// goes.
    fn expect_by_equality(&self, target: &Target, found: &Found) {
        for object in &found.objects {
            let until = Until::Version { version: object.version.clone(), uid: object.uid.clone() };
            self.expectations.add(Target::Object(object.key.clone()), until);
        }
        if found.unreadable {
            return;
        }
        let alive = found.uids();
        let shown = match target {
            Target::Object(key) => self.store.get(key).into_iter().collect(),
            Target::Objects { namespace, labels } => {
                let mut query = ListQuery::all().labels(labels.clone());
                query.namespace.clone_from(namespace);
                self.store.list(&query).unwrap_or_default()
            }
        };
        for object in shown {
            if let Some(uid) = object.meta().uid.clone().filter(|uid| !alive.contains(uid)) {
                let target = Target::Object(ObjectKey::of(&*object));
                self.expectations.add(target, Until::Gone { uid, later: None });
            }
        }
    }
}
