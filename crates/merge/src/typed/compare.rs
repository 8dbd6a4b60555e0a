//! Which fields differ between two values.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::field::{FieldPath, FieldSet, PathElement, same_value};

use super::check::scalar_problem;
use super::error::TypeErrors;
use super::schema_type::{Form, ListShape, MapShape, Type};

/// The fields that differ between an old and a new value; no field is in two of the sets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// Only in the old value.
    pub(crate) removed: FieldSet,
    /// In both, with different values.
    pub(crate) modified: FieldSet,
    /// Only in the new value.
    pub(crate) added: FieldSet,
}

impl Comparison {
    /// The comparison without the fields of a set and all that is below them.
    pub(crate) fn without(&self, fields: &FieldSet) -> Comparison {
        Comparison {
            removed: self.removed.recursive_difference(fields),
            modified: self.modified.recursive_difference(fields),
            added: self.added.recursive_difference(fields),
        }
    }
}

/// Compares two values of one type. Errors: items without keys, and scalars of which neither side fits.
pub(crate) fn compare(old: &Value, new: &Value, of: Type<'_>) -> Result<Comparison, TypeErrors> {
    let mut walk = Walk { path: FieldPath::root(), found: Comparison::default(), errors: TypeErrors::default() };
    walk.values(Some(old), Some(new), of);
    walk.errors.into_result().map(|()| walk.found)
}

struct Walk {
    path: FieldPath,
    found: Comparison,
    errors: TypeErrors,
}

impl Walk {
    fn values(&mut self, old: Option<&Value>, new: Option<&Value>, of: Type<'_>) {
        let (old_form, new_form) = (of.form_of(old), of.form_of(new));
        let was_leaf = match (old, new) {
            (_, None) => self.form(old_form, old, new),
            (None, Some(_)) => self.form(new_form, old, new),
            (Some(_), Some(_)) => {
                let differ = match (&old_form, &new_form) {
                    (Some(old_form), Some(new_form)) => !old_form.same_kind(new_form),
                    _ => true,
                };
                if differ {
                    self.form(old_form, old, new);
                }
                self.form(new_form, old, new)
            }
        };
        if !was_leaf {
            if old.is_none() {
                self.found.added.insert(&self.path);
            } else if new.is_none() {
                self.found.removed.insert(&self.path);
            }
        }
    }

    /// Compares in one form; says whether the place was a leaf in it.
    fn form(&mut self, form: Option<Form<'_>>, old: Option<&Value>, new: Option<&Value>) -> bool {
        match form {
            None => {
                self.errors.add(&self.path, "schema error: invalid atom: inlined");
                false
            }
            Some(Form::Scalar(scalar)) => {
                let problem = |value: Option<&Value>| value.and_then(|value| scalar_problem(scalar, value));
                if let (Some(old), Some(new)) = (problem(old), problem(new)) {
                    self.errors.add(&self.path, format!("lhs: {old}"));
                    self.errors.add(&self.path, format!("rhs: {new}"));
                    return false;
                }
                self.leaf(old, new);
                true
            }
            Some(Form::List(list)) => {
                let (old_items, new_items) = (items_of(old), items_of(new));
                if list.identity.is_atomic() || (old_items.is_empty() && new_items.is_empty()) {
                    self.leaf(old, new);
                    return true;
                }
                self.items(old_items, new_items, &list);
                false
            }
            Some(Form::Map(map)) => {
                let (old_fields, new_fields) = (fields_of(old), fields_of(new));
                let no_fields = old_fields.is_none_or(Map::is_empty) && new_fields.is_none_or(Map::is_empty);
                if map.atomic || no_fields {
                    self.leaf(old, new);
                    return true;
                }
                self.fields(old_fields, new_fields, &map);
                false
            }
        }
    }

    fn leaf(&mut self, old: Option<&Value>, new: Option<&Value>) {
        match (old, new) {
            (None, _) => self.found.added.insert(&self.path),
            (Some(_), None) => self.found.removed.insert(&self.path),
            (Some(old), Some(new)) if !same_value(old, new) => self.found.modified.insert(&self.path),
            _ => {}
        }
    }

    fn fields(&mut self, old: Option<&Map<String, Value>>, new: Option<&Map<String, Value>>, map: &MapShape<'_>) {
        let get = |fields: Option<&'_ Map<String, Value>>, name: &str| fields.is_some_and(|it| it.contains_key(name));
        let names = old.into_iter().chain(new).flat_map(Map::keys);
        for (index, name) in names.enumerate() {
            let seen_before = index >= old.map_or(0, Map::len) && get(old, name);
            if seen_before {
                continue;
            }
            self.path.push(PathElement::field(name));
            match map.field(name) {
                Some(of) => self.values(old.and_then(|it| it.get(name)), new.and_then(|it| it.get(name)), of),
                None => self.errors.add(&self.path, "schema error: invalid atom: inlined"),
            }
            self.path.pop();
        }
    }

    fn items(&mut self, old: &[Value], new: &[Value], list: &ListShape<'_>) {
        let mut both: BTreeMap<PathElement, (Vec<&Value>, Vec<&Value>)> = BTreeMap::new();
        for (index, item) in old.iter().enumerate() {
            if let Some(element) = self.element(index, item, list) {
                both.entry(element).or_default().0.push(item);
            }
        }
        for (index, item) in new.iter().enumerate() {
            if let Some(element) = self.element(index, item, list) {
                both.entry(element).or_default().1.push(item);
            }
        }
        for (element, (old, new)) in both {
            self.path.push(element);
            self.same_items(&old, &new, list.items);
            self.path.pop();
        }
    }

    /// Compares the items of one path element; there is more than one where the list has duplicates.
    fn same_items(&mut self, old: &[&Value], new: &[&Value], of: Type<'_>) {
        match (old, new) {
            ([] | [_], [] | [_]) => self.values(old.first().copied(), new.first().copied(), of),
            ([] | [_], _) => {
                if let [old] = old {
                    self.values(Some(old), None, of);
                }
                self.found.added.insert(&self.path);
            }
            (_, [] | [_]) => {
                if let [new] = new {
                    self.values(None, Some(new), of);
                }
                self.found.removed.insert(&self.path);
            }
            _ => {
                let equal = old.len() == new.len() && old.iter().zip(new).all(|(old, new)| same_value(old, new));
                if !equal {
                    self.found.modified.insert(&self.path);
                }
            }
        }
    }

    fn element(&mut self, index: usize, item: &Value, list: &ListShape<'_>) -> Option<PathElement> {
        list.element_of(item).map_err(|problem| self.errors.add(&self.path, format!("element {index}: {problem}"))).ok()
    }
}

fn items_of(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn fields_of(value: Option<&Value>) -> Option<&Map<String, Value>> {
    value.and_then(Value::as_object)
}
