use std::error::Error as StdError;
use std::fmt;
use std::pin::Pin;

use controller_runtime_ambient::CancellationToken;

type Run = Box<dyn FnOnce(CancellationToken) -> Ending + Send>;
type Ending = Pin<Box<dyn Future<Output = Result<(), Box<dyn StdError + Send + Sync>>> + Send>>;

/// Something that a host runs from start to stop: a controller, or a user's own loop.
///
/// It gets a token and ends soon after that is cancelled. Ending before without an error is fine; an error stops the
/// host.
pub struct Runnable {
    name: String,
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
        Self { name: name.into(), run: Box::new(run) }
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
        f.debug_struct("Runnable").field("name", &self.name).finish_non_exhaustive()
    }
}
