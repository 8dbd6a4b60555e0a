use std::collections::BTreeMap;
use std::time::Duration;

use futures::future::join_all;
use parking_lot::RwLock;

use crate::health::check::Check;
use crate::health::report::{Report, Verdict};

/// The check that is there when no other is.
const PING: &str = "ping";

/// The named checks behind one endpoint.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    named: RwLock<BTreeMap<String, Check>>,
}

impl Checks {
    /// Adds a check, or replaces the one of that name.
    pub(crate) fn add(&self, name: &str, check: Check) {
        self.named.write().insert(name.to_owned(), check);
    }

    /// Asks all checks at once, but the `excluded` ones; each within `timeout`, if there is one. Without any check there
    /// is one, `ping`, which passes.
    pub(crate) async fn ask(&self, endpoint: &str, excluded: &[String], timeout: Option<Duration>) -> Report {
        let mut checks = self.named.read().clone();
        if checks.is_empty() {
            checks.insert(PING.to_owned(), ping());
        }
        let asked = checks.iter().map(|(name, check)| async {
            let verdict =
                if excluded.contains(name) { Verdict::Excluded } else { verdict(endpoint, name, check, timeout).await };
            (name.clone(), verdict)
        });
        Report::new(endpoint, join_all(asked).await.into_iter().collect(), excluded)
    }

    /// Asks one check; `None` when there is none of that name. Even if it doesn't block, its failure is one.
    pub(crate) async fn ask_one(&self, endpoint: &str, name: &str, timeout: Option<Duration>) -> Option<Report> {
        let mut check = {
            let named = self.named.read();
            if named.is_empty() && name == PING { ping() } else { named.get(name).cloned()? }
        };
        check.blocking = true;
        let verdict = verdict(endpoint, name, &check, timeout).await;
        Some(Report::new(endpoint, BTreeMap::from([(name.to_owned(), verdict)]), &[]))
    }
}

fn ping() -> Check {
    Check::new(|| std::future::ready(Ok::<(), String>(())))
}

async fn verdict(endpoint: &str, name: &str, check: &Check, timeout: Option<Duration>) -> Verdict {
    let Err(error) = check.ask(timeout).await else { return Verdict::Passed };
    tracing::warn!(endpoint, check = name, error, blocking = check.blocking, "a health check failed");
    if check.blocking { Verdict::Failed } else { Verdict::Reported }
}
