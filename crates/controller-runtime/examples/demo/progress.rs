//! What the user sees: how far each Database is.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use controller_runtime::prelude::*;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::operator::Database;

/// The Databases that are expected, as far as they are known.
pub(crate) struct Progress {
    informer: Informer<Database>,
    changed: Arc<Notify>,
    rows: Vec<Row>,
    started: Instant,
    // Its drop ends the notifications.
    _registration: HandlerRegistration,
}

struct Row {
    key: ObjectKey,
    shown: String,
    ready: bool,
    /// None where nobody looks at a terminal.
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Follows these Databases through the cache that the operator itself works with.
    pub(crate) fn of(informer: &Informer<Database>, expected: Vec<ObjectKey>) -> Self {
        let changed = Arc::new(Notify::new());
        let registration = informer.add_handler({
            let changed = changed.clone();
            move |_| changed.notify_one()
        });
        let bars = std::io::stdout().is_terminal().then(MultiProgress::new);
        let rows = expected.into_iter().map(|key| Row::new(key, bars.as_ref())).collect();
        let informer = informer.clone();
        Self { informer, changed, rows, started: Instant::now(), _registration: registration }
    }

    /// Shows changes until all are provisioned; an error that names the others when that takes too long.
    pub(crate) async fn until_ready(&mut self, within: Duration) -> Result<()> {
        let deadline = Instant::now() + within;
        while !self.refresh() {
            if tokio::time::timeout_at(deadline, self.changed.notified()).await.is_err() {
                let waiting = self.rows.iter().filter(|row| !row.ready).map(Row::text).collect::<Vec<_>>();
                bail!("not reconciled after {} s:\n  {}", within.as_secs(), waiting.join("\n  "));
            }
        }
        Ok(())
    }

    /// Shows changes as long as it is polled.
    pub(crate) async fn for_ever(&mut self) {
        loop {
            self.changed.notified().await;
            self.refresh();
        }
    }

    /// What has been reached.
    pub(crate) fn summary(&self) -> String {
        format!("{} databases are provisioned after {:.2} s.", self.rows.len(), self.started.elapsed().as_secs_f64())
    }

    /// Shows what is new; whether all are ready.
    fn refresh(&mut self) -> bool {
        for row in &mut self.rows {
            row.show(self.informer.get(&row.key).as_deref());
        }
        self.rows.iter().all(|row| row.ready)
    }
}

impl Row {
    fn new(key: ObjectKey, bars: Option<&MultiProgress>) -> Self {
        let bar = bars.map(|bars| {
            let bar = bars.add(ProgressBar::new_spinner().with_style(style("{spinner} {msg}")));
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        });
        Self { key, shown: String::new(), ready: false, bar }
    }

    fn text(&self) -> String {
        format!("{}: {}", self.key, if self.shown.is_empty() { "not seen" } else { &self.shown })
    }

    fn show(&mut self, database: Option<&Database>) {
        let (shown, ready) = database.map_or_else(|| ("not created yet".to_owned(), false), describe);
        if shown == self.shown {
            return;
        }
        (self.shown, self.ready) = (shown, ready);
        match &self.bar {
            None => println!("{}", self.text()),
            Some(bar) => {
                bar.set_style(style(if ready { "✔ {msg}" } else { "{spinner} {msg}" }));
                bar.set_message(self.text());
            }
        }
    }
}

/// A database's conditions in a line, and whether it is provisioned as its newest spec asks.
fn describe(database: &Database) -> (String, bool) {
    if database.is_deleting() {
        return ("being deleted".to_owned(), false);
    }
    let conditions = database.status.iter().flat_map(|status| &status.conditions);
    let current = conditions.filter(|condition| condition.observed_generation == database.metadata.generation);
    let mut ready = false;
    let mut parts = Vec::new();
    for condition in current {
        ready |= condition.type_ == "Provisioned" && condition.status == "True";
        parts.push(format!("{}={} ({})", condition.type_, condition.status, condition.message));
    }
    (if parts.is_empty() { "waits for the operator".to_owned() } else { parts.join(", ") }, ready)
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}
