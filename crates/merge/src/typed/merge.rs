//! Merging one value over another.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::field::{FieldPath, PathElement};

use super::check::scalar_problem;
use super::error::TypeErrors;
use super::schema_type::{Form, ListShape, MapShape, Type};

/// `old` with everything that `new` sets. Lists keep the order of `old` as far as `new` doesn't ask for another.
///
/// Errors: items without keys, items that `new` has twice, scalars of which neither side fits.
pub(crate) fn merge(old: &Value, new: &Value, of: Type<'_>) -> Result<Value, TypeErrors> {
    let mut walk = Walk { path: FieldPath::root(), errors: TypeErrors::default() };
    let merged = walk.values(Some(old), Some(new), of);
    walk.errors.into_result().map(|()| merged.unwrap_or(Value::Null))
}

struct Walk {
    path: FieldPath,
    errors: TypeErrors,
}

impl Walk {
    fn values(&mut self, old: Option<&Value>, new: Option<&Value>, of: Type<'_>) -> Option<Value> {
        let (old_form, new_form) = (of.form_of(old), of.form_of(new));
        if new.is_none() {
            return self.form(old_form, old, new);
        }
        if let (Some(_), Some(old_form), Some(new_form)) = (old, &old_form, &new_form)
            && !old_form.same_kind(new_form)
        {
            // The old form gives no result, but its errors count.
            self.form(Some(*old_form), old, new);
        }
        self.form(new_form, old, new)
    }

    fn form(&mut self, form: Option<Form<'_>>, old: Option<&Value>, new: Option<&Value>) -> Option<Value> {
        match form? {
            Form::Scalar(scalar) => {
                let problem = |value: Option<&Value>| value.and_then(|value| scalar_problem(scalar, value));
                if let (Some(old), Some(new)) = (problem(old), problem(new)) {
                    self.errors.add(&self.path, format!("lhs: {old}"));
                    self.errors.add(&self.path, format!("rhs: {new}"));
                    return None;
                }
                new.or(old).cloned()
            }
            Form::List(list) => {
                let items = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
                if list.identity.is_atomic() {
                    return new.or(old).cloned();
                }
                let (old_items, new_items) = (items(old), items(new));
                if old_items.is_empty() && new_items.is_empty() {
                    return new.or(old).cloned();
                }
                self.items(&old_items, &new_items, &list)
            }
            Form::Map(map) => {
                let old_fields = old.and_then(Value::as_object);
                let new_fields = new.and_then(Value::as_object);
                let no_fields = old_fields.is_none_or(Map::is_empty) && new_fields.is_none_or(Map::is_empty);
                if map.atomic || no_fields {
                    return new.or(old).cloned();
                }
                self.fields(old_fields, new_fields, &map)
            }
        }
    }

    fn fields(
        &mut self,
        old: Option<&Map<String, Value>>,
        new: Option<&Map<String, Value>>,
        map: &MapShape<'_>,
    ) -> Option<Value> {
        let mut merged = Map::new();
        let names: BTreeSet<&String> = old.into_iter().chain(new).flat_map(Map::keys).collect();
        for name in names {
            let (old, new) = (old.and_then(|it| it.get(name)), new.and_then(|it| it.get(name)));
            let Some(of) = map.field(name) else { continue };
            self.path.push(PathElement::field(name));
            if let Some(value) = self.values(old, new, of) {
                merged.insert(name.clone(), value);
            }
            self.path.pop();
        }
        (!merged.is_empty()).then_some(Value::Object(merged))
    }

    fn items(&mut self, old: &[Value], new: &[Value], list: &ListShape<'_>) -> Option<Value> {
        let before = self.errors.errors().len();
        let new = self.index(new, list, false);
        let old = self.index(old, list, true);
        if self.errors.errors().len() > before {
            return None;
        }
        let order = merged_order(&old.elements(), &new.elements());
        let merged: Vec<Value> =
            order.into_iter().filter_map(|place| self.item(place, &old, &new, list.items)).collect();
        (!merged.is_empty()).then_some(Value::Array(merged))
    }

    fn item(&mut self, place: Place, old: &Index<'_>, new: &Index<'_>, of: Type<'_>) -> Option<Value> {
        let (element, old_item, new_item) = match place {
            Place::Old(at) => {
                let (element, item) = old.items.get(at)?;
                (element, Some(*item), None)
            }
            Place::New(at) => {
                let (element, item) = new.items.get(at)?;
                // Items that the old list has twice aren't merged with the new one, which replaces them all.
                let old_item = old.by_element.get(element).map(|item| item.unwrap_or(&NULL));
                (element, old_item, Some(*item))
            }
        };
        self.path.push(element.clone());
        let merged = self.values(old_item, new_item, of);
        self.path.pop();
        merged
    }

    fn index<'a>(&mut self, items: &'a [Value], list: &ListShape<'_>, duplicates: bool) -> Index<'a> {
        let mut index = Index { items: Vec::with_capacity(items.len()), by_element: BTreeMap::new() };
        for (at, item) in items.iter().enumerate() {
            let element = match list.element_of(item) {
                Ok(element) => element,
                Err(problem) => {
                    self.errors.add(&self.path, format!("element {at}: {problem}"));
                    continue;
                }
            };
            let is_duplicate = index.by_element.contains_key(&element);
            if is_duplicate && !duplicates {
                self.errors.add(&self.path, format!("duplicate entries for key {element}"));
                continue;
            }
            index.by_element.insert(element.clone(), (!is_duplicate).then_some(item));
            index.items.push((element, item));
        }
        index
    }
}

/// The items of a list with the path elements that select them; `None` stands for more than one item.
struct Index<'a> {
    items: Vec<(PathElement, &'a Value)>,
    by_element: BTreeMap<PathElement, Option<&'a Value>>,
}

impl Index<'_> {
    fn elements(&self) -> Vec<&PathElement> {
        self.items.iter().map(|(element, _)| element).collect()
    }
}

static NULL: Value = Value::Null;

/// Where an item of a merged list comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The old list alone, at this index.
    Old(usize),
    /// The new list at this index, merged with the old item if there is one.
    New(usize),
}

/// The order of a merged list: shared items as in the new list, those of one list only next to their neighbours there.
fn merged_order(old: &[&PathElement], new: &[&PathElement]) -> Vec<Place> {
    let in_old: BTreeSet<&PathElement> = old.iter().copied().collect();
    let in_new: BTreeSet<&PathElement> = new.iter().copied().collect();
    let mut shared = new.iter().copied().filter(|element| in_old.contains(element)).peekable();
    let mut taken: BTreeSet<&PathElement> = BTreeSet::new();
    let (mut at_old, mut at_new) = (0, 0);
    let mut order = Vec::with_capacity(old.len().max(new.len()));
    while at_old < old.len() || at_new < new.len() {
        if let (Some(&next_old), Some(&next_new)) = (old.get(at_old), new.get(at_new)) {
            if next_old == next_new {
                taken.insert(next_new);
                order.push(Place::New(at_new));
                at_old += 1;
                at_new += 1;
                shared.next();
                continue;
            }
            if in_new.contains(next_old) && shared.peek().is_some_and(|&wanted| wanted != next_old) {
                // A shared item, but one that the new list has later.
                at_old += 1;
                continue;
            }
        }
        if let Some(&next_old) = old.get(at_old) {
            if !in_new.contains(next_old) {
                order.push(Place::Old(at_old));
                at_old += 1;
                continue;
            }
            if taken.contains(next_old) {
                at_old += 1;
            }
        }
        if let Some(&next_new) = new.get(at_new) {
            taken.insert(next_new);
            order.push(Place::New(at_new));
            at_new += 1;
            if shared.peek() == Some(&next_new) {
                shared.next();
            }
        }
    }
    order
}
