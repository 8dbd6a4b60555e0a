//! The only place that uses the `backoff` crate, which is unmaintained. It computes the growth; the jitter is ours,
//! from the seeded source.

use std::time::Duration;

use backoff::backoff::Backoff as _;
use backoff::{ExponentialBackoff, ExponentialBackoffBuilder};
use controller_runtime_ambient::Ambient;

/// Growing delays between attempts, each spread by a random part so that many clients don't come back at once.
#[derive(Debug)]
pub struct Backoff {
    ambient: Ambient,
    growth: ExponentialBackoff,
}

impl Backoff {
    /// Delays that start near `initial`, double, and end near `max`. Each is spread by a quarter to both sides.
    pub fn new(ambient: &Ambient, initial: Duration, max: Duration) -> Self {
        let growth = ExponentialBackoffBuilder::new()
            .with_initial_interval(initial)
            .with_max_interval(max)
            .with_multiplier(2.0)
            .with_randomization_factor(0.0)
            .with_max_elapsed_time(None)
            .build();
        Self { ambient: ambient.clone(), growth }
    }

    /// The next delay.
    pub fn next_delay(&mut self) -> Duration {
        // Without a maximal elapsed time there always is a next one.
        let delay = self.growth.next_backoff().unwrap_or(self.growth.max_interval);
        let spread = 0.75 + 0.5 * self.ambient.random_fraction();
        Duration::try_from_secs_f64(delay.as_secs_f64() * spread).unwrap_or(Duration::MAX)
    }

    /// Starts again at the first delay.
    pub fn reset(&mut self) {
        self.growth.reset();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use controller_runtime_ambient::Ambient;

    use super::Backoff;

    #[test]
    fn delays_double_up_to_the_maximum_and_are_repeatable() {
        let delays = |seed| {
            let mut backoff = Backoff::new(&Ambient::seeded(seed), Duration::from_millis(800), Duration::from_secs(30));
            (0..10).map(|_| backoff.next_delay()).collect::<Vec<_>>()
        };
        let seen = delays(1);
        for (delay, nominal) in seen.iter().zip([0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0, 30.0, 30.0]) {
            let seconds = delay.as_secs_f64();
            assert!((nominal * 0.74..nominal * 1.26).contains(&seconds), "{seconds} is not around {nominal}");
        }
        assert_eq!(seen, delays(1));
        assert_ne!(seen, delays(2));
    }

    #[test]
    fn no_delay_is_too_long() {
        for initial in [Duration::from_secs(1), Duration::MAX] {
            let mut backoff = Backoff::new(&Ambient::seeded(1), initial, Duration::MAX);
            for _ in 0..200 {
                backoff.next_delay();
            }
            assert!(backoff.next_delay() > Duration::from_secs(1 << 60));
        }
    }
}
