use std::borrow::Cow;

/// The name of a field whose name in expressions this is; `None` when it is no such name.
pub(crate) fn unescape(name: &str) -> Option<Cow<'_, str>> {
    if !name.contains("__") {
        return Some(Cow::Borrowed(name));
    }
    let mut found = String::new();
    let mut rest = name;
    while let Some(start) = rest.find("__") {
        let (before, after) = rest.split_at(start);
        found.push_str(before);
        let word_end = after.get(2..).and_then(|inner| inner.find("__"));
        let word =
            word_end.and_then(|end| after.get(2..2 + end)).filter(|word| !word.is_empty() && !word.contains('_'));
        let Some(word) = word else {
            found.push_str("__");
            rest = after.get(2..).unwrap_or_default();
            continue;
        };
        match word {
            "underscores" => found.push_str("__"),
            "dot" => found.push('.'),
            "dash" => found.push('-'),
            "slash" => found.push('/'),
            // A reserved word as a whole.
            word if before.is_empty() && after.len() == word.len() + 4 => found.push_str(word),
            _ => return None,
        }
        rest = after.get(word.len() + 4..).unwrap_or_default();
    }
    found.push_str(rest);
    Some(Cow::Owned(found))
}

#[cfg(test)]
mod tests {
    use super::unescape;

    #[test]
    fn names_are_found_again() {
        for (name, expected) in [
            ("plain", Some("plain")),
            ("a__dot__b", Some("a.b")),
            ("a__dash__b__slash__c", Some("a-b/c")),
            ("__namespace__", Some("namespace")),
            ("a__underscores__b", Some("a__b")),
            ("a__other__b", None),
        ] {
            assert_eq!(unescape(name).as_deref(), expected, "{name}");
        }
    }
}
