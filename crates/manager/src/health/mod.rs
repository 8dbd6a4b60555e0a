mod checks;
mod report;

pub use checks::Check;
pub(crate) use checks::Checks;
