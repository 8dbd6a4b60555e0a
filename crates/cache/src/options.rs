use std::time::Duration;

/// How a [`Cache`](crate::Cache) works.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CacheOptions {
    /// The namespaces whose objects are cached; objects of cluster-scoped kinds are cached in any case. Default: all
    /// (none named).
    pub namespaces: Vec<String>,
    /// How long a read waits for the first list of its kind. Default: 2 min.
    pub sync_timeout: Duration,
    /// How long a read waits until the cache has seen what was written before. Default: 10 s.
    pub write_timeout: Duration,
    /// How many objects one answer of a list holds. Default: 500.
    pub page_size: u32,
    /// How long the server is asked to keep a watch open; each watch gets up to as much again at random, so that they
    /// don't end together. Default: 5 min.
    pub watch_timeout: Duration,
    /// After how much silence a watch's connection counts as broken. Servers send a bookmark about every minute.
    /// Default: 2 min.
    pub idle_timeout: Duration,
    /// The shortest delay after a failed list or watch; it doubles with each failure. Default: 800 ms.
    pub min_backoff: Duration,
    /// The longest delay after a failed list or watch. Default: 30 s; 10 s while the server does not serve the kind.
    pub max_backoff: Duration,
}

impl Default for CacheOptions {
    fn default() -> Self {
        Self {
            namespaces: Vec::new(),
            sync_timeout: Duration::from_mins(2),
            write_timeout: Duration::from_secs(10),
            page_size: 500,
            watch_timeout: Duration::from_mins(5),
            idle_timeout: Duration::from_mins(2),
            min_backoff: Duration::from_millis(800),
            max_backoff: Duration::from_secs(30),
        }
    }
}

impl CacheOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Caches only these namespaces' objects, and those of cluster-scoped kinds.
    #[must_use]
    pub fn namespaces(mut self, namespaces: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.namespaces = namespaces.into_iter().map(Into::into).collect();
        self
    }

    /// Sets how long a read waits for the first list of its kind.
    #[must_use]
    pub fn sync_timeout(mut self, timeout: Duration) -> Self {
        self.sync_timeout = timeout;
        self
    }

    /// Sets how long a read waits until the cache has seen what was written before.
    #[must_use]
    pub fn write_timeout(mut self, timeout: Duration) -> Self {
        self.write_timeout = timeout;
        self
    }
}
