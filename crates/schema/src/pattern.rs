use std::fmt;
use std::sync::{Arc, OnceLock};

use regex::Regex;

use crate::go_regex;

/// A regular expression in Go's syntax (RE2), compiled when it is first used.
#[derive(Clone)]
pub struct Pattern {
    text: String,
    compiled: Arc<OnceLock<Result<Regex, String>>>,
}

/// The expression can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("error parsing regexp: {message}")]
pub struct PatternError {
    message: String,
}

impl Pattern {
    /// An expression, not yet compiled.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), compiled: Arc::default() }
    }

    /// The expression as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The compiled expression.
    pub(crate) fn compiled(&self) -> Result<Regex, PatternError> {
        let compiled = self.compiled.get_or_init(|| go_regex::compile(&self.text));
        compiled.clone().map_err(|message| PatternError { message })
    }

    /// Whether the expression matches anywhere in the text. Gives an error when the expression can't be compiled.
    pub fn is_match(&self, text: &str) -> Result<bool, PatternError> {
        match self.compiled.get_or_init(|| go_regex::compile(&self.text)) {
            Ok(regex) => Ok(regex.is_match(text)),
            Err(message) => Err(PatternError { message: message.clone() }),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({:?})", self.text)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}
