//! Defaults must be values that their own schema accepts.

use crate::embedded::validate_embedded;
use crate::field_error::FieldError;
use crate::field_path::FieldPath;
use crate::prune::prune;
use crate::schema::Schema;
use crate::validate::validate;

pub(super) fn check(schema: &Schema, root: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    visit(schema, root, &mut errors);
    errors
}

fn visit(schema: &Schema, path: &FieldPath, errors: &mut Vec<FieldError>) {
    if let Some(default) = &schema.default {
        let at = path.child("default");
        let mut pruned = default.clone();
        prune(&mut pruned, schema, schema.embedded_resource);
        if pruned != *default {
            errors.push(FieldError::invalid(&at, default.clone(), "must not have unknown fields"));
        }
        let embedded = validate_embedded(default, schema, &at, schema.embedded_resource, &|_, _| Vec::new());
        errors.extend(if embedded.is_empty() { validate(default, schema, &at) } else { embedded });
    }
    if let Some(link) = &schema.items {
        visit(link.get(), &path.child("items"), errors);
    }
    for (name, link) in &schema.properties {
        visit(link.get(), &path.child("properties").key(name), errors);
    }
}
