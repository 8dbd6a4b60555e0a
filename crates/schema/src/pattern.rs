use std::fmt;

/// A regular expression in Go's syntax.
#[derive(Clone, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    pub(crate) fn new(text: String) -> Self {
        Self(text)
    }

    /// The expression as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({:?})", self.0)
    }
}
