//! What functions do: a file for each library.

mod authorizer;
mod cidr;
mod conversion;
mod format;
mod ip;
mod list;
mod named_format;
mod quantity;
mod regex;
mod semver;
mod set;
mod string;
mod time;
mod url;

pub use self::authorizer::{Authorizer, Decision, Question};
pub use self::cidr::Cidr;
pub use self::ip::Ip;
pub use self::quantity::Quantity;
pub use self::semver::Semver;
pub use self::url::Url;

pub(crate) use self::regex::pattern;
pub(crate) use self::time::{duration, timestamp};

use super::evaluate::EvaluationError;
use super::value::CelValue;

/// What a function of a library gives; `None` when the library has no such function for these arguments.
type Outcome<'a> = Option<Result<CelValue<'a>, EvaluationError>>;

/// Calls a function that isn't an operator. A receiver is the first argument.
pub(super) fn call<'a>(function: &str, arguments: &[CelValue<'a>]) -> Outcome<'a> {
    let libraries = [
        conversion::call,
        string::call,
        regex::call,
        time::call,
        list::call,
        set::call,
        format::call,
        quantity::call,
        semver::call,
        ip::call,
        cidr::call,
        url::call,
        named_format::call,
        authorizer::call,
    ];
    libraries.into_iter().find_map(|library| library(function, arguments))
}

/// An error that a function gives.
#[expect(clippy::unnecessary_wraps, reason = "what a library answers: absent where it has no such function")]
fn failed<'a>(message: impl Into<String>) -> Outcome<'a> {
    Some(Err(EvaluationError::Failed(message.into())))
}

/// A value that a function gives.
#[expect(clippy::unnecessary_wraps, reason = "what a library answers: absent where it has no such function")]
fn gives(value: CelValue<'_>) -> Outcome<'_> {
    Some(Ok(value))
}
