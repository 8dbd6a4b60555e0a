//! Values as Go prints them in messages, which clients see and tests compare.

use std::fmt::Write as _;

use serde_json::{Number, Value};

/// A string as `%q` prints it.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            c if c.is_ascii_control() => write_all(&mut out, format_args!("\\x{:02x}", u32::from(c))),
            // Go escapes what isn't printable; control and formatting characters are what occurs of it.
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{a0}' | '\u{ad}') => {
                write_all(&mut out, format_args!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn write_all(out: &mut String, args: std::fmt::Arguments<'_>) {
    out.write_fmt(args).unwrap_or_default();
}

/// A number as `%v` prints it after Kubernetes decoded it: whole numbers as such, others as a float.
pub(crate) fn number(number: &Number) -> String {
    if number.is_i64() || number.is_u64() { number.to_string() } else { float(number.as_f64().unwrap_or_default()) }
}

/// A float as `%v` prints it: shortest digits, an exponent below 1e-4 and from 1e21.
pub(crate) fn float(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-4..1e21).contains(&magnitude) {
        let text = format!("{value:e}");
        // Rust writes 1e-7, Go 1e-07.
        if let Some((digits, exponent)) = text.split_once('e') {
            let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
            return format!("{digits}e{sign}{exponent:0>2}");
        }
        return text;
    }
    format!("{value}")
}

/// JSON as `json.Marshal` writes it: compact, sorted keys, and `<`, `>`, `&` escaped.
pub(crate) fn json(value: &Value) -> String {
    let mut out = String::new();
    write_json(&mut out, value);
    out
}

fn write_json(out: &mut String, value: &Value) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (index, (key, value)) in entries.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_json_string(out, key);
                out.push(':');
                write_json(out, value);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_json(out, item);
            }
            out.push(']');
        }
        Value::String(text) => write_json_string(out, text),
        Value::Number(value) if value.is_f64() => out.push_str(&json_float(value.as_f64().unwrap_or_default())),
        value => out.push_str(&value.to_string()),
    }
}

fn write_json_string(out: &mut String, text: &str) {
    for c in Value::from(text).to_string().chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            c => out.push(c),
        }
    }
}

/// JSON floats take an exponent below 1e-6 and from 1e21, and one digit of it where one is enough.
fn json_float(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude != 0.0 && magnitude < 1e-6 {
        return format!("{value:e}");
    }
    if magnitude < 1e-4 { format!("{value}") } else { float(value) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn floats_look_as_in_go() {
        for (value, expected) in [
            (0.0, "0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (0.0001, "0.0001"),
            (0.000_01, "1e-05"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1.5e100, "1.5e+100"),
        ] {
            assert_eq!(super::float(value), expected);
        }
    }

    #[test]
    fn strings_are_quoted_as_in_go() {
        assert_eq!(super::quote("a\"b\\c\n\u{1}é\u{a0}"), "\"a\\\"b\\\\c\\n\\x01é\\u00a0\"");
    }

    #[test]
    fn json_is_sorted_and_escaped() {
        assert_eq!(
            super::json(&json!({"b": 1e-7, "a": ["<&>", null, 0.00001]})),
            r#"{"a":["\u003c\u0026\u003e",null,0.00001],"b":1e-7}"#
        );
    }
}
