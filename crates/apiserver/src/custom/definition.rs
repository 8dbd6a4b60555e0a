use controller_runtime_schema::FieldPath;
use serde_json::Value;

/// A CustomResourceDefinition as a reader of its JSON; what isn't given reads as empty.
#[derive(Clone, Copy, Debug)]
pub(super) struct Definition<'a> {
    object: &'a Value,
}

/// One version of a definition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Version<'a> {
    version: &'a Value,
}

/// A text at a path of keys, empty when there is none.
fn text<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    at(value, path).and_then(Value::as_str).unwrap_or_default()
}

fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, key| value.get(key)).filter(|value| !value.is_null())
}

fn list<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    at(value, path).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn texts<'a>(value: &'a Value, path: &[&str]) -> Vec<&'a str> {
    list(value, path).iter().filter_map(Value::as_str).collect()
}

impl<'a> Definition<'a> {
    pub(super) fn new(object: &'a Value) -> Self {
        Self { object }
    }

    /// The name of the definition's object.
    pub(super) fn name(self) -> &'a str {
        text(self.object, &["metadata", "name"])
    }

    pub(super) fn generate_name(self) -> &'a str {
        text(self.object, &["metadata", "generateName"])
    }

    pub(super) fn annotation(self, key: &str) -> Option<&'a str> {
        at(self.object, &["metadata", "annotations", key]).and_then(Value::as_str)
    }

    /// Whether it was asked to go.
    pub(super) fn is_terminating(self) -> bool {
        at(self.object, &["metadata", "deletionTimestamp"]).is_some()
    }

    /// The API group of its objects.
    pub(super) fn group(self) -> &'a str {
        text(self.object, &["spec", "group"])
    }

    /// `Namespaced` or `Cluster`.
    pub(super) fn scope(self) -> &'a str {
        text(self.object, &["spec", "scope"])
    }

    /// A name it asks for: plural, singular, kind or listKind.
    pub(super) fn asked_name(self, which: &str) -> &'a str {
        text(self.object, &["spec", "names", which])
    }

    /// A name it was given.
    pub(super) fn accepted_name(self, which: &str) -> &'a str {
        text(self.object, &["status", "acceptedNames", which])
    }

    /// Names it asks for: shortNames or categories.
    pub(super) fn asked_names(self, which: &str) -> Vec<&'a str> {
        texts(self.object, &["spec", "names", which])
    }

    /// Names it was given.
    pub(super) fn accepted_names(self, which: &str) -> Vec<&'a str> {
        texts(self.object, &["status", "acceptedNames", which])
    }

    /// All that it asks for, for comparison with what it was given.
    pub(super) fn names(self) -> Option<&'a Value> {
        at(self.object, &["spec", "names"])
    }

    /// All that it was given.
    pub(super) fn accepted(self) -> Option<&'a Value> {
        at(self.object, &["status", "acceptedNames"])
    }

    /// Its status, as it is stored.
    pub(super) fn status(self) -> Option<&'a Value> {
        at(self.object, &["status"])
    }

    /// The versions, in the order in which they were written.
    pub(super) fn versions(self) -> Vec<Version<'a>> {
        list(self.object, &["spec", "versions"]).iter().map(|version| Version { version }).collect()
    }

    /// The value of `spec.versions`, if it is given.
    pub(super) fn raw_versions(self) -> Option<&'a Value> {
        at(self.object, &["spec", "versions"])
    }

    /// The first version in which objects are stored.
    pub(super) fn storage_version(self) -> Option<Version<'a>> {
        self.versions().into_iter().find(|version| version.is_storage())
    }

    /// The versions in which objects were ever stored.
    pub(super) fn stored_versions(self) -> Vec<&'a str> {
        texts(self.object, &["status", "storedVersions"])
    }

    pub(super) fn conversion(self) -> Option<&'a Value> {
        at(self.object, &["spec", "conversion"])
    }

    /// Whether it still asks for what v1 doesn't have: that unknown fields are kept.
    pub(super) fn preserves_unknown_fields(self) -> bool {
        at(self.object, &["spec", "preserveUnknownFields"]) == Some(&Value::Bool(true))
    }

    /// A condition of its status.
    pub(super) fn condition(self, name: &str) -> Option<&'a Value> {
        list(self.object, &["status", "conditions"]).iter().find(|condition| text(condition, &["type"]) == name)
    }

    pub(super) fn is_condition_true(self, name: &str) -> bool {
        self.condition(name).is_some_and(|condition| text(condition, &["status"]) == "True")
    }

    /// Whether its objects are served.
    pub(super) fn is_established(self) -> bool {
        self.is_condition_true("Established")
    }

    /// Where errors about a part of a version say it is. Parts that are the same in all versions count as the
    /// definition's own, as they did before there were versions.
    pub(super) fn part(self, index: usize, part: Part) -> FieldPath {
        let spec = FieldPath::new("spec");
        if self.is_shared(part) {
            return spec.child(if part == Part::Schema { "validation" } else { part.key() });
        }
        spec.child("versions").index(index).child(part.key())
    }

    /// Whether a part is given and the same in all versions.
    pub(super) fn is_shared(self, part: Part) -> bool {
        let mut versions = self.versions().into_iter().map(|version| version.part(part));
        let Some(Some(first)) = versions.next() else { return false };
        versions.all(|other| other == Some(first))
    }
}

/// A part of a version that versions may share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Schema,
    Subresources,
    Columns,
    SelectableFields,
}

impl Part {
    fn key(self) -> &'static str {
        match self {
            Self::Schema => "schema",
            Self::Subresources => "subresources",
            Self::Columns => "additionalPrinterColumns",
            Self::SelectableFields => "selectableFields",
        }
    }
}

impl<'a> Version<'a> {
    pub(super) fn name(self) -> &'a str {
        text(self.version, &["name"])
    }

    pub(super) fn is_served(self) -> bool {
        self.flag("served")
    }

    pub(super) fn is_storage(self) -> bool {
        self.flag("storage")
    }

    pub(super) fn is_deprecated(self) -> bool {
        self.flag("deprecated")
    }

    fn flag(self, key: &str) -> bool {
        at(self.version, &[key]).and_then(Value::as_bool).unwrap_or_default()
    }

    pub(super) fn deprecation_warning(self) -> Option<&'a str> {
        at(self.version, &["deprecationWarning"]).and_then(Value::as_str)
    }

    pub(super) fn part(self, part: Part) -> Option<&'a Value> {
        at(self.version, &[part.key()])
    }

    /// The schema of its objects.
    pub(super) fn schema(self) -> Option<&'a Value> {
        at(self.version, &["schema", "openAPIV3Schema"])
    }

    pub(super) fn has_status(self) -> bool {
        at(self.version, &["subresources", "status"]).is_some()
    }

    pub(super) fn scale(self) -> Option<&'a Value> {
        at(self.version, &["subresources", "scale"])
    }

    pub(super) fn columns(self) -> &'a [Value] {
        list(self.version, &["additionalPrinterColumns"])
    }

    /// The paths of the fields that selectors may name, as they were written.
    pub(super) fn selectable_fields(self) -> Vec<&'a str> {
        list(self.version, &["selectableFields"]).iter().map(|field| text(field, &["jsonPath"])).collect()
    }
}
