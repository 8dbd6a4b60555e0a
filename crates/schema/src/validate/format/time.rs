//! Dates, times and durations.

use std::sync::LazyLock;

use regex::Regex;

static TIME: LazyLock<Regex> =
    LazyLock::new(|| super::fixed("^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$"));
static DURATION_PART: LazyLock<Regex> = LazyLock::new(|| super::fixed(r"([0-9]+)[\t\n\f\r ]*([A-Za-zµ]+)"));

/// A full date of RFC 3339, as in `2006-01-02`.
pub(super) fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let number = |text: &str, length: usize| {
        (text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| text.parse::<u32>().ok())
            .flatten()
    };
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2)) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// A date-time of RFC 3339, in upper or lower case.
pub(super) fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    let Some(found) = TIME.captures(time) else { return false };
    let part = |index| found.get(index).map_or("", |part| part.as_str());
    is_date(date) && part(1) <= "23" && part(2) <= "59" && part(3) <= "59"
}

/// A duration as Go writes it, as in `1h15m30.9s`, or with longer names of units, as in `3 days`.
pub(super) fn is_duration(text: &str) -> bool {
    is_go_duration(text)
        || DURATION_PART.captures_iter(text).any(|part| part.get(2).is_some_and(|unit| is_unit(unit.as_str())))
}

fn is_unit(unit: &str) -> bool {
    const SHORT: [&str; 13] = ["ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk", "sec", "min"];
    const BEGINNINGS: [&str; 8] = ["nano", "micro", "milli", "sec", "min", "hour", "day", "week"];
    let unit = unit.to_lowercase();
    SHORT.contains(&unit.as_str()) || BEGINNINGS.iter().any(|beginning| unit.starts_with(beginning))
}

fn is_go_duration(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned == "0" {
        return true;
    }
    let mut rest = unsigned;
    while !rest.is_empty() {
        let unit_at = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(unit_at);
        let valid_number =
            number.bytes().filter(|byte| *byte == b'.').count() <= 1 && number.bytes().any(|byte| byte != b'.');
        let next_at = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, next) = after.split_at(next_at);
        if !valid_number || !matches!(unit, "ns" | "us" | "µs" | "μs" | "ms" | "s" | "m" | "h") {
            return false;
        }
        rest = next;
    }
    !unsigned.is_empty()
}
