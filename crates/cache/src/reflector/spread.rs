use std::time::Duration;

use controller_runtime_ambient::Ambient;

/// The longest time that any server can read as a watch's time-out.
const LONGEST_WATCH: Duration = Duration::from_secs(u32::MAX as u64);

/// How long a watch is asked for: up to as much again at random, so that watches don't end together.
pub(super) fn watch_timeout(ambient: &Ambient, timeout: Duration) -> Duration {
    times(timeout, 1.0 + ambient.random_fraction()).min(LONGEST_WATCH)
}

/// How long until the next resync: a tenth more or less at random, so that informers don't resync together.
pub(super) fn resync_period(ambient: &Ambient, period: Duration) -> Duration {
    times(period, 0.9 + 0.2 * ambient.random_fraction())
}

fn times(duration: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(duration.as_secs_f64() * factor).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use controller_runtime_ambient::Ambient;

    use super::{LONGEST_WATCH, resync_period, watch_timeout};

    #[test]
    fn durations_are_spread_and_never_overflow() {
        let ambient = Ambient::seeded(1);
        let hour = Duration::from_hours(1);
        let watches: Vec<_> = (0..100).map(|_| watch_timeout(&ambient, hour)).collect();
        assert!(watches.iter().all(|timeout| (hour..hour * 2).contains(timeout)));
        let resyncs: Vec<_> = (0..100).map(|_| resync_period(&ambient, hour)).collect();
        assert!(resyncs.iter().all(|period| (Duration::from_mins(54)..Duration::from_mins(66)).contains(period)));
        assert!(watches.windows(2).all(|pair| pair[0] != pair[1]) && resyncs.windows(2).all(|pair| pair[0] != pair[1]));
        assert_eq!(watch_timeout(&ambient, Duration::MAX), LONGEST_WATCH);
        assert!((0..9).all(|_| resync_period(&ambient, Duration::MAX) > Duration::MAX / 10 * 8));
    }
}
