use std::error::Error as StdError;
use std::fmt;
use std::pin::Pin;

use controller_runtime_ambient::CancellationToken;

type Run = Box<dyn FnOnce(CancellationToken) -> Ending + Send>;
type Ending = Pin<Box<dyn Future<Output = Result<(), Box<dyn StdError + Send + Sync>>> + Send>>;

/// When a host starts a runnable. Stages start in the order in which they stand here, and all of one stage together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// Servers of HTTP: they answer probes from the beginning to the end.
    Servers,
    /// What others read from. The next stage starts when the host's cache has its first lists.
    Caches,
    /// What every replica of the program runs.
    Others,
    /// What makes a replica ready to lead.
    WarmUp,
    /// What only one replica of the program may run, which is the default: controllers are such.
    #[default]
    Leaders,
}

/// Something that a host runs from start to stop: a controller, or a user's own loop.
///
/// It gets a token and ends soon after that is cancelled. Ending before without an error is fine; an error stops the
/// host.
pub struct Runnable {
    name: String,
    stage: Stage,
    run: Run,
}

impl Runnable {
    /// What `run` does, under a name that errors and logs use and that is unique within a host.
    pub fn new<F, E>(name: impl Into<String>, run: impl FnOnce(CancellationToken) -> F + Send + 'static) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<Box<dyn StdError + Send + Sync>>,
    {
        let run = |token| -> Ending {
            let running = run(token);
            Box::pin(async move { running.await.map_err(Into::into) })
        };
        Self { name: name.into(), stage: Stage::default(), run: Box::new(run) }
    }

    /// The same runnable in another stage; by default it is in [`Stage::Leaders`].
    #[must_use]
    pub fn in_stage(mut self, stage: Stage) -> Self {
        self.stage = stage;
        self
    }

    /// When it starts.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs it until it ends.
    pub async fn run(self, token: CancellationToken) -> Result<(), Box<dyn StdError + Send + Sync>> {
        (self.run)(token).await
    }
}

impl fmt::Debug for Runnable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runnable").field("name", &self.name).field("stage", &self.stage).finish_non_exhaustive()
    }
}
