//! Paths to fields.

use std::fmt::{self, Display, Formatter};

use super::PathElement;

/// The path from the root of an object to one of its fields or list items.
///
/// ```
/// use controller_runtime_merge::{FieldPath, PathElement};
///
/// let image = FieldPath::fields(["spec", "containers"])
///     .child(PathElement::key([("name", "app")]))
///     .child(PathElement::field("image"));
/// assert_eq!(image.to_string(), r#".spec.containers[name="app"].image"#);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldPath(Vec<PathElement>);

impl FieldPath {
    /// The path of the whole object.
    pub fn root() -> FieldPath {
        FieldPath::default()
    }

    /// A path through named fields only.
    pub fn fields<N: Into<String>>(names: impl IntoIterator<Item = N>) -> FieldPath {
        FieldPath(names.into_iter().map(PathElement::field).collect())
    }

    /// This path with one more step.
    #[must_use]
    pub fn child(mut self, element: PathElement) -> FieldPath {
        self.0.push(element);
        self
    }

    /// The steps, from the root down.
    pub fn elements(&self) -> &[PathElement] {
        &self.0
    }

    pub(crate) fn push(&mut self, element: PathElement) {
        self.0.push(element);
    }

    pub(crate) fn pop(&mut self) {
        self.0.pop();
    }
}

impl From<Vec<PathElement>> for FieldPath {
    fn from(elements: Vec<PathElement>) -> FieldPath {
        FieldPath(elements)
    }
}

/// The form of error messages, such as `.spec.containers[name="app"].image`.
impl Display for FieldPath {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|element| element.fmt(f))
    }
}
