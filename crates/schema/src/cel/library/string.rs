//! Strings: the standard functions and cel-go's extension, version 2. Places count characters.

use super::{Outcome, failed, gives};
use crate::cel::value::CelValue;

/// Text that a function makes has no more bytes than that: in a few steps it could be larger than memory.
const LONGEST: usize = 16 << 20;
const TOO_LONG: &str = "the resulting string is too long";

pub(super) fn call<'a>(function: &str, arguments: &[CelValue<'a>]) -> Outcome<'a> {
    if function == "join" {
        return join(arguments);
    }
    if function == "strings.quote" {
        let [CelValue::String(text)] = arguments else { return None };
        return gives(CelValue::text(quote(text)));
    }
    let (CelValue::String(text), rest) = arguments.split_first()? else { return None };
    match (function, rest) {
        ("contains", [CelValue::String(part)]) => gives(CelValue::Bool(text.contains(part.as_ref()))),
        ("startsWith", [CelValue::String(part)]) => gives(CelValue::Bool(text.starts_with(part.as_ref()))),
        ("endsWith", [CelValue::String(part)]) => gives(CelValue::Bool(text.ends_with(part.as_ref()))),
        ("lowerAscii", []) => gives(CelValue::text(text.to_ascii_lowercase())),
        ("upperAscii", []) => gives(CelValue::text(text.to_ascii_uppercase())),
        ("trim", []) => gives(CelValue::text(text.trim().to_owned())),
        ("charAt", [CelValue::Int(at)]) => char_at(text, *at),
        ("substring", [CelValue::Int(start)]) => {
            let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
            if *start < 0 || *start > length {
                return failed(format!("index out of range: {start}"));
            }
            substring(text, *start, length)
        }
        ("substring", [CelValue::Int(start), CelValue::Int(end)]) => substring(text, *start, *end),
        ("indexOf", [CelValue::String(part)]) => index_of(text, part, 0),
        ("indexOf", [CelValue::String(part), CelValue::Int(from)]) => index_of(text, part, *from),
        ("lastIndexOf", [CelValue::String(part)]) => last_index_of(text, part, None),
        ("lastIndexOf", [CelValue::String(part), CelValue::Int(from)]) => last_index_of(text, part, Some(*from)),
        ("replace", [CelValue::String(old), CelValue::String(new)]) => replace(text, old, new, -1),
        ("replace", [CelValue::String(old), CelValue::String(new), CelValue::Int(most)]) => {
            replace(text, old, new, *most)
        }
        ("split", [CelValue::String(by)]) => split(text, by, -1),
        ("split", [CelValue::String(by), CelValue::Int(most)]) => split(text, by, *most),
        _ => None,
    }
}

fn char_at<'a>(text: &str, at: i64) -> Outcome<'a> {
    let length = text.chars().count();
    match usize::try_from(at) {
        Ok(index) if index == length => gives(CelValue::text("")),
        Ok(index) if index < length => gives(CelValue::text(text.chars().skip(index).take(1).collect::<String>())),
        _ => failed(format!("index out of range: {at}")),
    }
}

fn substring<'a>(text: &str, start: i64, end: i64) -> Outcome<'a> {
    if start > end {
        return failed(format!("invalid substring range. start: {start}, end: {end}"));
    }
    let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    for place in [start, end] {
        if place < 0 || place > length {
            return failed(format!("index out of range: {place}"));
        }
    }
    let skip = usize::try_from(start).unwrap_or_default();
    let take = usize::try_from(end - start).unwrap_or_default();
    gives(CelValue::text(text.chars().skip(skip).take(take).collect::<String>()))
}

fn index_of<'a>(text: &str, part: &str, from: i64) -> Outcome<'a> {
    let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    if part.is_empty() && from == 0 {
        return gives(CelValue::Int(0));
    }
    if from < 0 || from > length {
        return failed(format!("index out of range: {from}"));
    }
    let skip = usize::try_from(from).unwrap_or_default();
    let start = text.char_indices().nth(skip).map_or(text.len(), |(at, _)| at);
    let found = text.get(start..).and_then(|rest| rest.find(part)).map(|at| start + at);
    gives(CelValue::Int(found.map_or(-1, |at| characters_before(text, at))))
}

fn last_index_of<'a>(text: &str, part: &str, from: Option<i64>) -> Outcome<'a> {
    let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    let from = from.unwrap_or(length);
    if part.is_empty() && from == length {
        return gives(CelValue::Int(length));
    }
    if from < 0 || from > length {
        return failed(format!("index out of range: {from}"));
    }
    let last = usize::try_from(from).unwrap_or_default();
    let end = text.char_indices().nth(last).map_or(text.len(), |(at, _)| at);
    let found = text.match_indices(part).map(|(at, _)| at).take_while(|at| *at <= end).last();
    gives(CelValue::Int(found.map_or(-1, |at| characters_before(text, at))))
}

fn characters_before(text: &str, at: usize) -> i64 {
    i64::try_from(text.get(..at).unwrap_or_default().chars().count()).unwrap_or(i64::MAX)
}

fn replace<'a>(text: &str, old: &str, new: &str, most: i64) -> Outcome<'a> {
    let most_found = usize::try_from(most).unwrap_or(usize::MAX);
    let found = text.matches(old).take(most_found).count();
    if found.saturating_mul(new.len()).saturating_add(text.len()) > LONGEST {
        return failed(TOO_LONG);
    }
    gives(CelValue::text(match usize::try_from(most) {
        Ok(most) => text.replacen(old, new, most),
        Err(_) => text.replace(old, new),
    }))
}

fn split<'a>(text: &str, by: &str, most: i64) -> Outcome<'a> {
    let parts: Vec<String> = match (most, by.is_empty()) {
        (0, _) => Vec::new(),
        (1, _) => vec![text.to_owned()],
        (most, true) if most > 0 => {
            let most = usize::try_from(most).unwrap_or(usize::MAX);
            let mut parts: Vec<String> = text.chars().take(most - 1).map(String::from).collect();
            let rest: String = text.chars().skip(most - 1).collect();
            parts.extend((!rest.is_empty()).then_some(rest));
            parts
        }
        (_, true) => text.chars().map(String::from).collect(),
        (most, false) if most > 0 => {
            text.splitn(usize::try_from(most).unwrap_or(usize::MAX), by).map(str::to_owned).collect()
        }
        (_, false) => text.split(by).map(str::to_owned).collect(),
    };
    gives(CelValue::list(parts.into_iter().map(CelValue::text).collect()))
}

fn join<'a>(arguments: &[CelValue<'a>]) -> Outcome<'a> {
    let (list, by) = match arguments {
        [CelValue::List(list)] => (list, ""),
        [CelValue::List(list), CelValue::String(by)] => (list, by.as_ref()),
        _ => return None,
    };
    let (mut parts, mut length) = (Vec::new(), 0usize);
    for value in list.iter() {
        let CelValue::String(text) = value else { return failed(format!("invalid join input: {}", value.type_of())) };
        length = length.saturating_add(text.len()).saturating_add(by.len());
        if length > LONGEST {
            return failed(TOO_LONG);
        }
        parts.push(text);
    }
    gives(CelValue::text(parts.join(by)))
}

/// Text in quotes with what can't be seen escaped.
pub(super) fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            '\\' => quoted.push_str("\\\\"),
            '"' => quoted.push_str("\\\""),
            other => quoted.push(other),
        }
    }
    quoted + "\""
}
