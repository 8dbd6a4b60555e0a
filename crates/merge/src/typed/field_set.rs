//! The set of fields that a value has.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::field::{FieldPath, FieldSet, PathElement};

use super::schema_type::{Form, ListShape, MapShape, Type};

/// The fields and list items that `value` sets.
///
/// Leaves are scalars, nulls, empty maps, and atomic lists and maps. The items of lists and the values of maps are
/// members themselves, beside what is below them; named fields of structs are not.
pub(crate) fn field_set(value: &Value, of: Type<'_>) -> FieldSet {
    let mut walk = Walk { path: FieldPath::root(), set: FieldSet::new() };
    walk.value(value, of);
    walk.set
}

struct Walk {
    path: FieldPath,
    set: FieldSet,
}

impl Walk {
    fn value(&mut self, value: &Value, of: Type<'_>) {
        match (of.form_of(Some(value)), value) {
            (Some(Form::Scalar(_)), _) => self.set.insert(&self.path),
            (Some(Form::List(list)), _) if list.identity.is_atomic() => self.set.insert(&self.path),
            (Some(Form::Map(map)), _) if map.atomic => self.set.insert(&self.path),
            (Some(Form::List(list)), Value::Array(items)) => self.items(items, &list),
            (Some(Form::Map(map)), Value::Object(fields)) => self.fields(fields, &map),
            _ => {}
        }
    }

    fn items(&mut self, items: &[Value], list: &ListShape<'_>) {
        let keyed: Vec<(PathElement, &Value)> =
            items.iter().filter_map(|item| Some((list.element_of(item).ok()?, item))).collect();
        let mut count: BTreeMap<&PathElement, usize> = BTreeMap::new();
        for (element, _) in &keyed {
            *count.entry(element).or_default() += 1;
        }
        for (element, item) in &keyed {
            self.path.push(element.clone());
            // What is below an item that occurs more than once can't be told apart.
            if count.get(element) == Some(&1) {
                self.value(item, list.items);
            }
            self.set.insert(&self.path);
            self.path.pop();
        }
    }

    fn fields(&mut self, fields: &Map<String, Value>, map: &MapShape<'_>) {
        for (name, value) in fields {
            let Some(of) = map.field(name) else { continue };
            self.path.push(PathElement::field(name));
            self.value(value, of);
            let is_empty = value.is_null() || value.as_object().is_some_and(Map::is_empty);
            if is_empty || map.named(name).is_none() {
                self.set.insert(&self.path);
            }
            self.path.pop();
        }
    }
}

/// `set`, and every named field of a struct that has members below it.
pub(crate) fn with_named_parents(set: &FieldSet, of: Option<Type<'_>>) -> FieldSet {
    let map = of.and_then(Type::map);
    let list = of.and_then(Type::list);
    let mut members: BTreeSet<PathElement> = set.members().clone();
    let mut children = BTreeMap::new();
    for (element, child) in set.children() {
        let below = match element {
            PathElement::Field(name) => {
                if map.is_some_and(|map| map.named(name).is_some()) {
                    members.insert(element.clone());
                }
                map.and_then(|map| map.field(name))
            }
            PathElement::Key(_) => list.map(|list| list.items),
            PathElement::Value(_) | PathElement::Index(_) => None,
        };
        children.insert(element.clone(), with_named_parents(child, below));
    }
    FieldSet::from_parts(members, children)
}
