//! A host of one's own: runs what it is given until it is told to stop. A manager does more.

use controller_runtime_ambient::{Ambient, CancellationToken};
use controller_runtime_cache::{Cache, CacheOptions, DelegatingClient};
use controller_runtime_client::Client;
use controller_runtime_controller::{AddError, Host, Runnable};
use controller_runtime_metrics::Registry;
use controller_runtime_scheme::Scheme;
use futures::future::{join, try_join_all};
use parking_lot::Mutex;

pub(crate) struct OwnHost {
    client: DelegatingClient,
    scheme: Scheme,
    runnables: Mutex<Vec<Runnable>>,
}

impl OwnHost {
    pub(crate) fn new(client: Client, options: CacheOptions) -> Self {
        let cache = Cache::new(client.clone(), options);
        Self { client: DelegatingClient::new(client, cache), scheme: Scheme::new(), runnables: Mutex::default() }
    }

    /// Runs the cache and what was added until the token is cancelled or something fails.
    pub(crate) async fn run(&self, token: CancellationToken) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let runnables = std::mem::take(&mut *self.runnables.lock());
        let stop_cache = CancellationToken::new();
        let work = async {
            let ended = try_join_all(runnables.into_iter().map(|runnable| runnable.run(token.clone()))).await;
            // What still ends reads from the cache.
            stop_cache.cancel();
            ended
        };
        let (cache, ended) = join(self.cache().run(stop_cache.clone()), work).await;
        cache?;
        ended?;
        Ok(())
    }
}

impl Host for OwnHost {
    fn ambient(&self) -> &Ambient {
        self.client.live().ambient()
    }

    fn client(&self) -> &DelegatingClient {
        &self.client
    }

    fn cache(&self) -> &Cache {
        self.client.cache()
    }

    fn metrics(&self) -> &Registry {
        self.client.live().metrics()
    }

    fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    fn add(&self, runnable: Runnable) -> Result<(), AddError> {
        let mut runnables = self.runnables.lock();
        if runnables.iter().any(|known| known.name() == runnable.name()) {
            return Err(AddError::Duplicate { name: runnable.name().to_owned() });
        }
        runnables.push(runnable);
        Ok(())
    }
}
