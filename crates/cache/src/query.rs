use controller_runtime_client::{Expression, Selector};

/// Which objects of the cache to list. Everything that is set must match.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ListQuery {
    /// Only objects of this namespace. Default: of all that the cache holds.
    pub namespace: Option<String>,
    /// Only objects whose labels match. Default: all.
    pub labels: Selector,
    /// Only objects that an index, by its name, lists under this value. Default: all.
    pub index: Option<(String, String)>,
}

impl ListQuery {
    /// Everything the cache holds.
    pub fn all() -> Self {
        Self::default()
    }

    /// Everything of one namespace.
    pub fn in_namespace(namespace: impl Into<String>) -> Self {
        Self { namespace: Some(namespace.into()), ..Self::default() }
    }

    /// What the index `name` lists under `value`.
    pub fn by_index(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { index: Some((name.into(), value.into())), ..Self::default() }
    }

    /// Restricts to a namespace.
    #[must_use]
    pub fn within(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Adds to the label selector.
    #[must_use]
    pub fn labels(mut self, selector: impl Into<Selector>) -> Self {
        self.labels.extend(selector.into());
        self
    }

    /// Adds `key=value` to the label selector.
    #[must_use]
    pub fn label(self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels(Expression::Equal(key.into(), value.into()))
    }
}
