//! Strings in double quotes, as kube-apiserver prints them in messages.

use std::fmt::{self, Display, Formatter, Write};

/// Displays a string in double quotes with the escapes of Go's `%q`.
pub(crate) fn quoted(text: &str) -> Quoted<'_> {
    Quoted(text)
}

pub(crate) struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for character in self.0.chars() {
            match character {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                '\u{7}' => f.write_str("\\a")?,
                '\u{8}' => f.write_str("\\b")?,
                '\u{b}' => f.write_str("\\v")?,
                '\u{c}' => f.write_str("\\f")?,
                control if control.is_control() && u32::from(control) < 0x80 => {
                    write!(f, "\\x{:02x}", u32::from(control))?;
                }
                control if control.is_control() => write!(f, "\\u{:04x}", u32::from(control))?,
                plain => f.write_char(plain)?,
            }
        }
        f.write_char('"')
    }
}
