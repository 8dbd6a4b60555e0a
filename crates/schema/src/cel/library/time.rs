//! Spans and points in time.

use jiff::civil::Weekday;
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, Zoned};

use super::{Outcome, failed, gives};
use crate::cel::value::CelValue;

/// The units of a span in Go's form, with their nanoseconds.
const UNITS: [(&str, i128); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Reads a span in Go's form, such as `1h30m` or `-1.5s`, as nanoseconds.
pub(crate) fn duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
            return None;
        }
        let end = after.find(|letter: char| letter.is_ascii_digit() || letter == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let (_, nanos) = UNITS.iter().find(|(name, _)| *name == unit)?;
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        total = total.checked_add(whole.checked_mul(*nanos)?)?;
        let mut scale = *nanos;
        for digit in fraction.bytes().take(18) {
            scale /= 10;
            total = total.checked_add(i128::from(digit - b'0') * scale)?;
        }
        rest = after;
    }
    i64::try_from(if negative { -total } else { total }).ok()
}

/// Reads a time of RFC 3339.
pub(crate) fn timestamp(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    let has_form = bytes.get(4) == Some(&b'-') && bytes.get(10) == Some(&b'T') && bytes.get(16) == Some(&b':');
    if has_form { text.parse().ok() } else { None }
}

/// A span as seconds, as `string()` writes it.
pub(super) fn duration_text(nanos: i64) -> String {
    let (sign, nanos) = if nanos < 0 { ("-", nanos.unsigned_abs()) } else { ("", nanos.unsigned_abs()) };
    let (seconds, fraction) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    if fraction == 0 {
        return format!("{sign}{seconds}s");
    }
    let fraction = format!("{fraction:09}");
    format!("{sign}{seconds}.{}s", fraction.trim_end_matches('0'))
}

pub(super) fn timestamp_text(time: Timestamp) -> String {
    time.to_string()
}

pub(super) fn call<'a>(function: &str, arguments: &[CelValue<'a>]) -> Outcome<'a> {
    match arguments {
        [CelValue::Duration(span)] => {
            let unit = match function {
                "getHours" => 3_600_000_000_000,
                "getMinutes" => 60_000_000_000,
                "getSeconds" => 1_000_000_000,
                "getMilliseconds" => 1_000_000,
                _ => return None,
            };
            gives(CelValue::Int(span / unit))
        }
        [CelValue::Timestamp(time)] => part(function, &time.to_zoned(TimeZone::UTC)),
        [CelValue::Timestamp(time), CelValue::String(zone)] => {
            if !is_part(function) {
                return None;
            }
            match zone_named(zone) {
                Some(zone) => part(function, &time.to_zoned(zone)),
                None => failed(format!("unknown time zone {zone}")),
            }
        }
        _ => None,
    }
}

fn is_part(function: &str) -> bool {
    function.starts_with("get")
}

/// UTC and fixed distances from it; there is no database of zones.
fn zone_named(name: &str) -> Option<TimeZone> {
    if matches!(name, "UTC" | "Z" | "") {
        return Some(TimeZone::UTC);
    }
    let (negative, rest) = match name.as_bytes().first()? {
        b'-' => (true, name.get(1..)?),
        b'+' => (false, name.get(1..)?),
        _ => (false, name),
    };
    let (hours, minutes) = rest.split_once(':')?;
    let seconds = hours.parse::<i32>().ok()?.checked_mul(3600)? + minutes.parse::<i32>().ok()?.checked_mul(60)?;
    Offset::from_seconds(if negative { -seconds } else { seconds }).ok().map(TimeZone::fixed)
}

fn part<'a>(function: &str, time: &Zoned) -> Outcome<'a> {
    let number = match function {
        "getFullYear" => i64::from(time.year()),
        "getMonth" => i64::from(time.month()) - 1,
        "getDayOfYear" => i64::from(time.day_of_year()) - 1,
        "getDayOfMonth" => i64::from(time.day()) - 1,
        "getDate" => i64::from(time.day()),
        "getDayOfWeek" => i64::from(Weekday::to_sunday_zero_offset(time.weekday())),
        "getHours" => i64::from(time.hour()),
        "getMinutes" => i64::from(time.minute()),
        "getSeconds" => i64::from(time.second()),
        "getMilliseconds" => i64::from(time.millisecond()),
        _ => return None,
    };
    gives(CelValue::Int(number))
}
