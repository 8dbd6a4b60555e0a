//! How fields are called in expressions whose names CEL can't spell.

const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// The name that expressions have for a field, or `None` when they can't name it.
///
/// `__`, `.`, `-` and `/` become `__underscores__`, `__dot__`, `__dash__` and `__slash__`; a word that CEL reserves stands
/// between double underscores.
pub(crate) fn escape(name: &str) -> Option<String> {
    if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    if RESERVED.contains(&name) {
        return Some(format!("__{name}__"));
    }
    let mut escaped = String::with_capacity(name.len());
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '_' if letters.next_if_eq(&'_').is_some() => escaped.push_str("__underscores__"),
            '.' => escaped.push_str("__dot__"),
            '-' => escaped.push_str("__dash__"),
            '/' => escaped.push_str("__slash__"),
            letter if letter.is_ascii_alphanumeric() || letter == '_' => escaped.push(letter),
            _ => return None,
        }
    }
    Some(escaped)
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn names_become_identifiers() {
        for (name, expected) in [
            ("replicas", Some("replicas")),
            ("namespace", Some("__namespace__")),
            ("kubernetes.io/name", Some("kubernetes__dot__io__slash__name")),
            ("a-b__c___d", Some("a__dash__b__underscores__c__underscores___d")),
            ("9lives", None),
            ("größe", None),
            ("", None),
        ] {
            assert_eq!(escape(name).as_deref(), expected, "{name}");
        }
    }
}
