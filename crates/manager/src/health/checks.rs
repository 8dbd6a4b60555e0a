use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;

use crate::health::report::{Report, Verdict};

/// A check that takes longer than this has failed.
const TIMEOUT: Duration = Duration::from_secs(5);

type Checking = Pin<Box<dyn Future<Output = Result<(), Box<dyn StdError + Send + Sync>>> + Send>>;

/// Whether one aspect of the program is well: an async function that gives an error where it isn't.
#[derive(Clone)]
pub struct Check(Arc<dyn Fn() -> Checking + Send + Sync>);

impl Check {
    /// A check. It is asked at each probe, has 5 s, and its error is logged but not shown to who probes.
    pub fn new<F, E>(check: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<Box<dyn StdError + Send + Sync>>,
    {
        Self(Arc::new(move || {
            let checking = check();
            Box::pin(async move { checking.await.map_err(Into::into) })
        }))
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check").finish_non_exhaustive()
    }
}

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

    /// Asks all checks but the `excluded` ones. Without any check there is one, `ping`, which passes.
    pub(crate) async fn ask(&self, endpoint: &str, excluded: &[String]) -> Report {
        let checks = self.named.read().clone();
        let mut verdicts = BTreeMap::new();
        if checks.is_empty() {
            verdicts.insert(
                "ping".to_owned(),
                if excluded.iter().any(|name| name == "ping") { Verdict::Excluded } else { Verdict::Passed },
            );
        }
        for (name, check) in checks {
            let verdict =
                if excluded.contains(&name) { Verdict::Excluded } else { verdict(endpoint, &name, &check).await };
            verdicts.insert(name, verdict);
        }
        Report::new(endpoint, verdicts, excluded)
    }

    /// Asks one check; `None` when there is none of that name.
    pub(crate) async fn ask_one(&self, endpoint: &str, name: &str) -> Option<Report> {
        let (known, check) = {
            let named = self.named.read();
            (named.contains_key(name) || (named.is_empty() && name == "ping"), named.get(name).cloned())
        };
        if !known {
            return None;
        }
        let verdict = match check {
            Some(check) => verdict(endpoint, name, &check).await,
            None => Verdict::Passed,
        };
        Some(Report::new(endpoint, BTreeMap::from([(name.to_owned(), verdict)]), &[]))
    }
}

async fn verdict(endpoint: &str, name: &str, check: &Check) -> Verdict {
    let error = match tokio::time::timeout(TIMEOUT, (check.0)()).await {
        Ok(Ok(())) => return Verdict::Passed,
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("no answer within {TIMEOUT:?}"),
    };
    tracing::warn!(endpoint, check = name, error, "a health check failed");
    Verdict::Failed
}
