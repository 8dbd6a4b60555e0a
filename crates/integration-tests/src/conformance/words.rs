use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Words of a transcript, written `$word` in its requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words(BTreeMap<String, String>);

impl Words {
    /// The words that every transcript has: `$ns`, `$group` and `$id`, which no other transcript has the same.
    pub(crate) fn new(id: &str) -> Self {
        let words = [("ns", format!("ns-{id}")), ("group", format!("{id}.example.com")), ("id", id.to_owned())];
        Self(words.map(|(word, value)| (word.to_owned(), value)).into_iter().collect())
    }

    pub(crate) fn set(&mut self, word: impl Into<String>, value: impl Into<String>) {
        self.0.insert(word.into(), value.into());
    }

    pub(crate) fn get(&self, word: &str) -> &str {
        self.0.get(word).map(String::as_str).unwrap_or_default()
    }

    /// The text with words replaced by what they stand for. A word ends where no letter, digit or underscore follows;
    /// of two that fit the longer one counts.
    pub(crate) fn fill(&self, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            filled.push_str(before);
            let ends = |word: &str| {
                let next = after.get(word.len()..).and_then(|rest| rest.chars().next());
                !next.is_some_and(|next| next.is_ascii_alphanumeric() || next == '_')
            };
            let fitting = self.0.iter().filter(|(word, _)| after.starts_with(word.as_str()) && ends(word));
            if let Some((word, value)) = fitting.max_by_key(|(word, _)| word.len()) {
                filled.push_str(value);
                rest = &after[word.len()..];
            } else {
                filled.push('$');
                rest = after;
            }
        }
        filled + rest
    }

    /// The same for all texts and keys in a document.
    pub(crate) fn fill_json(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.fill(text).into(),
            Value::Array(items) => items.iter().map(|item| self.fill_json(item)).collect(),
            Value::Object(fields) => {
                let fields = fields.iter().map(|(key, field)| (self.fill(key), self.fill_json(field)));
                Value::Object(fields.collect::<Map<_, _>>())
            }
            other => other.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Words;

    #[test]
    fn words_end_where_they_end() {
        let mut words = Words::new("x");
        words.set("rv", "5");
        words.set("hook", "h");
        words.set("hook.url", "u");
        assert_eq!(words.fill("$rv-$rva $patch $group/v1 $hook.url $hook. $"), "5-$rva $patch x.example.com/v1 u h. $");
    }
}
