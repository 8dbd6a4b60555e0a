use crate::status::ApiError;

/// The parameters of a request's URL, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Parses the part of the URL after the question mark.
    pub(crate) fn parse(text: &str) -> Self {
        Self(form_urlencoded::parse(text.as_bytes()).into_owned().collect())
    }

    /// The first value of a parameter, empty when it is absent.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    /// Whether a parameter is present at all.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    /// All values of a parameter.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// A switch: absent, `0` and `false` are off, everything else is on.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.has(name) && !matches!(self.text(name).to_ascii_lowercase().as_str(), "0" | "false")
    }

    /// A switch that knows whether it was given.
    pub(crate) fn optional_flag(&self, name: &str) -> Option<bool> {
        self.has(name).then(|| self.flag(name))
    }

    /// A whole number, `None` when absent or empty.
    pub(crate) fn number(&self, name: &str) -> Result<Option<i64>, ApiError> {
        let text = self.text(name);
        if text.is_empty() {
            return Ok(None);
        }
        text.parse().map(Some).map_err(|_| {
            let text = crate::status::quote(text);
            ApiError::bad_request(format!("strconv.ParseInt: parsing {text}: invalid syntax"))
        })
    }
}

/// An unsigned number as Go reads one: unlike Rust it takes no plus sign.
pub(crate) fn unsigned(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::unsigned;

    #[test]
    fn an_unsigned_number_has_only_digits() {
        for (text, expected) in [("5", Some(5)), ("+5", None), ("-5", None), ("", None), ("18446744073709551616", None)]
        {
            assert_eq!(unsigned(text), expected, "{text:?}");
        }
    }
}
