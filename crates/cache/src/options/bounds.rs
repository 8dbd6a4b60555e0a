use std::time::Duration;

use bon::Builder;

/// How much a bounded cache of a kind holds, and for how long. Both must be said.
///
/// A bounded cache has no watch and does not know what exists: a read that misses asks the server, and lists are
/// refused. What it holds may be out of date by up to `max_age`, but for our own writes through the
/// [`DelegatingClient`](crate::DelegatingClient).
///
/// ```
/// use std::time::Duration;
///
/// use controller_runtime_cache::{Bounds, CacheOptions, KindOptions};
/// use k8s_openapi::api::core::v1::Secret;
///
/// let few = Bounds::builder().max_entries(1000).max_age(Duration::from_secs(30)).build();
/// let options = CacheOptions::builder().kind_of::<Secret>(KindOptions::builder().bounds(few).build()).build();
/// # let _ = options;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Builder)]
pub struct Bounds {
    /// How many objects it holds at most; the one that was read the longest ago goes first.
    pub(crate) max_entries: usize,
    /// How long an object is served after it was read from the server.
    pub(crate) max_age: Duration,
}
