use std::fmt::Debug;
use std::time::Duration;

/// Learns what happens in a queue, for metrics. Called outside the queue's lock, so that calls of several workers may
/// overlap; it should be quick.
pub trait Observer: Debug + Send + Sync + 'static {
    /// A key became ready: it was added, or its waiting time is over. An add of a key that is ready already is none.
    fn added(&self) {}

    /// A key was put off: added with a delay or rate-limited.
    fn retried(&self) {}

    /// A worker took a key that had been ready for `waited`.
    fn taken(&self, waited: Duration) {
        let _ = waited;
    }

    /// A worker that had a key for `worked` is done with it.
    fn done(&self, worked: Duration) {
        let _ = worked;
    }
}
