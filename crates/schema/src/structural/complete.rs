//! Completeness: what a nested schema restricts must be specified outside of it.

use super::props::Props;
use crate::field_error::FieldError;
use crate::field_path::FieldPath;

pub(super) fn check(props: Props<'_>, root: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    junctors(props, props, root, root, &mut errors);
    errors
}

/// The schemas under the junctors of `nested`, which is at `at` and about what `main` specifies at `main_at`.
fn junctors(nested: Props<'_>, main: Props<'_>, main_at: &FieldPath, at: &FieldPath, errors: &mut Vec<FieldError>) {
    if let Some(not) = nested.schema("not") {
        inside(not, Some(main), main_at, &at.child("not"), errors);
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        for (index, child) in nested.schemas(key) {
            inside(child, Some(main), main_at, &at.child(key).index(index), errors);
        }
    }
}

fn inside(
    nested: Props<'_>,
    main: Option<Props<'_>>,
    main_at: &FieldPath,
    at: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    let Some(main) = main else {
        errors.push(FieldError::required(main_at, format!("because it is defined in {at}")));
        return;
    };
    junctors(nested, main, main_at, at, errors);
    if let Some(items) = nested.schema("items") {
        inside(items, main.schema("items"), &main_at.child("items"), &at.child("items"), errors);
    }
    for (name, child) in nested.properties() {
        let main_at = main_at.child("properties").key(name);
        let at = at.child("properties").key(name);
        inside(child, main.property(name), &main_at, &at, errors);
    }
}
