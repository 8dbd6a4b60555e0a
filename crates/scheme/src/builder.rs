use std::fmt;

use crate::error::SchemeError;
use crate::scheme::Scheme;

/// Collects what crates contribute to a scheme: see [`Scheme::builder`].
#[derive(Default)]
#[must_use = "a builder makes nothing until `build`"]
pub struct SchemeBuilder {
    contributions: Vec<Contribution>,
}

type Contribution = Box<dyn FnOnce(&mut Scheme) -> Result<(), SchemeError> + Send>;

impl SchemeBuilder {
    /// Adds what a crate contributes: a function that registers its types. A crate with types of custom resources exports
    /// one, so that its users needn't know which types there are.
    pub fn with(mut self, contribution: impl FnOnce(&mut Scheme) -> Result<(), SchemeError> + Send + 'static) -> Self {
        self.contributions.push(Box::new(contribution));
        self
    }

    /// Adds what another builder has collected.
    pub fn with_builder(mut self, other: Self) -> Self {
        self.contributions.extend(other.contributions);
        self
    }

    /// The scheme, with what was contributed in the order in which it was. The first error ends it.
    pub fn build(self) -> Result<Scheme, SchemeError> {
        let mut scheme = Scheme::new();
        self.contributions.into_iter().try_for_each(|contribution| contribution(&mut scheme))?;
        Ok(scheme)
    }
}

impl fmt::Debug for SchemeBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SchemeBuilder").field("contributions", &self.contributions.len()).finish()
    }
}
