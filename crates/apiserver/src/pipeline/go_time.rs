//! What Go's `time.Parse` says of times that it can't read.

use crate::status::quote;

/// The layout of times to the second; a fraction may follow the seconds.
const TIME: &str = "2006-01-02T15:04:05Z07:00";
/// The layout of times with exactly six digits of a fraction.
const MICRO_TIME: &str = "2006-01-02T15:04:05.000000Z07:00";

/// A part of a layout: what stands before it, the part itself, its digits, its least and greatest value, and what is out
/// of range.
const PARTS: [(&str, &str, usize, u32, u32, &str); 6] = [
    ("", "2006", 4, 0, 9999, "year"),
    ("-", "01", 2, 1, 12, "month"),
    ("-", "02", 2, 1, 31, "day"),
    ("T", "15", 2, 0, 23, "hour"),
    (":", "04", 2, 0, 59, "minute"),
    (":", "05", 2, 0, 59, "second"),
];

/// Checks a time.
pub(super) fn check(text: &str) -> Result<(), String> {
    Reader { text, rest: text, layout: TIME }.read(false)
}

/// Checks a time of microseconds.
pub(super) fn check_micro(text: &str) -> Result<(), String> {
    Reader { text, rest: text, layout: MICRO_TIME }.read(true)
}

struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
    layout: &'static str,
}

impl Reader<'_> {
    fn read(mut self, micro: bool) -> Result<(), String> {
        for (before, part, digits, least, greatest, called) in PARTS {
            self.rest = self.rest.strip_prefix(before).ok_or_else(|| self.cannot(before))?;
            let number = self.rest.get(..digits).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
            let number: u32 = number.and_then(|number| number.parse().ok()).ok_or_else(|| self.cannot(part))?;
            self.rest = self.rest.get(digits..).unwrap_or_default();
            if !(least..=greatest).contains(&number) {
                return Err(self.out_of_range(called));
            }
        }
        let digits = self.rest.strip_prefix('.').map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
        if micro && digits < 6 {
            return Err(self.cannot(".000000"));
        }
        if digits > 0 {
            self.rest = self.rest.get(1 + if micro { 6 } else { digits }..).unwrap_or_default();
        }
        self.zone()?;
        if !self.rest.is_empty() {
            let (text, rest) = (quote(self.text), quote(self.rest));
            return Err(format!("parsing time {text}: extra text: {rest}"));
        }
        // The day may still be one that the month hasn't.
        let exists = self.text.parse::<jiff::Timestamp>().is_ok();
        if exists { Ok(()) } else { Err(self.out_of_range("day")) }
    }

    fn zone(&mut self) -> Result<(), String> {
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Ok(());
        }
        let bytes = self.rest.as_bytes();
        let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let is_offset = matches!(bytes.first(), Some(b'+' | b'-')) && bytes.get(3) == Some(&b':');
        if !(is_offset && [1, 2, 4, 5].into_iter().all(digit)) {
            return Err(self.cannot("Z07:00"));
        }
        self.rest = self.rest.get(6..).unwrap_or_default();
        Ok(())
    }

    fn cannot(&self, wanted: &str) -> String {
        let (text, layout, rest, wanted) = (quote(self.text), quote(self.layout), quote(self.rest), quote(wanted));
        format!("parsing time {text} as {layout}: cannot parse {rest} as {wanted}")
    }

    fn out_of_range(&self, what: &str) -> String {
        format!("parsing time {}: {what} out of range", quote(self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::{check, check_micro};

    #[test]
    fn go_says_where_it_stopped() {
        for (text, said) in [
            ("2024-02-29T23:59:59Z", ""),
            ("2024-02-29T23:59:59.5+02:00", ""),
            ("today", "cannot parse \"today\" as \"2006\""),
            ("2024-01-01", "cannot parse \"\" as \"T\""),
            ("2024-1-01", "cannot parse \"1-01\" as \"01\""),
            ("2024-01-01T00:00:00", "cannot parse \"\" as \"Z07:00\""),
            ("2024-01-01T00:00:00 Z", "cannot parse \" Z\" as \"Z07:00\""),
            ("2024-13-01T00:00:00Z", "month out of range"),
            ("2023-02-29T00:00:00Z", "day out of range"),
            ("2024-01-01T25:00:00Z", "hour out of range"),
            ("2024-01-01T00:00:00Zx", "extra text: \"x\""),
        ] {
            let found = check(text).err().unwrap_or_default();
            assert!(found.ends_with(said) && found.is_empty() == said.is_empty(), "{text}: {found}");
        }
        assert_eq!(check_micro("2024-01-01T00:00:00.000001Z"), Ok(()));
        assert!(check_micro("2024-01-01T00:00:00.1Z").unwrap_err().ends_with("cannot parse \".1Z\" as \".000000\""));
        assert!(
            check_micro("2024-01-01T00:00:00.1234567Z").unwrap_err().ends_with("cannot parse \"7Z\" as \"Z07:00\"")
        );
    }
}
