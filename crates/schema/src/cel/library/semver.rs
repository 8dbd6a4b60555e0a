//! Semantic versions (version 2 of their specification).

use std::cmp::Ordering;
use std::rc::Rc;

use super::{Outcome, failed, gives};
use crate::cel::value::{CelValue, Opaque};

/// A semantic version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Semver {
    numbers: [u64; 3],
    before: Vec<Identifier>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Identifier {
    Number(u64),
    Word(String),
}

impl Semver {
    /// Reads a version; why it is none.
    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("Version string empty".to_owned());
        }
        let mut parts = text.splitn(3, '.');
        let (Some(major), Some(minor), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
            return Err("No Major.Minor.Patch elements found".to_owned());
        };
        let (rest, build) = rest.split_once('+').map_or((rest, None), |(rest, build)| (rest, Some(build)));
        let (patch, before) = rest.split_once('-').map_or((rest, None), |(patch, before)| (patch, Some(before)));
        let numbers = [number(major, "major")?, number(minor, "minor")?, number(patch, "patch")?];
        let before = before.map(|before| before.split('.').map(identifier).collect()).transpose()?.unwrap_or_default();
        for part in build.into_iter().flat_map(|build| build.split('.')) {
            if part.is_empty() || !part.bytes().all(is_identifier_byte) {
                return Err(format!("Invalid character(s) found in build meta data {part:?}"));
            }
        }
        Ok(Self { numbers, before })
    }

    /// Reads a version as people write it: with a `v` in front, with fewer numbers, with zeros in front of them.
    fn parse_lenient(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let text = text.strip_prefix('v').unwrap_or(text);
        let end = text.find(['-', '+']).unwrap_or(text.len());
        let (numbers, rest) = text.split_at(end);
        let mut numbers: Vec<String> = numbers
            .split('.')
            .map(|number| {
                let trimmed = number.trim_start_matches('0');
                if trimmed.is_empty() && !number.is_empty() { "0".to_owned() } else { trimmed.to_owned() }
            })
            .collect();
        if numbers.len() < 3 && !rest.is_empty() {
            return Err("Short version cannot contain PreRelease/Build meta data".to_owned());
        }
        while numbers.len() < 3 {
            numbers.push("0".to_owned());
        }
        Self::parse(&(numbers.join(".") + rest))
    }
}

fn number(text: &str, what: &str) -> Result<u64, String> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("Invalid character(s) found in {what} number {text:?}"));
    }
    if text.len() > 1 && text.starts_with('0') {
        return Err(format!("{what} number must not contain leading zeroes {text:?}"));
    }
    text.parse().map_err(|_| format!("strconv.ParseUint: parsing {text:?}: value out of range"))
}

fn is_identifier_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

fn identifier(text: &str) -> Result<Identifier, String> {
    if text.is_empty() {
        return Err("Prerelease is empty".to_owned());
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        if text.len() > 1 && text.starts_with('0') {
            return Err(format!("Numeric PreRelease version must not contain leading zeroes {text:?}"));
        }
        return text.parse().map(Identifier::Number).map_err(|_| "value out of range".to_owned());
    }
    if !text.bytes().all(is_identifier_byte) {
        return Err(format!("Invalid character(s) found in prerelease {text:?}"));
    }
    Ok(Identifier::Word(text.to_owned()))
}

impl PartialOrd for Semver {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Semver {
    fn cmp(&self, other: &Self) -> Ordering {
        // What comes before a version is less than it.
        let before = match (self.before.is_empty(), other.before.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => self.before.cmp(&other.before),
        };
        self.numbers.cmp(&other.numbers).then(before)
    }
}

pub(super) fn call<'a>(function: &str, arguments: &[CelValue<'a>]) -> Outcome<'a> {
    if let ("semver" | "isSemver", Some(CelValue::String(text))) = (function, arguments.first()) {
        let read = match arguments.get(1) {
            None | Some(CelValue::Bool(false)) => Semver::parse(text),
            Some(CelValue::Bool(true)) => Semver::parse_lenient(text),
            Some(_) => return None,
        };
        return match (function, read) {
            ("isSemver", read) => gives(CelValue::Bool(read.is_ok())),
            (_, Ok(version)) => gives(CelValue::Opaque(Opaque::Semver(Rc::new(version)))),
            (_, Err(why)) => failed(why),
        };
    }
    match arguments {
        [CelValue::Opaque(Opaque::Semver(version))] => {
            let [major, minor, patch] = version.numbers;
            let number = match function {
                "major" => major,
                "minor" => minor,
                "patch" => patch,
                _ => return None,
            };
            gives(CelValue::Int(i64::try_from(number).unwrap_or(i64::MAX)))
        }
        [CelValue::Opaque(Opaque::Semver(one)), CelValue::Opaque(Opaque::Semver(other))] => gives(match function {
            "isGreaterThan" => CelValue::Bool(one > other),
            "isLessThan" => CelValue::Bool(one < other),
            "compareTo" => CelValue::Int(match one.cmp(other) {
                Ordering::Less => -1,
                Ordering::Equal => 0,
                Ordering::Greater => 1,
            }),
            _ => return None,
        }),
        _ => None,
    }
}
