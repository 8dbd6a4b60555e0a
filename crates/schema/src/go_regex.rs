//! Regular expressions in Go's syntax, written anew for the `regex` crate.
//!
//! The two agree but for a few things: Go's `\d`, `\s`, `\w` and `\b` know ASCII only, its classes know no nesting and no
//! set operations, a brace that begins no repetition is a literal, and `\Q…\E` quotes.

use std::fmt::Write as _;
use std::iter::Peekable;
use std::str::CharIndices;

use regex::{Regex, RegexBuilder};

/// Go refuses expressions that repeat more often than this.
const MOST_REPEATS: u32 = 1000;
/// Room for repeated Unicode classes, which Go's lazy compilation doesn't need.
const SIZE_LIMIT: usize = 64 << 20;

/// Compiles an expression, or tells in one line why it can't be.
pub(crate) fn compile(pattern: &str) -> Result<Regex, String> {
    let translated = Translator { pattern, rest: pattern.char_indices().peekable(), out: String::new() }.translate()?;
    let built = RegexBuilder::new(&translated).size_limit(SIZE_LIMIT).build();
    built.map_err(|error| why_not(pattern, &translated).unwrap_or_else(|| format!("{error}: `{pattern}`")))
}

/// Go's words for what is wrong with an expression.
fn why_not(pattern: &str, translated: &str) -> Option<String> {
    let error = regex_syntax::parse(translated).err()?;
    let (message, span) = match &error {
        regex_syntax::Error::Parse(error) => (error.kind().to_string(), error.span()),
        regex_syntax::Error::Translate(error) => (error.kind().to_string(), error.span()),
        _ => return None,
    };
    let place = translated.get(span.start.offset..span.end.offset).filter(|place| !place.is_empty());
    Some(match message.as_str() {
        "unclosed group" => format!("missing closing ): `{pattern}`"),
        "unopened group" => format!("unexpected ): `{pattern}`"),
        "repetition operator missing expression" => {
            let operator = translated.get(span.start.offset..).and_then(|rest| rest.chars().next()).unwrap_or('*');
            format!("missing argument to repetition operator: `{operator}`")
        }
        "Unicode property not found" | "Unicode property value not found" => {
            format!("invalid character class range: `{}`", place.unwrap_or(pattern))
        }
        other => format!("{other}: `{}`", place.unwrap_or(pattern)),
    })
}

struct Translator<'a> {
    pattern: &'a str,
    rest: Peekable<CharIndices<'a>>,
    out: String,
}

impl Translator<'_> {
    fn translate(mut self) -> Result<String, String> {
        while let Some((at, c)) = self.rest.next() {
            match c {
                '\\' => self.escape(false)?,
                '[' => self.class()?,
                '{' => self.brace(at)?,
                '}' => self.out.push_str("\\}"),
                '(' => self.group(at)?,
                c => self.out.push(c),
            }
        }
        Ok(self.out)
    }

    /// An opening parenthesis. Go names groups in two ways and looks neither ahead nor behind.
    fn group(&mut self, at: usize) -> Result<(), String> {
        let text = self.pattern.get(at..).unwrap_or_default();
        for (around, shown) in [("(?=", "(?="), ("(?!", "(?!"), ("(?<=", "(?<"), ("(?<!", "(?<")] {
            if text.starts_with(around) {
                return Err(format!("invalid or unsupported Perl syntax: `{shown}`"));
            }
        }
        self.out.push('(');
        Ok(())
    }

    /// What follows a backslash.
    fn escape(&mut self, in_class: bool) -> Result<(), String> {
        let Some((_, c)) = self.rest.next() else {
            return Err("trailing backslash at end of expression: ``".to_owned());
        };
        match c {
            'd' => self.out.push_str(if in_class { "0-9" } else { "[0-9]" }),
            'w' => self.out.push_str(if in_class { "0-9A-Za-z_" } else { "[0-9A-Za-z_]" }),
            's' => self.out.push_str(if in_class { "\\t\\n\\f\\r " } else { "[\\t\\n\\f\\r ]" }),
            'D' => self.out.push_str("[^0-9]"),
            'W' => self.out.push_str("[^0-9A-Za-z_]"),
            'S' => self.out.push_str("[^\\t\\n\\f\\r ]"),
            'b' | 'B' if !in_class => self.push(format_args!("(?-u:\\{c})")),
            'A' | 'z' if !in_class => self.push(format_args!("\\{c}")),
            'a' | 'f' | 't' | 'n' | 'r' | 'v' => self.push(format_args!("\\{c}")),
            'x' | 'p' | 'P' => {
                self.push(format_args!("\\{c}"));
                self.braced();
            }
            'Q' if !in_class => self.quoted(),
            '0'..='7' => self.octal(c)?,
            // Whatever is neither a letter nor a digit stands for itself.
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => self.literal(c),
            c => return Err(format!("invalid escape sequence: `\\{c}`")),
        }
        Ok(())
    }

    fn push(&mut self, args: std::fmt::Arguments<'_>) {
        self.out.write_fmt(args).unwrap_or_default();
    }

    /// A character that stands for itself, in and outside of classes.
    fn literal(&mut self, c: char) {
        self.push(format_args!("\\x{{{:x}}}", u32::from(c)));
    }

    /// The name or number in braces that may follow `\p` and `\x`.
    fn braced(&mut self) {
        if self.rest.peek().is_none_or(|(_, c)| *c != '{') {
            return;
        }
        for (_, c) in self.rest.by_ref() {
            self.out.push(c);
            if c == '}' {
                return;
            }
        }
    }

    fn quoted(&mut self) {
        while let Some((_, c)) = self.rest.next() {
            if c == '\\' && self.rest.peek().is_some_and(|(_, next)| *next == 'E') {
                self.rest.next();
                return;
            }
            self.literal(c);
        }
    }

    /// An octal number: a zero with up to two more digits, or two or three digits. One digit alone would be a back
    /// reference, which there are none of.
    fn octal(&mut self, first: char) -> Result<(), String> {
        let mut value = first.to_digit(8).unwrap_or_default();
        let mut digits = 1;
        while digits < 3
            && let Some(digit) = self.rest.peek().and_then(|(_, c)| c.to_digit(8))
        {
            self.rest.next();
            value = value * 8 + digit;
            digits += 1;
        }
        if digits == 1 && first != '0' {
            return Err(format!("invalid escape sequence: `\\{first}`"));
        }
        self.push(format_args!("\\x{{{value:x}}}"));
        Ok(())
    }

    /// A class in brackets, where only `]`, `\`, `^`, `-` and `[:name:]` are special.
    fn class(&mut self) -> Result<(), String> {
        self.out.push('[');
        if self.rest.peek().is_some_and(|(_, c)| *c == '^') {
            self.rest.next();
            self.out.push('^');
        }
        let mut first = true;
        while let Some((at, c)) = self.rest.next() {
            match c {
                ']' if !first => {
                    self.out.push(']');
                    return Ok(());
                }
                '[' => match self.named_class(at) {
                    Some(name) => self.out.push_str(name),
                    None => self.literal('['),
                },
                '\\' => self.escape(true)?,
                // A dash at either end is one; between two characters it makes a range.
                '-' if first || self.rest.peek().is_none_or(|(_, next)| *next == ']') => self.literal('-'),
                '-' => self.out.push('-'),
                ']' | '^' | '&' | '~' => self.literal(c),
                c => self.out.push(c),
            }
            first = false;
        }
        Err(format!("missing closing ]: `{}`", self.pattern))
    }

    /// `[:name:]` at a bracket inside a class.
    fn named_class(&mut self, at: usize) -> Option<&'static str> {
        const NAMES: [&str; 14] = [
            "[:alnum:]",
            "[:alpha:]",
            "[:ascii:]",
            "[:blank:]",
            "[:cntrl:]",
            "[:digit:]",
            "[:graph:]",
            "[:lower:]",
            "[:print:]",
            "[:punct:]",
            "[:space:]",
            "[:upper:]",
            "[:word:]",
            "[:xdigit:]",
        ];
        let text = self.pattern.get(at..)?;
        let name = NAMES.into_iter().find(|name| text.starts_with(name))?;
        for _ in 1..name.len() {
            self.rest.next();
        }
        Some(name)
    }

    /// A brace: a repetition if it reads as one, else itself.
    fn brace(&mut self, at: usize) -> Result<(), String> {
        let text = self.pattern.get(at..).unwrap_or_default();
        // Only as far as a repetition can reach: a pattern of nothing but braces is read once, not once for each.
        let end = text.bytes().skip(1).position(|byte| !byte.is_ascii_digit() && byte != b',').map(|end| end + 1);
        let repetition = end.and_then(|end| text.get(..=end)).filter(|text| is_repetition(text));
        let Some(repetition) = repetition else {
            self.out.push_str("\\{");
            return Ok(());
        };
        let numbers = repetition.trim_matches(['{', '}']).split(',');
        if numbers.flat_map(str::parse::<u32>).any(|count| count > MOST_REPEATS) {
            return Err(format!("invalid repeat count: `{repetition}`"));
        }
        self.out.push_str(repetition);
        for _ in 1..repetition.len() {
            self.rest.next();
        }
        Ok(())
    }
}

/// Whether a text is `{n}`, `{n,}` or `{n,m}`.
fn is_repetition(text: &str) -> bool {
    let Some(inner) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) else { return false };
    let (least, most) = inner.split_once(',').map_or((inner, None), |(least, most)| (least, Some(most)));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    !least.is_empty() && digits(least) && most.is_none_or(digits)
}

#[cfg(test)]
mod tests {
    use super::compile;

    #[test]
    fn go_syntax_matches_as_in_go() {
        for (pattern, matching, other) in [
            (r"^\d+$", "123", "١٢٣"),
            (r"^\w$", "_", "é"),
            (r"^[\w.-]+$", "a.b-c", "a b"),
            (r"^[^\s]+$", "ab", "a b"),
            (r"^[[]$", "[", "]"),
            (r"^[]a]+$", "]a", "b"),
            (r"^[a&&b]$", "&", "c"),
            (r"^a{,2}$", "a{,2}", "aa"),
            (r"^a{2,3}$", "aa", "a"),
            (r"^{x}$", "{x}", "x"),
            (r"^\Qa.b\E$", "a.b", "axb"),
            (r"^\/\-\_$", "/-_", "x"),
            (r"^\<a\>$", "<a>", "a"),
            (r"^a\ b[\ ]$", "a b ", "ab"),
            (r"^[[:alpha:]_]+$", "ab_", "1"),
            (r"\bfoo\b", "a foo", "afoo"),
            (r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "a-b", "-a"),
            (r"^(?i)ABC$", "abc", "abd"),
            (r"^\x41\101$", "AA", "A"),
            (r"^[+-]$", "-", ","),
            (r"^[a\-z]$", "-", "b"),
            (r"^\p{L}+$", "é", "1"),
        ] {
            let regex = compile(pattern).unwrap();
            assert!(regex.is_match(matching), "{pattern} matches {matching}");
            assert!(!regex.is_match(other), "{pattern} doesn't match {other}");
        }
    }

    #[test]
    fn what_go_refuses_is_refused() {
        for pattern in ["(", "[a", "a{1001}", r"\", r"\1", r"\y", r"(?=a)", "*a"] {
            assert!(compile(pattern).is_err(), "{pattern}");
        }
    }
}
