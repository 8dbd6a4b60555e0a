use std::sync::Arc;

use jiff::Timestamp;

use crate::clock::WallClock;
use crate::random::Random;
use crate::task::Task;

/// Clock, randomness, ids and task spawning, real or seeded. Cloning is cheap; clones share one state.
#[derive(Clone, Debug)]
pub struct Ambient {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    clock: WallClock,
    random: Random,
}

impl Ambient {
    /// The machine's clock and entropy.
    pub fn system() -> Self {
        Self::of(WallClock::system(), Random::system())
    }

    /// A repeatable one: time starts at 2026-01-01T00:00:00Z and advances with tokio's clock, random values and
    /// ids come from `seed`.
    pub fn seeded(seed: u64) -> Self {
        Self::of(WallClock::simulated(), Random::seeded(seed))
    }

    fn of(clock: WallClock, random: Random) -> Self {
        Self { inner: Arc::new(Inner { clock, random }) }
    }

    /// The wall clock. For durations and deadlines use [`tokio::time`] instead.
    pub fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    /// A random number, uniform over all of `u64`.
    pub fn random(&self) -> u64 {
        self.inner.random.next()
    }

    /// A random number in `0.0..1.0`.
    pub fn random_fraction(&self) -> f64 {
        // The upper 53 bits fit a double's mantissa exactly.
        #[allow(clippy::cast_precision_loss, reason = "53 bits are exact in f64")]
        let mantissa = (self.random() >> 11) as f64;
        mantissa / 9_007_199_254_740_992.0
    }

    /// Fills `bytes` with random ones.
    pub fn fill(&self, bytes: &mut [u8]) {
        self.inner.random.fill(bytes);
    }

    /// A random (version 4) UUID in its usual hyphenated lower-case form.
    pub fn uuid(&self) -> String {
        let mut bytes = [0; 16];
        self.fill(&mut bytes);
        uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
    }

    /// `len` random characters of the alphabet that Kubernetes uses for generated names: no vowels and nothing that
    /// reads like another character.
    pub fn name_suffix(&self, len: usize) -> String {
        const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
        (0..len)
            .map(|_| {
                let index = usize::try_from(self.random() % 27).unwrap_or(0);
                ALPHABET.get(index).copied().map_or('b', char::from)
            })
            .collect()
    }

    /// Spawns `future` on the current tokio runtime. The task belongs to the returned [`Task`]: dropping that aborts
    /// it.
    ///
    /// # Panics
    /// When called outside a tokio runtime.
    pub fn spawn<F>(&self, name: &'static str, future: F) -> Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Task::spawn(name, future)
    }
}

impl Default for Ambient {
    fn default() -> Self {
        Self::system()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Ambient;

    #[test]
    fn the_same_seed_gives_the_same_values() {
        let (a, b) = (Ambient::seeded(1), Ambient::seeded(1));
        assert_eq!((a.random(), a.uuid(), a.name_suffix(5)), (b.random(), b.uuid(), b.name_suffix(5)));
        assert_ne!(Ambient::seeded(1).random(), Ambient::seeded(2).random());
        assert_ne!(Ambient::system().uuid(), Ambient::system().uuid());
    }

    #[test]
    fn a_fraction_is_below_one() {
        let ambient = Ambient::seeded(3);
        assert!((0..1000).map(|_| ambient.random_fraction()).all(|x| (0.0..1.0).contains(&x)));
    }

    #[tokio::test(start_paused = true)]
    async fn simulated_time_follows_the_paused_clock() {
        let ambient = Ambient::seeded(0);
        assert_eq!(ambient.now().to_string(), "2026-01-01T00:00:00Z");
        tokio::time::advance(Duration::from_millis(1500)).await;
        assert_eq!(ambient.now().to_string(), "2026-01-01T00:00:01.5Z");
    }
}
