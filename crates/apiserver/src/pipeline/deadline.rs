//! The `timeout` parameter: how long a client waits for an answer. Nothing here takes long, so only its form matters.

use http::request::Parts;

use super::attributes::Attributes;
use crate::status::{ApiError, quote};

/// Refuses a `timeout` that is no duration as Go writes it. Watches have a parameter of their own and ignore this one.
pub(crate) fn check(parts: &Parts) -> Result<(), ApiError> {
    let query = parts.uri.query().unwrap_or_default();
    let Some((_, timeout)) = form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == "timeout") else {
        return Ok(());
    };
    if timeout.is_empty() || matches!(Attributes::of(parts), Attributes::Resource(wanted) if wanted.verb == "watch") {
        return Ok(());
    }
    check_duration(&timeout).map_err(|why| {
        ApiError::bad_request(format!("invalid timeout specified in the request URL - time: {why} {}", quote(&timeout)))
    })
}

/// Whether a text is a duration such as `1h30m` or `-1.5s`. The error begins Go's text.
fn check_duration(text: &str) -> Result<(), String> {
    const INVALID: &str = "invalid duration";
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return Ok(());
    }
    if rest.is_empty() {
        return Err(INVALID.to_owned());
    }
    while !rest.is_empty() {
        let (whole, after) = split(rest, |byte| byte.is_ascii_digit());
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => split(after, |byte| byte.is_ascii_digit()),
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(INVALID.to_owned());
        }
        let (unit, after) = split(after, |byte| byte != b'.' && !byte.is_ascii_digit());
        let nanoseconds: u64 = match unit {
            "" => return Err("missing unit in duration".to_owned()),
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            unknown => return Err(format!("unknown unit {} in duration", quote(unknown))),
        };
        let whole = if whole.is_empty() { Some(0) } else { whole.parse::<u64>().ok() };
        let total = whole.and_then(|whole| whole.checked_mul(nanoseconds)).and_then(|total| i64::try_from(total).ok());
        total.ok_or_else(|| INVALID.to_owned())?;
        rest = after;
    }
    Ok(())
}

/// The longest beginning whose bytes `belong`, and the rest. Both end at characters: what belongs is either all digits or
/// everything else.
fn split(text: &str, belong: impl Fn(u8) -> bool) -> (&str, &str) {
    let length = text.bytes().take_while(|byte| belong(*byte)).count();
    text.split_at_checked(length).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::{check, check_duration};

    #[test]
    fn durations_are_those_of_go() {
        for (text, expected) in [
            ("1s", ""),
            ("0", ""),
            ("-1s", ""),
            ("1.5s", ""),
            (".5h", ""),
            ("1h30m", ""),
            ("3µs", ""),
            ("999999h", ""),
            ("", "invalid duration"),
            ("abc", "invalid duration"),
            (" 1s", "invalid duration"),
            (".s", "invalid duration"),
            ("-", "invalid duration"),
            ("99999999999999999999s", "invalid duration"),
            ("9999999h", "invalid duration"),
            ("1", "missing unit in duration"),
            ("1h1", "missing unit in duration"),
            ("1x", "unknown unit \"x\" in duration"),
            ("1é", "unknown unit \"é\" in duration"),
        ] {
            assert_eq!(check_duration(text).err().unwrap_or_default(), expected, "{text:?}");
        }
    }

    #[test]
    fn only_watches_may_say_anything() {
        let error = |uri: &str| {
            let (parts, ()) = Request::get(uri).body(()).unwrap().into_parts();
            check(&parts).err().map(|error| error.message().to_owned())
        };
        let expected = "invalid timeout specified in the request URL - time: invalid duration \"abc\"";
        assert_eq!(error("/api/v1/pods?timeout=abc&timeout=1s").as_deref(), Some(expected));
        assert_eq!(error("/version?timeout=abc").as_deref(), Some(expected));
        assert_eq!(error("/api/v1/pods?timeout="), None);
        assert_eq!(error("/api/v1/pods?watch=true&timeout=abc"), None);
    }
}
