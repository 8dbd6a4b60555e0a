//! Schedules in the form of cron, as the reference's parser reads them.

/// The fields of a schedule: least and most value, and names for some.
const FIELDS: [(u64, u64, &[&str]); 5] = [
    (0, 59, &[]),
    (0, 23, &[]),
    (1, 31, &[]),
    (1, 12, &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]),
    (0, 6, &["sun", "mon", "tue", "wed", "thu", "fri", "sat"]),
];

/// What is wrong with a schedule, in the words of the reference's parser.
pub(super) fn check(schedule: &str) -> Result<(), String> {
    let schedule = without_zone(schedule)?;
    if let Some(word) = schedule.strip_prefix('@') {
        return descriptor(schedule, word);
    }
    let fields: Vec<&str> = schedule.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        return Err(format!("expected exactly 5 fields, found {}: [{}]", fields.len(), fields.join(" ")));
    }
    for (field, (least, most, names)) in fields.iter().zip(FIELDS) {
        for range in field.split(',').filter(|range| !range.is_empty()) {
            check_range(range, least, most, names)?;
        }
    }
    Ok(())
}

/// The schedule after a time zone in front of it.
fn without_zone(schedule: &str) -> Result<&str, String> {
    if !schedule.starts_with("TZ=") && !schedule.starts_with("CRON_TZ=") {
        return Ok(schedule);
    }
    let Some((zone, rest)) = schedule.split_once(' ') else {
        // The reference's parser panics here, and tells of that.
        let length = schedule.find('=').map_or(0, |equal| equal + 1);
        return Err(format!("invalid schedule format: runtime error: slice bounds out of range [{length}:-1]"));
    };
    let name = zone.split_once('=').map_or("", |(_, name)| name);
    if !matches!(name, "" | "UTC" | "Local") && !is_zone(name) {
        return Err(format!("provided bad location {name}: unknown time zone {name}"));
    }
    Ok(rest.trim())
}

/// Whether IANA's database has a time zone, spelled exactly so. The bundled one doesn't depend on the host.
pub(super) fn is_zone(name: &str) -> bool {
    let database = jiff::tz::TimeZoneDatabase::bundled();
    database.get(name).is_ok_and(|zone| zone.iana_name() == Some(name))
}

fn descriptor(schedule: &str, word: &str) -> Result<(), String> {
    if matches!(word, "yearly" | "annually" | "monthly" | "weekly" | "daily" | "midnight" | "hourly") {
        return Ok(());
    }
    match word.strip_prefix("every ") {
        Some(period) => duration(period).map_err(|error| format!("failed to parse duration {schedule}: {error}")),
        None => Err(format!("unrecognized descriptor: {schedule}")),
    }
}

/// A duration of Go, as in `1h30m`.
fn duration(text: &str) -> Result<(), String> {
    let invalid = || format!("time: invalid duration \"{text}\"");
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return Ok(());
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        if !number.bytes().any(|byte| byte.is_ascii_digit()) || number.matches('.').count() > 1 {
            return Err(invalid());
        }
        let end = after.find(|letter: char| letter.is_ascii_digit() || letter == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        match unit {
            "" => return Err(format!("time: missing unit in duration \"{text}\"")),
            "ns" | "us" | "µs" | "μs" | "ms" | "s" | "m" | "h" => {}
            _ => return Err(format!("time: unknown unit \"{unit}\" in duration \"{text}\"")),
        }
        rest = after;
    }
    Ok(())
}

fn check_range(range: &str, least: u64, most: u64, names: &[&str]) -> Result<(), String> {
    let parts: Vec<&str> = range.split('/').collect();
    let limits: Vec<&str> = parts.first().copied().unwrap_or_default().split('-').collect();
    let first = limits.first().copied().unwrap_or_default();
    let (start, mut end) = if matches!(first, "*" | "?") {
        (least, most)
    } else {
        let start = number_or_name(first, least, names)?;
        match limits.as_slice() {
            [_] => (start, start),
            [_, stop] => (start, number_or_name(stop, least, names)?),
            _ => return Err(format!("too many hyphens: {range}")),
        }
    };
    let step = match parts.as_slice() {
        [_] => 1,
        [_, step] => {
            if limits.len() == 1 {
                end = most;
            }
            number(step)?
        }
        _ => return Err(format!("too many slashes: {range}")),
    };
    if start < least {
        return Err(format!("beginning of range ({start}) below minimum ({least}): {range}"));
    }
    if end > most {
        return Err(format!("end of range ({end}) above maximum ({most}): {range}"));
    }
    if start > end {
        return Err(format!("beginning of range ({start}) beyond end of range ({end}): {range}"));
    }
    if step == 0 {
        return Err(format!("step of range should be a positive number: {range}"));
    }
    Ok(())
}

fn number_or_name(text: &str, least: u64, names: &[&str]) -> Result<u64, String> {
    let lower = text.to_lowercase();
    match names.iter().position(|name| *name == lower) {
        Some(position) => Ok(least + u64::try_from(position).unwrap_or_default()),
        None => number(text),
    }
}

fn number(text: &str) -> Result<u64, String> {
    match text.parse::<i64>() {
        Ok(number) => u64::try_from(number).map_err(|_| format!("negative number ({number}) not allowed: {text}")),
        Err(_) => Err(format!("failed to parse int from {text}: strconv.Atoi: parsing \"{text}\": invalid syntax")),
    }
}
