mod check;
mod checks;
mod report;
pub(crate) mod watchdog;

pub use check::Check;
pub(crate) use checks::Checks;
