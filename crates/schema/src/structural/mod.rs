//! What the schema of a custom resource must satisfy.

mod complete;
mod defaults;
mod keywords;
mod props;
mod shape;

use serde_json::Value;

use self::props::Props;
use crate::cel::rule::{EarlierRules, RuleCheck, RuleScope};
use crate::field_error::FieldError;
use crate::field_path::FieldPath;
use crate::schema::Schema;

/// What is wrong with `schema`, the `openAPIV3Schema` of a version in a CustomResourceDefinition that is at `root`;
/// empty when it is structural and Kubernetes can serve it.
///
/// With `has_status` the version has the status subresource, which limits what may stand at the top of the schema.
/// The errors and their order are kube-apiserver's, but for maps, whose entries are taken in the order of their names.
/// CEL rules are compiled, and what they can cost is limited; `earlier` says whether the schema was installed before.
///
/// ```
/// use controller_runtime_schema::{EarlierRules, FieldPath, check_structural};
/// use serde_json::json;
///
/// let schema = json!({"properties": {"spec": {"type": "object"}}});
/// let errors = check_structural(&schema, &FieldPath::new("schema"), false, EarlierRules::Changed);
/// assert_eq!(errors[0].to_string(), "schema.type: Required value: must not be empty at the root");
/// ```
pub fn check_structural(schema: &Value, root: &FieldPath, has_status: bool, earlier: EarlierRules) -> Vec<FieldError> {
    let props = Props::new(schema);
    let mut errors = Vec::new();
    if has_status {
        top_of_status(props, root, &mut errors);
    }
    if props.flag("nullable") {
        errors.push(FieldError::forbidden(&root.child("nullable"), "nullable cannot be true at the root"));
    }
    let mut unsupported = None;
    let mut sound = None;
    if let Some(message) = shape::unsupported(props) {
        unsupported = Some(FieldError::invalid(root, "", message));
    } else {
        let mut found = shape::check(props, root);
        found.extend(complete::check(props, root));
        found.sort_by_cached_key(ToString::to_string);
        // Defaults are only looked at in schemas that say what they are for.
        if found.is_empty()
            && let Ok(parsed) = Schema::from_json(schema)
        {
            found = defaults::check(&parsed, root);
            sound = found.is_empty().then_some(parsed);
        }
        errors.extend(found);
    }
    let mut rules = RuleCheck::new(earlier);
    keywords::check(props, root, sound.as_ref().map(RuleScope::root).as_ref(), &mut rules, &mut errors);
    errors.extend(rules.take_errors());
    if errors.is_empty() {
        errors.extend(unsupported);
    }
    errors.extend(rules.total(root));
    errors
}

/// What may stand at the top of a schema whose status is validated apart.
fn top_of_status(props: Props<'_>, root: &FieldPath, errors: &mut Vec<FieldError>) {
    const ALLOWED: [(&str, &str); 22] = [
        ("Description", "description"),
        ("Type", "type"),
        ("Format", "format"),
        ("Title", "title"),
        ("Maximum", "maximum"),
        ("ExclusiveMaximum", "exclusiveMaximum"),
        ("Minimum", "minimum"),
        ("ExclusiveMinimum", "exclusiveMinimum"),
        ("MaxLength", "maxLength"),
        ("MinLength", "minLength"),
        ("Pattern", "pattern"),
        ("MaxItems", "maxItems"),
        ("MinItems", "minItems"),
        ("UniqueItems", "uniqueItems"),
        ("MultipleOf", "multipleOf"),
        ("Required", "required"),
        ("Items", "items"),
        ("Properties", "properties"),
        ("ExternalDocs", "externalDocs"),
        ("Example", "example"),
        ("XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields"),
        ("XValidations", "x-kubernetes-validations"),
    ];
    let kind = props.text("type");
    if !matches!(kind, "" | "object") {
        let detail =
            "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled";
        errors.push(FieldError::invalid(&root.child("type"), kind, detail));
        return;
    }
    if props.given().any(|key| !ALLOWED.iter().any(|(_, name)| *name == key)) {
        let names: Vec<_> = ALLOWED.iter().map(|(name, _)| *name).collect();
        let detail = format!(
            "only [{}] fields are allowed at the root of the schema if the status subresource is enabled",
            names.join(" ")
        );
        errors.push(FieldError::invalid(root, props.json(), detail));
    }
}

#[cfg(test)]
mod tests;
