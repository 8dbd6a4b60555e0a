use std::fmt;

/// Where a value is, as a chain through the callers' frames, so that paths are only put together for errors.
#[derive(Clone, Copy)]
pub(super) enum Trail<'a> {
    Root,
    Property(&'a Trail<'a>, &'a str),
    /// A value under a key that no property names; at the root its path starts with a dot, as in kube-apiserver.
    Additional(&'a Trail<'a>, &'a str),
    Index(&'a Trail<'a>, usize),
}

impl Trail<'_> {
    fn is_root(&self) -> bool {
        matches!(self, Self::Root)
    }
}

impl fmt::Display for Trail<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Property(parent, name) if parent.is_root() => f.write_str(name),
            Self::Property(parent, name) | Self::Additional(parent, name) => write!(f, "{parent}.{name}"),
            Self::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}
