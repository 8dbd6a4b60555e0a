//! Text to JSON values, noting keys that stand twice.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::DuplicateKeyPolicy;

use crate::status::quote;

/// Duplicates that are noted at most: as many as Go's strict decoder reports. Each is compared with those before it.
const MAX_DUPLICATES: usize = 100;

/// A parsed document.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) value: Value,
    /// Paths of keys that stand more than once in their object, the first hundred; the last one of a key counts.
    pub(crate) duplicates: Vec<String>,
    /// What Go says of a key that stands twice in YAML.
    pub(crate) repeated: Option<String>,
}

impl Document {
    /// A value with nothing wrong in its keys.
    pub(crate) fn of(value: Value) -> Self {
        Self { value, duplicates: Vec::new(), repeated: None }
    }
}

/// What is wrong with the keys of a JSON text, by the path of the first: `unknown` ones, inside of which nothing is looked
/// at, and `duplicates` among the others. In the order of the text, each once, as Go's decoder tells them.
pub(crate) fn in_order(bytes: &[u8], unknown: &[String], duplicates: &[String]) -> Vec<KeyProblem> {
    let ordering = Ordering { unknown, duplicates, found: RefCell::default() };
    let seed = InOrder { place: &Place::Root, ordering: &ordering };
    // The text was parsed before, so it is well formed.
    let _ = seed.deserialize(&mut serde_json::Deserializer::from_slice(bytes));
    ordering.found.into_inner()
}

/// A key that is not as it should be, by its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyProblem {
    Unknown(String),
    Duplicate(String),
    /// A key of YAML, in the words of Go's parser.
    Repeated(String),
}

/// Parses JSON. The error is the text with which Go's decoder reports it.
pub(crate) fn json(bytes: &[u8]) -> Result<Document, String> {
    let duplicates = RefCell::new(Vec::new());
    // Go's decoder takes what isn't UTF-8 for the replacement character.
    let text = String::from_utf8_lossy(bytes);
    let bytes = text.as_bytes();
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let seed = Noting { place: &Place::Root, duplicates: &duplicates };
    let value = seed.deserialize(&mut deserializer).map_err(|error| go_text(bytes, &error))?;
    deserializer.end().map_err(|error| go_text(bytes, &error))?;
    Ok(Document { value, duplicates: duplicates.into_inner(), repeated: None })
}

/// Parses YAML; what is JSON is parsed as such.
pub(crate) fn yaml(bytes: &[u8]) -> Result<Document, String> {
    if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{')
        && let Ok(document) = json(bytes)
    {
        return Ok(document);
    }
    let text = std::str::from_utf8(bytes).map_err(|error| format!("yaml: {error}"))?;
    if text.chars().any(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}')) {
        return Err("yaml: control characters are not allowed".to_owned());
    }
    let documents = on_large_stack(|| documents(text, DuplicateKeyPolicy::LastWins)).map_err(|error| {
        let text = error.to_string();
        format!("yaml: {}", text.lines().next().unwrap_or_default())
    })?;
    let value = documents.into_iter().next().unwrap_or_default();
    Ok(Document { value, duplicates: Vec::new(), repeated: repeated_key(text) })
}

/// A key that stands twice in YAML, in the words of Go's parser.
fn repeated_key(text: &str) -> Option<String> {
    let error = on_large_stack(|| documents(text, DuplicateKeyPolicy::Error)).err()?;
    let line = error.location().map_or(1, |location| location.line());
    let shown = error.to_string();
    let (_, key) = shown.split_once("duplicate mapping key: ")?;
    let key = key.split(", set DuplicateKeyPolicy").next().unwrap_or_default();
    Some(format!("line {line}: key {} already set in map", quote(key)))
}

fn documents(text: &str, duplicate_keys: DuplicateKeyPolicy) -> Result<Vec<Value>, serde_saphyr::Error> {
    serde_saphyr::from_multiple_with_options(text, serde_saphyr::options! { duplicate_keys: duplicate_keys })
}

/// Runs a YAML parser: at the depth that it allows it can need more than the two megabytes that threads of tokio and of
/// tests have, most of all when it isn't optimised.
pub(crate) fn on_large_stack<T>(parse: impl FnOnce() -> T) -> T {
    const STACK: usize = 8 << 20;
    stacker::maybe_grow(STACK / 2, STACK, parse)
}

fn go_text(bytes: &[u8], error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "unexpected end of JSON input".to_owned();
    }
    let line = bytes.split(|byte| *byte == b'\n').nth(error.line().saturating_sub(1)).unwrap_or_default();
    match line.get(error.column().saturating_sub(1)) {
        Some(byte) if error.is_syntax() && error.to_string().starts_with("expected ident") => {
            let before = line.get(..error.column().saturating_sub(1)).unwrap_or_default();
            format!("invalid character {:?} {}", char::from(*byte), in_literal(before))
        }
        Some(byte) if error.is_syntax() => {
            let place = match byte {
                b'}' if error.to_string().starts_with("trailing comma") => "looking for beginning of object key string",
                _ => go_place(&error.to_string()),
            };
            format!("invalid character {:?} {place}", char::from(*byte))
        }
        _ => error.to_string(),
    }
}

/// Which of the three words of JSON Go's parser was in the middle of.
fn in_literal(before: &[u8]) -> String {
    let read = before.iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let begun = before.len().checked_sub(read).and_then(|start| before.get(start));
    let word = match begun {
        Some(b't') => "true",
        Some(b'f') => "false",
        _ => "null",
    };
    let expected = word.chars().nth(read).unwrap_or_default();
    format!("in literal {word} (expecting {expected:?})")
}

/// What Go's parser was looking for, by what this one says that it missed.
fn go_place(error: &str) -> &'static str {
    let places = [
        ("key must be a string", "looking for beginning of object key string"),
        ("expected `,` or `}`", "after object key:value pair"),
        ("expected `,` or `]`", "after array element"),
        ("expected `:`", "after object key"),
        ("trailing characters", "after top-level value"),
        ("trailing comma", "looking for beginning of value"),
    ];
    let found = places.iter().find(|(missed, _)| error.starts_with(missed));
    found.map_or("looking for beginning of value", |(_, place)| place)
}

/// Where in the document the parser is; only a duplicate needs it as text.
#[derive(Clone, Copy)]
enum Place<'a> {
    Root,
    Key(&'a Place<'a>, &'a str),
    Index(&'a Place<'a>, usize),
}

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(Self::Root, key) => f.write_str(key),
            Self::Key(parent, key) => write!(f, "{parent}.{key}"),
            Self::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

impl Place<'_> {
    /// Whether this place is what a path ends with, up to `rest`.
    fn is(&self, path: &str) -> bool {
        match self {
            Self::Root => path.is_empty(),
            Self::Key(Self::Root, key) => path == *key,
            Self::Key(parent, key) => {
                path.strip_suffix(key).and_then(|rest| rest.strip_suffix('.')).is_some_and(|rest| parent.is(rest))
            }
            Self::Index(parent, index) => {
                let rest = path.strip_suffix(']').and_then(|rest| rest.strip_suffix(index.to_string().as_str()));
                rest.and_then(|rest| rest.strip_suffix('[')).is_some_and(|rest| parent.is(rest))
            }
        }
    }
}

struct Ordering<'a> {
    unknown: &'a [String],
    duplicates: &'a [String],
    found: RefCell<Vec<KeyProblem>>,
}

impl Ordering<'_> {
    fn note(&self, problem: KeyProblem) {
        let mut found = self.found.borrow_mut();
        if !found.contains(&problem) {
            found.push(problem);
        }
    }
}

struct InOrder<'a> {
    place: &'a Place<'a>,
    ordering: &'a Ordering<'a>,
}

impl<'de> DeserializeSeed<'de> for InOrder<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for InOrder<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        for index in 0.. {
            let place = Place::Index(self.place, index);
            if items.next_element_seed(InOrder { place: &place, ordering: self.ordering })?.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut seen = BTreeSet::new();
        while let Some(key) = members.next_key::<String>()? {
            let place = Place::Key(self.place, &key);
            let named = |paths: &[String]| paths.iter().find(|path| place.is(path)).cloned();
            if let Some(path) = named(self.ordering.unknown) {
                self.ordering.note(KeyProblem::Unknown(path));
                members.next_value::<IgnoredAny>()?;
                continue;
            }
            members.next_value_seed(InOrder { place: &place, ordering: self.ordering })?;
            if seen.contains(&key)
                && let Some(path) = named(self.ordering.duplicates)
            {
                self.ordering.note(KeyProblem::Duplicate(path));
            }
            seen.insert(key);
        }
        Ok(())
    }
}

struct Noting<'a> {
    place: &'a Place<'a>,
    duplicates: &'a RefCell<Vec<String>>,
}

impl<'de> DeserializeSeed<'de> for Noting<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Noting<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        loop {
            let place = Place::Index(self.place, array.len());
            match items.next_element_seed(Noting { place: &place, duplicates: self.duplicates })? {
                Some(item) => array.push(item),
                None => return Ok(Value::Array(array)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            let place = Place::Key(self.place, &key);
            let value = members.next_value_seed(Noting { place: &place, duplicates: self.duplicates })?;
            if object.contains_key(&key) && self.duplicates.borrow().len() < MAX_DUPLICATES {
                let path = place.to_string();
                let mut duplicates = self.duplicates.borrow_mut();
                if !duplicates.contains(&path) {
                    duplicates.push(path);
                }
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::{KeyProblem, in_order, json, yaml};

    #[test]
    fn duplicates_are_noted_with_their_path() {
        let document = json(br#"{"a":1,"b":[{"c":1,"c":2,"c":3}],"a":2}"#).unwrap();
        assert_eq!(document.duplicates, ["b[0].c", "a"]);
        assert_eq!(document.value.to_string(), r#"{"a":2,"b":[{"c":3}]}"#);
    }

    #[test]
    fn problems_come_in_the_order_of_the_text() {
        let text = br#"{"z":{"a":1,"a":2},"m":{"n":1,"n":2,"b":[{"x":1},{"x":1,"c":1,"c":1}]},"a":1,"z":3,"k.l":1}"#;
        let texts = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
        let duplicates = json(text).unwrap().duplicates;
        let problems = in_order(text, &texts(&["a", "k.l", "m.b[1].x", "z"]), &duplicates);
        let unknown = |path: &str| KeyProblem::Unknown(path.to_owned());
        let duplicate = |path: &str| KeyProblem::Duplicate(path.to_owned());
        assert_eq!(
            problems,
            [unknown("z"), duplicate("m.n"), unknown("m.b[1].x"), duplicate("m.b[1].c"), unknown("a"), unknown("k.l")]
        );
    }

    #[test]
    fn a_document_full_of_duplicates_costs_no_more_than_its_size() {
        let members: Vec<_> = (0..100_000).map(|key| format!(r#""{key}":1,"{key}":2"#)).collect();
        let document = json(format!("{{{}}}", members.join(",")).as_bytes()).unwrap();
        assert_eq!(document.duplicates.len(), 100);
        assert_eq!(document.duplicates[99], "99");
        assert_eq!(document.value["99999"], 2);
    }

    #[test]
    fn malformed_text_is_an_error() {
        assert_eq!(json(b"{\"a\"").unwrap_err(), "unexpected end of JSON input");
        for (text, expected) in [
            ("{\"a\":x}", "invalid character 'x' looking for beginning of value"),
            ("{\"a\":no}", "invalid character 'o' in literal null (expecting 'u')"),
            ("[trux]", "invalid character 'x' in literal true (expecting 'e')"),
            ("{s", "invalid character 's' looking for beginning of object key string"),
            ("{\"a\":1 x", "invalid character 'x' after object key:value pair"),
            ("[1 2]", "invalid character '2' after array element"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("{} x", "invalid character 'x' after top-level value"),
        ] {
            assert_eq!(json(text.as_bytes()).unwrap_err(), expected, "{text}");
        }
        assert!(json(&b"[".repeat(100_000)).is_err());
        assert!(yaml(b"a: {b: c").unwrap_err().starts_with("yaml: "));
        assert!(yaml("a: &x [1]\nb: [*x,*x]".as_bytes()).is_ok());
        assert_eq!(yaml(b"a: 1\nb: [x]").unwrap().value.to_string(), r#"{"a":1,"b":["x"]}"#);
    }
}
