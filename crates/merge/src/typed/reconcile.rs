//! Field sets that were written when the schema was another one.

use crate::field::{FieldPath, FieldSet, PathElement};

use super::schema_type::{Form, ListShape, MapShape, Type};

/// `set` as it would be under today's type: where a list or map has become atomic, its owner owns it whole.
pub(crate) fn reconcile(set: &FieldSet, of: Type<'_>) -> FieldSet {
    let mut walk = Walk { path: FieldPath::root(), atomic: FieldSet::new() };
    walk.place(Some(set), false, of);
    if walk.atomic.is_empty() { set.clone() } else { set.recursive_difference(&walk.atomic).union(&walk.atomic) }
}

struct Walk {
    path: FieldPath,
    /// Places that are atomic now, and below which the set has members.
    atomic: FieldSet,
}

impl Walk {
    fn place(&mut self, set: Option<&FieldSet>, was_atomic: bool, of: Type<'_>) {
        match of.form_of(None) {
            Some(Form::List(list)) if list.identity.is_atomic() => {
                if !was_atomic {
                    self.atomic.insert(&self.path);
                }
            }
            Some(Form::List(list)) => self.items(set, &list),
            Some(Form::Map(map)) if map.is_untyped() => {}
            Some(Form::Map(map)) if map.atomic => {
                if !was_atomic && set.is_some_and(|set| !set.is_empty()) {
                    self.atomic.insert(&self.path);
                }
            }
            Some(Form::Map(map)) => self.fields(set, &map),
            Some(Form::Scalar(_)) | None => {}
        }
    }

    fn items(&mut self, set: Option<&FieldSet>, list: &ListShape<'_>) {
        self.each(set, |_| Some(list.items));
    }

    fn fields(&mut self, set: Option<&FieldSet>, map: &MapShape<'_>) {
        self.each(set, |element| match element {
            PathElement::Field(name) => map.field(name),
            _ => map.field(""),
        });
    }

    fn each<'a>(&mut self, set: Option<&FieldSet>, of: impl Fn(&PathElement) -> Option<Type<'a>>) {
        let Some(set) = set else { return };
        let only_children = set.children().keys().filter(|element| !set.members().contains(element));
        for element in only_children.chain(set.members()) {
            let Some(of) = of(element) else { continue };
            let below = set.children().get(element);
            let was_atomic = set.members().contains(element) && below.is_none();
            self.path.push(element.clone());
            self.place(below, was_atomic, of);
            self.path.pop();
        }
    }
}
