//! Whether a value fits its type.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::field::{FieldPath, PathElement};

use super::error::TypeErrors;
use super::go_syntax::{GoPlain, GoSyntax, go_type};
use super::schema_type::{Form, ListShape, MapShape, Scalar, Type};

/// Whether items of lists of type `set` and `map` may occur more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Duplicates {
    /// As in an object that a client sent for apply.
    Refused,
    /// As in an object that is stored: it may be older than the list type.
    Allowed,
}

/// Checks that `value` fits `of`. Errors: every place that doesn't, but for those inside a place whose own key is bad.
pub(crate) fn check(value: &Value, of: Type<'_>, duplicates: Duplicates) -> Result<(), TypeErrors> {
    let mut check = Check { path: FieldPath::root(), duplicates, errors: TypeErrors::default() };
    check.value(value, of);
    check.errors.into_result()
}

struct Check {
    path: FieldPath,
    duplicates: Duplicates,
    errors: TypeErrors,
}

impl Check {
    fn value(&mut self, value: &Value, of: Type<'_>) {
        match (of.form_of(Some(value)), value) {
            (None, _) => self.error("schema error: invalid atom: inlined"),
            (Some(Form::Scalar(scalar)), value) => {
                if let Some(problem) = scalar_problem(scalar, value) {
                    self.error(problem);
                }
            }
            (Some(Form::List(list)), Value::Array(items)) => self.items(items, &list),
            (Some(Form::Map(map)), Value::Object(fields)) => self.fields(fields, &map),
            (Some(Form::List(_) | Form::Map(_)), Value::Null) => {}
            (Some(Form::List(_)), other) => self.error(format!("expected list, got &{{{}}}", GoPlain(other))),
            (Some(Form::Map(_)), other) => self.error(format!("expected map, got &{{{}}}", GoPlain(other))),
        }
    }

    fn items(&mut self, items: &[Value], list: &ListShape<'_>) {
        let mut seen = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            let element = if list.identity.is_atomic() {
                PathElement::Index(i64::try_from(index).unwrap_or(i64::MAX))
            } else {
                match list.element_of(item) {
                    Ok(element) => element,
                    // Without its key nothing can be said of the item, nor of those behind it.
                    Err(problem) => return self.error(format!("element {index}: {problem}")),
                }
            };
            if !list.identity.is_atomic() && !seen.insert(element.clone()) && self.duplicates == Duplicates::Refused {
                self.error(format!("duplicate entries for key {element}"));
            }
            self.below(element, item, list.items);
        }
    }

    fn fields(&mut self, fields: &Map<String, Value>, map: &MapShape<'_>) {
        for (name, value) in fields {
            let element = PathElement::field(name);
            if let Some(of) = map.field(name) {
                self.below(element, value, of);
            } else {
                self.path.push(element);
                self.error("field not declared in schema");
                self.path.pop();
            }
        }
    }

    fn below(&mut self, element: PathElement, value: &Value, of: Type<'_>) {
        self.path.push(element);
        self.value(value, of);
        self.path.pop();
    }

    fn error(&mut self, message: impl Into<String>) {
        self.errors.add(&self.path, message);
    }
}

/// What is wrong with a scalar, if anything is; null is always allowed.
pub(crate) fn scalar_problem(scalar: Scalar, value: &Value) -> Option<String> {
    match (scalar, value) {
        (_, Value::Null)
        | (Scalar::Number | Scalar::Any, Value::Number(_))
        | (Scalar::String | Scalar::Any, Value::String(_))
        | (Scalar::Boolean | Scalar::Any, Value::Bool(_)) => None,
        (Scalar::Number, _) => Some(format!("expected numeric (int or float), got {}", go_type(value))),
        (Scalar::String, _) => {
            Some(format!("expected string, got &value.valueUnstructured{{Value:{}}}", GoSyntax(value)))
        }
        (Scalar::Boolean, _) => Some(format!("expected boolean, got &{{{}}}", GoPlain(value))),
        (Scalar::Any, _) => Some(format!("expected any scalar, got &{{{}}}", GoPlain(value))),
    }
}
