use jiff::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// How long ago a time is, as kubectl shows it: `5s`, `3m12s`, `2d4h`.
pub(super) fn since(time: &str, now: Timestamp) -> String {
    let Ok(time) = time.parse::<Timestamp>() else { return "<invalid>".to_owned() };
    between(time, now)
}

/// How long it is from one time to a later one.
pub(super) fn between(start: Timestamp, end: Timestamp) -> String {
    let seconds = end.duration_since(start).as_secs();
    if seconds < -1 {
        return "<invalid>".to_owned();
    }
    duration(seconds.max(0))
}

/// The two largest units that say enough about a duration in seconds.
fn duration(seconds: i64) -> String {
    if seconds < 2 * MINUTE {
        format!("{seconds}s")
    } else if seconds < 10 * MINUTE {
        two(seconds / MINUTE, 'm', seconds % MINUTE, 's')
    } else if seconds < 3 * HOUR {
        format!("{}m", seconds / MINUTE)
    } else if seconds < 8 * HOUR {
        two(seconds / HOUR, 'h', seconds % HOUR / MINUTE, 'm')
    } else if seconds < 2 * DAY {
        format!("{}h", seconds / HOUR)
    } else if seconds < 8 * DAY {
        two(seconds / DAY, 'd', seconds % DAY / HOUR, 'h')
    } else if seconds < 2 * YEAR {
        format!("{}d", seconds / DAY)
    } else if seconds < 8 * YEAR {
        two(seconds / YEAR, 'y', seconds % YEAR / DAY, 'd')
    } else {
        format!("{}y", seconds / YEAR)
    }
}

fn two(large: i64, large_unit: char, small: i64, small_unit: char) -> String {
    if small == 0 { format!("{large}{large_unit}") } else { format!("{large}{large_unit}{small}{small_unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_at_most_two_units() {
        let cases = [
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (599, "9m59s"),
            (600, "10m"),
            (3 * HOUR - 1, "179m"),
            (3 * HOUR, "3h"),
            (8 * HOUR - 1, "7h59m"),
            (47 * HOUR, "47h"),
            (2 * DAY, "2d"),
            (2 * DAY + HOUR, "2d1h"),
            (8 * DAY, "8d"),
            (2 * YEAR, "2y"),
            (2 * YEAR + DAY, "2y1d"),
            (8 * YEAR + DAY, "8y"),
        ];
        for (seconds, text) in cases {
            assert_eq!(duration(seconds), text, "{seconds}");
        }
    }

    #[test]
    fn times_of_slow_clocks_are_now() {
        let now = Timestamp::from_second(1000).unwrap_or_default();
        assert_eq!(since("1970-01-01T00:16:41Z", now), "0s");
        assert_eq!(since("1970-01-01T00:16:42Z", now), "<invalid>");
        assert_eq!(since("yesterday", now), "<invalid>");
    }
}
