//! What a CustomResourceDefinition must satisfy, with kube-apiserver's errors in its order.

use std::collections::BTreeSet;

use controller_runtime_schema::{EarlierRules, FieldError, FieldPath, check_structural};
use serde_json::{Value, json};

use super::accept::is_protected_group;
use super::definition::{Definition, Part, Version};
use super::{conversion, selectable};
use crate::metadata::names;

/// What is wrong with a new definition, beyond its metadata.
pub(super) fn validate_create(definition: Definition<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let metadata = FieldPath::new("metadata");
    let required = format!("{}.{}", definition.asked_name("plural"), definition.group());
    for (key, name) in [("generateName", definition.generate_name()), ("name", definition.name())] {
        if !name.is_empty() && name != required {
            let detail = "must be spec.names.plural+\".\"+spec.group";
            errors.push(FieldError::invalid(&metadata.child(key), name, detail));
        }
    }
    spec(definition, None, &mut errors);
    stored_versions(definition, &mut errors);
    approval(definition, None, &mut errors);
    preserve_unknown_fields(definition, &mut errors);
    errors
}

/// What is wrong with a changed definition, beyond its metadata.
pub(super) fn validate_update(definition: Definition<'_>, old: Definition<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    spec(definition, Some(old), &mut errors);
    let path = FieldPath::new("spec");
    let mut immutable = |path: &FieldPath, new: &str, old: &str| {
        if new != old {
            errors.push(FieldError::invalid(path, new, "field is immutable"));
        }
    };
    if old.is_established() {
        immutable(&path.child("scope"), definition.scope(), old.scope());
        immutable(&path.child("names").child("kind"), definition.asked_name("kind"), old.asked_name("kind"));
    }
    immutable(&path.child("group"), definition.group(), old.group());
    immutable(&path.child("names").child("plural"), definition.asked_name("plural"), old.asked_name("plural"));
    accepted_names(definition, &mut errors);
    stored_versions(definition, &mut errors);
    approval(definition, Some(old), &mut errors);
    if !old.preserves_unknown_fields() {
        preserve_unknown_fields(definition, &mut errors);
    }
    errors
}

/// What is wrong with a changed status.
pub(super) fn validate_status(definition: Definition<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    accepted_names(definition, &mut errors);
    errors
}

fn spec(definition: Definition<'_>, old: Option<Definition<'_>>, errors: &mut Vec<FieldError>) {
    let path = FieldPath::new("spec");
    group(definition.group(), &path.child("group"), errors);
    match definition.scope() {
        "" => errors.push(FieldError::required(&path.child("scope"), "")),
        "Cluster" | "Namespaced" => {}
        other => errors.push(FieldError::not_supported(&path.child("scope"), other, &["Cluster", "Namespaced"])),
    }
    let versions = definition.versions();
    let versions_at = path.child("versions");
    for (index, version) in versions.iter().enumerate() {
        if version.schema().is_none() {
            let at = versions_at.index(index).child("schema").child("openAPIV3Schema");
            errors.push(FieldError::required(&at, ""));
        }
    }
    for (index, version) in versions.iter().enumerate() {
        if let Some(problem) = joined(&names::dns_1035_label(version.name(), false)) {
            errors.push(FieldError::invalid(&versions_at.index(index).child("name"), version.name(), problem));
        }
        deprecation(*version, &versions_at.index(index), errors);
        parts(definition, index, (*version, earlier_rules(*version, old)), false, errors);
    }
    version_list(definition, &versions_at, errors);
    if let Some(first) = versions.first()
        && let Some(problem) = joined(&names::dns_1035_label(first.name(), false))
    {
        errors.push(FieldError::invalid(&path.child("version"), first.name(), problem));
    }
    for which in ["plural", "singular", "kind", "listKind"] {
        if definition.asked_name(which).is_empty() {
            errors.push(FieldError::required(&path.child("names").child(which), ""));
        }
    }
    asked_names(definition, errors);
    if let Some(first) = versions.first() {
        parts(definition, 0, (*first, earlier_rules(*first, old)), true, errors);
    }
    if let Some(value) = definition.conversion() {
        errors.extend(conversion::validate(value, &path.child("conversion")));
    }
}

fn group(group: &str, path: &FieldPath, errors: &mut Vec<FieldError>) {
    if group.is_empty() {
        errors.push(FieldError::required(path, ""));
        return;
    }
    let problems = names::dns_subdomain(group, false);
    if !problems.is_empty() {
        errors.push(FieldError::invalid(path, group, problems.join(",")));
    } else if !group.contains('.') {
        errors.push(FieldError::invalid(path, group, "should be a domain with at least one dot"));
    }
}

/// Several problems of one name as one text.
fn joined(problems: &[String]) -> Option<String> {
    (!problems.is_empty()).then(|| problems.join(","))
}

/// What is known of the rules of a version from before a change.
fn earlier_rules(version: Version<'_>, old: Option<Definition<'_>>) -> EarlierRules {
    let earlier = old.and_then(|old| old.versions().into_iter().find(|earlier| earlier.name() == version.name()));
    match earlier {
        Some(earlier) if earlier.schema() == version.schema() => EarlierRules::Unchanged,
        _ => EarlierRules::Changed,
    }
}

/// The parts of a version that all versions share, or those that it has of its own.
fn parts(
    definition: Definition<'_>,
    index: usize,
    (version, earlier): (Version<'_>, EarlierRules),
    shared: bool,
    errors: &mut Vec<FieldError>,
) {
    let is_due = |part| definition.is_shared(part) == shared;
    if is_due(Part::Schema)
        && let Some(schema) = version.schema()
    {
        let has_status =
            version.has_status() || (shared && definition.versions().iter().any(|version| version.has_status()));
        let at = definition.part(index, Part::Schema).child("openAPIV3Schema");
        errors.extend(check_structural(schema, &at, has_status, earlier));
    }
    if is_due(Part::Subresources)
        && let Some(scale) = version.scale()
    {
        scale_paths(scale, &definition.part(index, Part::Subresources), errors);
    }
    if is_due(Part::Columns) {
        for (number, column) in version.columns().iter().enumerate() {
            printer_column(column, &definition.part(index, Part::Columns).index(number), errors);
        }
    }
    if is_due(Part::SelectableFields)
        && let Some(schema) = version.schema()
    {
        let at = definition.part(index, Part::SelectableFields);
        errors.extend(selectable::validate(&version.selectable_fields(), schema, &at));
    }
}

fn deprecation(version: Version<'_>, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let Some(warning) = version.deprecation_warning() else { return };
    let mut fail =
        |detail: String| errors.push(FieldError::invalid(&path.child("deprecationWarning"), warning, detail));
    if !version.is_deprecated() {
        fail("can only be set for deprecated versions".to_owned());
        return;
    }
    if warning.len() > 256 {
        fail("must be <= 256 characters long".to_owned());
    }
    if warning.is_empty() {
        fail("must not be an empty string".to_owned());
    }
    if let Some((index, _)) = warning.char_indices().find(|(_, c)| c.is_control()) {
        let what = "must only contain printable UTF-8 characters; non-printable character found at index";
        fail(format!("{what} {index}"));
    }
}

fn version_list(definition: Definition<'_>, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let versions = definition.versions();
    let mut fail = |detail: &str| {
        let shown = shown_versions(definition);
        let error = FieldError::invalid(path, Value::Null, format!("{shown}: {detail}"));
        // The value is part of the text, because kube-apiserver shows its own form of it.
        errors.push(FieldError { value: None, ..error });
    };
    let distinct: BTreeSet<_> = versions.iter().map(|version| version.name()).collect();
    if distinct.len() != versions.len() {
        fail("must contain unique version names");
    }
    if versions.iter().filter(|version| version.is_storage()).count() != 1 {
        fail("must have exactly one version marked as storage version");
    }
}

/// The versions as kube-apiserver shows them, without what all of them share.
fn shown_versions(definition: Definition<'_>) -> String {
    if definition.raw_versions().is_none() {
        return "null".to_owned();
    }
    let part = |version: Version<'_>, part| match version.part(part) {
        Some(value) if !definition.is_shared(part) => value.to_string(),
        _ => "null".to_owned(),
    };
    let show = |version: Version<'_>| {
        format!(
            r#"{{"Name":{},"Served":{},"Storage":{},"Deprecated":{},"DeprecationWarning":{},"Schema":{},"Subresources":{},"AdditionalPrinterColumns":{},"SelectableFields":{}}}"#,
            Value::from(version.name()),
            version.is_served(),
            version.is_storage(),
            version.is_deprecated(),
            version.deprecation_warning().map_or(Value::Null, Value::from),
            part(version, Part::Schema),
            part(version, Part::Subresources),
            part(version, Part::Columns),
            part(version, Part::SelectableFields),
        )
    };
    let versions: Vec<_> = definition.versions().into_iter().map(show).collect();
    format!("[{}]", versions.join(","))
}

fn asked_names(definition: Definition<'_>, errors: &mut Vec<FieldError>) {
    let path = FieldPath::new("spec").child("names");
    let one = |which: &str| definition.asked_name(which);
    validate_names(&path, &one, &definition.asked_names("shortNames"), &definition.asked_names("categories"), errors);
}

fn accepted_names(definition: Definition<'_>, errors: &mut Vec<FieldError>) {
    let path = FieldPath::new("status").child("acceptedNames");
    let one = |which: &str| definition.accepted_name(which);
    let (short, categories) = (definition.accepted_names("shortNames"), definition.accepted_names("categories"));
    validate_names(&path, &one, &short, &categories, errors);
}

fn validate_names<'a>(
    path: &FieldPath,
    one: &dyn Fn(&str) -> &'a str,
    short_names: &[&str],
    categories: &[&str],
    errors: &mut Vec<FieldError>,
) {
    for which in ["plural", "singular", "kind", "listKind"] {
        let name = one(which);
        let mixed_case = matches!(which, "kind" | "listKind");
        let problems = if mixed_case {
            names::dns_1035_label(&name.to_lowercase(), false)
        } else {
            names::dns_1035_label(name, false)
        };
        let Some(problems) = joined(&problems).filter(|_| !name.is_empty()) else { continue };
        let lead = if mixed_case { "may have mixed case, but should otherwise match: " } else { "" };
        errors.push(FieldError::invalid(&path.child(which), name, format!("{lead}{problems}")));
    }
    validate_each(&path.child("shortNames"), short_names, errors);
    if !one("kind").is_empty() && one("kind") == one("listKind") {
        let detail = "kind and listKind may not be the same";
        errors.push(FieldError::invalid(&path.child("listKind"), one("kind"), detail));
    }
    validate_each(&path.child("categories"), categories, errors);
}

fn validate_each(path: &FieldPath, given: &[&str], errors: &mut Vec<FieldError>) {
    for (index, name) in given.iter().enumerate() {
        if let Some(problems) = joined(&names::dns_1035_label(name, false)) {
            errors.push(FieldError::invalid(&path.index(index), *name, problems));
        }
    }
}

fn printer_column(column: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    const TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
    const FORMATS: [&str; 8] = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
    let text = |key: &str| column.get(key).and_then(Value::as_str).unwrap_or_default();
    if text("name").is_empty() {
        errors.push(FieldError::required(&path.child("name"), ""));
    }
    let one_of = |values: &[&str]| format!("must be one of {}", values.join(","));
    match text("type") {
        "" => errors.push(FieldError::required(&path.child("type"), one_of(&TYPES))),
        value if TYPES.contains(&value) => {}
        value => errors.push(FieldError::invalid(&path.child("type"), value, one_of(&TYPES))),
    }
    let format = text("format");
    if !format.is_empty() && !FORMATS.contains(&format) {
        errors.push(FieldError::invalid(&path.child("format"), format, one_of(&FORMATS)));
    }
    match text("jsonPath") {
        "" => errors.push(FieldError::required(&path.child("JSONPath"), "")),
        json_path => errors.extend(simple_path(json_path, &path.child("JSONPath"))),
    }
}

fn simple_path(json_path: &str, path: &FieldPath) -> Option<FieldError> {
    (!json_path.starts_with('.'))
        .then(|| FieldError::invalid(path, json_path, "must be a simple json path starting with ."))
}

/// How deep a path to replicas may lead. Writing there makes what isn't yet there, and an object that is much deeper than
/// a body can be overflows the stack of whoever walks it. kube-apiserver has no such bound.
const MAX_SCALE_PATH: usize = 100;

fn scale_paths(scale: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    for (key, roots, detail) in [
        ("specReplicasPath", &[".spec."][..], "should be a json path under .spec"),
        ("statusReplicasPath", &[".status."][..], "should be a json path under .status"),
        ("labelSelectorPath", &[".spec.", ".status."][..], "should be a json path under either .spec or .status"),
    ] {
        let at = path.child("scale").child(key);
        let given = scale.get(key).and_then(Value::as_str).unwrap_or_default();
        if given.is_empty() {
            if key != "labelSelectorPath" {
                errors.push(FieldError::required(&at, ""));
            }
        } else if let Some(error) = simple_path(given, &at) {
            errors.push(error);
        } else if !roots.iter().any(|root| given.starts_with(root)) {
            errors.push(FieldError::invalid(&at, given, detail));
        } else if given.split('.').count() > MAX_SCALE_PATH {
            errors.push(FieldError::invalid(&at, given, format!("must not be deeper than {MAX_SCALE_PATH} levels")));
        }
    }
}

fn stored_versions(definition: Definition<'_>, errors: &mut Vec<FieldError>) {
    let path = FieldPath::new("status").child("storedVersions");
    let stored = definition.stored_versions();
    if stored.is_empty() {
        errors.push(FieldError::invalid(&path, Value::Null, "must have at least one stored version"));
        return;
    }
    let versions = definition.versions();
    for version in versions.iter().filter(|version| version.is_storage() && !stored.contains(&version.name())) {
        let detail = format!("must have the storage version {}", version.name());
        errors.push(FieldError::invalid(&path, json!(stored), detail));
    }
    for (index, name) in stored.iter().enumerate() {
        if !versions.iter().any(|version| version.name() == *name) {
            let detail = format!(
                "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions \
                 until a storage migration ensures no data remains persisted in {name} and removes {name} from \
                 status.storedVersions"
            );
            errors.push(FieldError::invalid(&path.index(index), *name, detail));
        }
    }
}

/// Groups of the Kubernetes community need somebody's approval.
fn approval(definition: Definition<'_>, old: Option<Definition<'_>>, errors: &mut Vec<FieldError>) {
    const KEY: &str = "api-approved.kubernetes.io";
    const MORE: &str = "see https://github.com/kubernetes/enhancements/pull/1111";
    if !is_protected_group(definition.group()) {
        return;
    }
    let state = |definition: Definition<'_>| match definition.annotation(KEY) {
        None | Some("") => Some(false),
        Some(text) if text.starts_with("unapproved") || is_url(text) => None,
        Some(_) => Some(true),
    };
    let now = state(definition);
    if old.is_some_and(|old| state(old) == now) {
        return;
    }
    let path = FieldPath::new("metadata").child("annotations").key(KEY);
    match now {
        Some(false) => {
            let detail = format!("protected groups must have approval annotation \"{KEY}\", {MORE}");
            errors.push(FieldError::required(&path, detail));
        }
        Some(true) => {
            let detail = format!(
                "protected groups must have approval annotation \"{KEY}\" with either a URL or a reason starting with \
                 \"unapproved\", {MORE}"
            );
            errors.push(FieldError::invalid(&path, definition.annotation(KEY).unwrap_or_default(), detail));
        }
        None => {}
    }
}

fn is_url(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, rest)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && !rest.is_empty() && !rest.starts_with('/')
    })
}

fn preserve_unknown_fields(definition: Definition<'_>, errors: &mut Vec<FieldError>) {
    if definition.preserves_unknown_fields() {
        let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in \
                      spec.versions[*].schema instead";
        errors.push(FieldError::invalid(&FieldPath::new("spec").child("preserveUnknownFields"), true, detail));
    }
}
