/// Source files may have this many lines.
pub(crate) const LIMIT: usize = 500;

/// Files that may be longer, each with the reason why splitting it would not help.
pub(crate) const EXCEPTIONS: &[(&str, &str)] = &[];
