//! Which types fit which, and what open types in signatures come to stand for. The rules are cel-go's.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cel::cel_type::CelType;

/// What open types stand for.
#[derive(Clone, Debug, Default)]
pub(super) struct Mapping(BTreeMap<Arc<str>, CelType>);

impl Mapping {
    /// Whether a value of `from` can be where a `to` is expected. Open types are bound only when it is so.
    pub(super) fn assign(&mut self, to: &CelType, from: &CelType) -> bool {
        let mut tried = self.clone();
        let fits = tried.fits(to, from);
        if fits {
            *self = tried;
        }
        fits
    }

    /// Lets an open type stand for something, whatever that is.
    pub(super) fn set(&mut self, name: &str, of: CelType) {
        self.0.insert(name.into(), of);
    }

    /// The same for all arguments of a call.
    pub(super) fn assign_all(&mut self, to: &[CelType], from: &[CelType]) -> bool {
        if to.len() != from.len() {
            return false;
        }
        let mut tried = self.clone();
        let fits = to.iter().zip(from).all(|(to, from)| tried.fits(from, to));
        if fits {
            *self = tried;
        }
        fits
    }

    fn fits(&mut self, one: &CelType, other: &CelType) -> bool {
        if let CelType::Parameter(name) = other {
            let (valid, known) = self.bind(one, name);
            if valid {
                return true;
            }
            if known {
                return false;
            }
        }
        if let CelType::Parameter(name) = one {
            return self.bind(other, name).0;
        }
        if one.is_dyn() || other.is_dyn() {
            return true;
        }
        match (one, other) {
            (CelType::Null, of) | (of, CelType::Null) => is_nullable(of),
            (CelType::Type(_), CelType::Type(_)) => true,
            (CelType::List(left), CelType::List(right)) | (CelType::Optional(left), CelType::Optional(right)) => {
                self.fits(left, right)
            }
            (CelType::Map(key, value), CelType::Map(other_key, other_value)) => {
                self.fits(key, other_key) && self.fits(value, other_value)
            }
            (CelType::Object(left), CelType::Object(right)) => left.name == right.name,
            (left, right) => left == right,
        }
    }

    /// Whether an open type can stand for `of`, and whether it stood for something before.
    fn bind(&mut self, of: &CelType, name: &Arc<str>) -> (bool, bool) {
        if matches!(of, CelType::Parameter(other) if other == name) {
            return (true, true);
        }
        if let Some(known) = self.0.get(name).cloned() {
            if *of == known {
                return (true, true);
            }
            if !self.fits(of, &known) {
                return (false, true);
            }
            let general = most_general(of.clone(), known);
            if !self.refers(&general, name) {
                self.0.insert(Arc::clone(name), general);
            }
            return (true, true);
        }
        if self.refers(of, name) {
            return (false, false);
        }
        self.0.insert(Arc::clone(name), of.clone());
        (true, false)
    }

    /// Whether a type has an open type in it, maybe through what others stand for.
    fn refers(&self, within: &CelType, name: &Arc<str>) -> bool {
        match within {
            CelType::Parameter(other) if other == name => true,
            CelType::Parameter(other) => self.0.get(other).is_some_and(|of| self.refers(of, name)),
            other => other.parameters().into_iter().any(|of| self.refers(of, name)),
        }
    }

    /// The type with what open types stand for in their place; those that stand for nothing stay, or are `dyn`.
    pub(super) fn resolve(&self, of: &CelType, open_is_dyn: bool) -> CelType {
        let again = |of: &Arc<CelType>| Arc::new(self.resolve(of, open_is_dyn));
        match of {
            CelType::Parameter(name) => match self.0.get(name) {
                Some(known) => self.resolve(known, open_is_dyn),
                None if open_is_dyn => CelType::Dyn,
                None => of.clone(),
            },
            CelType::List(of) => CelType::List(again(of)),
            CelType::Optional(of) => CelType::Optional(again(of)),
            CelType::Type(of) => CelType::Type(again(of)),
            CelType::Map(key, value) => CelType::Map(again(key), again(value)),
            other => other.clone(),
        }
    }
}

fn is_nullable(of: &CelType) -> bool {
    matches!(
        of,
        CelType::Null
            | CelType::Duration
            | CelType::Timestamp
            | CelType::Object(_)
            | CelType::Opaque(_)
            | CelType::Optional(_)
    )
}

/// The one of two types that fit each other which says less.
pub(super) fn most_general(one: CelType, other: CelType) -> CelType {
    if says_less(&one, &other) { one } else { other }
}

fn says_less(one: &CelType, other: &CelType) -> bool {
    if one.is_dyn() || matches!(one, CelType::Parameter(_)) {
        return true;
    }
    if other.is_dyn() || matches!(other, CelType::Parameter(_)) {
        return false;
    }
    if std::mem::discriminant(one) != std::mem::discriminant(other) {
        return false;
    }
    match (one, other) {
        (CelType::Object(_) | CelType::Opaque(_), _) => one == other,
        _ => one.parameters().into_iter().zip(other.parameters()).all(|(one, other)| says_less(one, other)),
    }
}
