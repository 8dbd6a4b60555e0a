//! Defaults must be values that their own schema accepts.

use crate::cel::rule::RuleValidator;
use crate::embedded::validate_embedded;
use crate::field_error::FieldError;
use crate::field_path::FieldPath;
use crate::prune::prune;
use crate::schema::Schema;
use crate::validate::validate;

pub(super) fn check(schema: &Schema, root: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    visit(schema, root, true, &mut errors);
    errors
}

fn visit(schema: &Schema, path: &FieldPath, is_root: bool, errors: &mut Vec<FieldError>) {
    if let Some(default) = &schema.default {
        let at = path.child("default");
        let mut pruned = default.clone();
        prune(&mut pruned, schema, schema.embedded_resource);
        if pruned != *default {
            errors.push(FieldError::invalid(&at, default.clone(), "must not have unknown fields"));
        }
        let embedded = validate_embedded(default, schema, &at, schema.embedded_resource, &|_, _| Vec::new());
        let mut found = if embedded.is_empty() { validate(default, schema, &at) } else { embedded };
        if found.is_empty()
            && let Some(rules) = RuleValidator::new(schema, is_root || schema.embedded_resource)
        {
            found = rules.validate(default, Some(default), &at).errors;
            // A default may also come where nothing was.
            if found.is_empty() {
                found = rules.validate(default, None, &at).errors;
            }
        }
        errors.extend(found);
    }
    if let Some(link) = &schema.items {
        visit(link.get(), &path.child("items"), false, errors);
    }
    for (name, link) in &schema.properties {
        visit(link.get(), &path.child("properties").key(name), false, errors);
    }
}
