use std::borrow::Cow;

use controller_runtime_client::{Expression, Selector};
use controller_runtime_scheme::{Kind, Object};

use crate::error::CacheError;

/// Which objects of the cache to list. Everything that is set must match.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ListQuery {
    /// Only objects of this namespace. Default: of all that the cache holds.
    pub namespace: Option<String>,
    /// Only objects whose labels match. Default: all.
    pub labels: Selector,
    /// Only objects that each of these indexes, by its name, lists under this value. Default: all.
    pub indexes: Vec<(String, String)>,
    /// Only objects whose fields match, for example `spec.nodeName=a,status.phase=Running`. Each field must have an
    /// index that is named for it, and can only be compared with `=`. Default: all.
    pub fields: Option<String>,
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
        Self::default().indexed(name, value)
    }

    /// Restricts to what the index `name` lists under `value`, too.
    #[must_use]
    pub fn indexed(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.indexes.push((name.into(), value.into()));
        self
    }

    /// Restricts to objects whose fields match; see [`ListQuery::fields`](Self#structfield.fields).
    #[must_use]
    pub fn fields(mut self, selector: impl Into<String>) -> Self {
        self.fields = Some(selector.into());
        self
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

    /// A namespace must be one that objects of the kind can have.
    pub(crate) fn check_namespace<K: Object>(&self, kind: &Kind<K>) -> Result<(), CacheError> {
        match &self.namespace {
            Some(namespace) if namespace.is_empty() || !kind.is_namespaced() => {
                Err(CacheError::WrongNamespace { kind: kind.to_string(), namespace: namespace.clone() })
            }
            _ => Ok(()),
        }
    }

    /// The same query with its field selector turned into index values, or why that can't be.
    pub(crate) fn resolve(&self) -> Result<Cow<'_, Self>, SelectorProblem> {
        let Some(fields) = &self.fields else { return Ok(Cow::Borrowed(self)) };
        let mut resolved = self.clone();
        resolved.fields = None;
        for term in terms(fields).iter().filter(|term| !term.is_empty()) {
            resolved.indexes.push(exact(term)?);
        }
        Ok(Cow::Owned(resolved))
    }
}

/// Why the cache can't answer a field selector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SelectorProblem {
    #[error("{0:?} excludes a value, and an index finds objects only by the values that they have")]
    Excludes(String),
    #[error("{0:?} is not of the form field=value")]
    Malformed(String),
}

/// Splits at commas. A backslash takes its meaning from a comma, an equals sign and a backslash.
fn terms(selector: &str) -> Vec<String> {
    let mut terms = vec![String::new()];
    let mut escaped = false;
    for c in selector.chars() {
        if c == ',' && !escaped {
            terms.push(String::new());
        } else if let Some(term) = terms.last_mut() {
            term.push(c);
        }
        escaped = c == '\\' && !escaped;
    }
    terms
}

/// The field and the value of `field=value` or `field==value`.
fn exact(term: &str) -> Result<(String, String), SelectorProblem> {
    let malformed = || SelectorProblem::Malformed(term.to_owned());
    let (field, rest) = term.split_once('=').ok_or_else(malformed)?;
    if field.ends_with('!') {
        return Err(SelectorProblem::Excludes(term.to_owned()));
    }
    let field = field.trim();
    if field.is_empty() {
        return Err(malformed());
    }
    Ok((field.to_owned(), unescape(rest.strip_prefix('=').unwrap_or(rest))))
}

fn unescape(value: &str) -> String {
    let mut plain = String::new();
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        plain.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::ListQuery;

    fn check(selector: &str, expected: Result<&[(&str, &str)], &str>) {
        let query = ListQuery::by_index("first", "x").fields(selector);
        let resolved = query.resolve().map(|query| query.indexes.clone()).map_err(|problem| problem.to_string());
        let with_first = |terms: &[(&str, &str)]| {
            let named = |(field, value): &(&str, &str)| ((*field).to_owned(), (*value).to_owned());
            [("first", "x")].iter().chain(terms).map(named).collect::<Vec<_>>()
        };
        assert_eq!(resolved, expected.map(with_first).map_err(str::to_owned), "{selector}");
    }

    #[test]
    fn field_selectors_become_index_values() {
        check("", Ok(&[]));
        check("spec.nodeName=a", Ok(&[("spec.nodeName", "a")]));
        check("a==x,b=", Ok(&[("a", "x"), ("b", "")]));
        check(r"a=x\,y\=z\\,b=q=r", Ok(&[("a", r"x,y=z\"), ("b", "q=r")]));
        check("a", Err("\"a\" is not of the form field=value"));
        check("=x", Err("\"=x\" is not of the form field=value"));
        check(
            "a=x,b!=y",
            Err("\"b!=y\" excludes a value, and an index finds objects only by the values that they have"),
        );
    }
}
