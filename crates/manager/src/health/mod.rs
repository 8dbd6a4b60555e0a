mod check;
mod checks;
mod report;

pub use check::Check;
pub(crate) use checks::Checks;
