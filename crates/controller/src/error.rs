use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use controller_runtime_cache::CacheError;
use controller_runtime_client::{ClientError, ErrorClass};

/// What reconcilers and programs give back. The error is [`Error`] unless said otherwise.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A reconcile failed.
///
/// Any [`std::error::Error`] becomes one with `?`. As in Go's controller-runtime every error is transient, so that the
/// object is tried again after its back-off, unless it is said to be terminal: by [`Error::terminal`], or by a
/// [`CacheError`] or [`ClientError`] in its chain of sources whose class is [`ErrorClass::Terminal`], which fails the same
/// way whatever the cluster is like. An object that the server finds invalid ([`ErrorClass::Invalid`]) is tried again:
/// what the rules and the next request are may depend on objects that have changed by then. The object of a terminal
/// error is reconciled again when something changes.
///
/// Like other types that every error converts into, it isn't a [`std::error::Error`] itself.
pub struct Error {
    source: Box<dyn StdError + Send + Sync>,
    class: Class,
    priority: Option<i32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Transient { retry_after: Option<Duration> },
    Terminal,
}

impl Error {
    /// An error that another try can mend.
    pub fn transient(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self { source: error.into(), class: Class::Transient { retry_after: None }, priority: None }
    }

    /// An error that no other try can mend until something changes.
    pub fn terminal(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self { source: error.into(), class: Class::Terminal, priority: None }
    }

    /// The priority with which the object is queued again; by default the one it came with. A terminal error queues
    /// nothing.
    #[must_use]
    pub fn with_priority(mut self, priority: i32) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Whether no other try can mend it.
    pub fn is_terminal(&self) -> bool {
        self.class == Class::Terminal
    }

    pub(crate) fn priority(&self) -> Option<i32> {
        self.priority
    }

    /// How long the server has asked to wait before the next try. Controllers wait 1000 s at most.
    pub fn retry_after(&self) -> Option<Duration> {
        match self.class {
            Class::Transient { retry_after } => retry_after,
            Class::Terminal => None,
        }
    }

    /// The error that it was made of.
    pub fn source(&self) -> &(dyn StdError + Send + Sync + 'static) {
        self.source.as_ref()
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        let class = class_of(&error);
        Self { source: Box::new(error), class, priority: None }
    }
}

fn class_of(error: &(dyn StdError + 'static)) -> Class {
    let mut next = Some(error);
    while let Some(error) = next {
        let class = error.downcast_ref::<ClientError>().map(ClientError::class);
        if let Some(class) = class.or_else(|| error.downcast_ref::<CacheError>().map(CacheError::class)) {
            return match class {
                ErrorClass::Terminal => Class::Terminal,
                ErrorClass::Transient { retry_after } => Class::Transient { retry_after },
                _ => Class::Transient { retry_after: None },
            };
        }
        next = error.source();
    }
    Class::Transient { retry_after: None }
}

/// The error with those that led to it, unless it tells of them itself.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = self.source.to_string();
        let mut next = self.source.source();
        while let Some(error) = next {
            let cause = error.to_string();
            if !text.contains(&cause) {
                text.push_str(": ");
                text.push_str(&cause);
            }
            next = error.source();
        }
        f.write_str(&text)
    }
}

/// The same as [`Display`](fmt::Display), which is what a `main` that ends with an error prints.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::Error;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot scale")]
    struct Scale(#[source] std::io::Error);

    #[test]
    fn any_error_is_transient_and_tells_its_causes() {
        let error = Error::from(Scale(std::io::Error::other("no quota")));
        assert!(!error.is_terminal());
        assert_eq!(error.to_string(), "cannot scale: no quota");
        assert_eq!(format!("{error:?}"), "cannot scale: no quota");
    }

    #[test]
    fn a_terminal_error_is_so_when_it_is_called_so() {
        let error = Error::terminal("spec.size is negative");
        assert!(error.is_terminal());
        assert_eq!(error.to_string(), "spec.size is negative");
        assert!(!Error::transient("later").is_terminal());
    }
}
