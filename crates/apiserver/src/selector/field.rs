/// A field selector: terms that all must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldSelector {
    terms: Vec<FieldTerm>,
}

/// One term: a field must, or must not, have a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldTerm {
    pub(crate) field: String,
    pub(crate) value: String,
    pub(crate) equal: bool,
}

impl FieldSelector {
    /// Parses the text of a `fieldSelector` parameter. The error is kube-apiserver's text.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut terms = Vec::new();
        for part in split(text) {
            if part.is_empty() {
                continue;
            }
            let (field, value, equal) =
                operator(&part).ok_or_else(|| format!("invalid selector: '{text}'; can't understand '{part}'"))?;
            terms.push(FieldTerm { field: field.to_owned(), value: unescape(value)?, equal });
        }
        Ok(Self { terms })
    }

    /// Whether this selects everything.
    pub(crate) fn is_everything(&self) -> bool {
        self.terms.is_empty()
    }

    /// Adds a term: the field must have this value.
    pub(crate) fn require(&mut self, field: &str, value: &str) {
        self.terms.push(FieldTerm { field: field.to_owned(), value: value.to_owned(), equal: true });
    }

    /// The terms.
    pub(crate) fn terms(&self) -> &[FieldTerm] {
        &self.terms
    }

    /// Whether all terms hold; `value` gives a field's value, empty when the object does not have it.
    pub(crate) fn matches(&self, value: impl Fn(&str) -> String) -> bool {
        self.terms.iter().all(|term| (value(&term.field) == term.value) == term.equal)
    }
}

/// Splits at commas that are not escaped.
fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut escaped = false;
    for c in text.chars() {
        if c == ',' && !escaped {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(c);
        }
        escaped = c == '\\' && !escaped;
    }
    parts
}

fn operator(part: &str) -> Option<(&str, &str, bool)> {
    let at = part.find(['=', '!'])?;
    let (field, rest) = part.split_at(at);
    [("!=", false), ("==", true), ("=", true)]
        .into_iter()
        .find_map(|(sign, equal)| rest.strip_prefix(sign).map(|value| (field, value, equal)))
}

fn unescape(value: &str) -> Result<String, String> {
    let mut text = String::with_capacity(value.len());
    let mut escaped = false;
    for c in value.chars() {
        match c {
            '\\' | ',' | '=' if escaped => {
                text.push(c);
                escaped = false;
            }
            _ if escaped => {
                return Err(format!("invalid field selector: invalid escape sequence: \\{c}"));
            }
            '\\' => escaped = true,
            ',' | '=' => return Err(format!("invalid field selector: unescaped character in value: {c}")),
            _ => text.push(c),
        }
    }
    if escaped { Err("invalid field selector: incomplete escape sequence in value".to_owned()) } else { Ok(text) }
}

#[cfg(test)]
mod tests {
    use super::FieldSelector;

    fn check(selector: &str, expected: Result<bool, &str>) {
        let value = |field: &str| if field == "metadata.name" { "a,b".to_owned() } else { String::new() };
        let got = FieldSelector::parse(selector).map(|parsed| parsed.matches(value));
        assert_eq!(got, expected.map_err(str::to_owned), "{selector}");
    }

    #[test]
    fn terms_are_compared() {
        check("", Ok(true));
        check(r"metadata.name=a\,b", Ok(true));
        check(r"metadata.name!=a\,b", Ok(false));
        check("metadata.name==x", Ok(false));
        check("spec.color=", Ok(true));
        check("spec.color!=red,metadata.name!=x", Ok(true));
        check("a.b", Err("invalid selector: 'a.b'; can't understand 'a.b'"));
        check(r"a=\x", Err(r"invalid field selector: invalid escape sequence: \x"));
    }
}
