use std::collections::BTreeMap;

use serde_json::Value;

use crate::definitions::Definitions;
use crate::link::Link;
use crate::parse::{self, SchemaError};
use crate::validate::is_known_format;
use crate::validation::Validation;

/// The schema of one value: what it may hold, and how lists and maps in it merge.
///
/// It is OpenAPI v3 as Kubernetes uses it, with the `x-kubernetes-*` extensions. The default is the schema that says
/// nothing; it allows any value and, being no object with known fields, keeps none of them when pruned.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a keyword of its own")]
pub struct Schema {
    /// The JSON type; `None` when the schema doesn't say, as for int-or-string values.
    pub value_type: Option<ValueType>,
    /// The format of strings and numbers, such as `date-time` or `int32`.
    pub format: Option<String>,
    /// Prose for people.
    pub description: Option<String>,
    /// A short name for people.
    pub title: Option<String>,
    /// The named fields of an object.
    pub properties: BTreeMap<String, Link>,
    /// What an object may hold beyond `properties`; makes it a map.
    pub additional_properties: Option<AdditionalProperties>,
    /// What each item of an array is.
    pub items: Option<Link>,
    /// Names of fields that an object must have.
    pub required: Vec<String>,
    /// The value of the field when it isn't given.
    pub default: Option<Value>,
    /// Whether `null` is allowed and kept.
    pub nullable: bool,
    /// The only values that are allowed; empty when all are.
    pub enumeration: Vec<Value>,
    /// Bounds, patterns and combinations.
    pub validation: Validation,
    /// `x-kubernetes-preserve-unknown-fields`: pruning keeps fields that the schema doesn't know.
    pub preserve_unknown_fields: bool,
    /// `x-kubernetes-embedded-resource`: the object has apiVersion, kind and metadata.
    pub embedded_resource: bool,
    /// `x-kubernetes-int-or-string`, or the format `int-or-string` of built-in kinds.
    pub int_or_string: bool,
    /// `x-kubernetes-list-type`.
    pub list_type: Option<ListType>,
    /// `x-kubernetes-list-map-keys`: the fields that together name an item of a list of type map.
    pub list_map_keys: Vec<String>,
    /// `x-kubernetes-map-type`.
    pub map_type: Option<MapType>,
    /// `x-kubernetes-patch-strategy`, of built-in kinds only.
    pub patch_strategy: PatchStrategy,
    /// `x-kubernetes-patch-merge-key`, of built-in kinds only.
    pub patch_merge_key: Option<String>,
    /// `x-kubernetes-validations`: rules in CEL, as they were written.
    pub rules: Vec<Value>,
    /// `x-kubernetes-group-version-kind`: the kinds that have this schema.
    pub group_version_kinds: Vec<GroupVersionKind>,
}

/// A JSON type of OpenAPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueType {
    /// A map from strings to values.
    Object,
    /// A list of values.
    Array,
    /// Text.
    String,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// True or false.
    Boolean,
}

impl ValueType {
    /// The type's name in OpenAPI.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "object" => Self::Object,
            "array" => Self::Array,
            "string" => Self::String,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Boolean,
            _ => return None,
        })
    }
}

/// What an object may hold beyond its named fields.
#[derive(Clone, Debug)]
pub enum AdditionalProperties {
    /// Anything, or nothing.
    Any(bool),
    /// Values of one schema.
    Schema(Link),
}

/// How a list is merged, and what is unique in it (KEP-555).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListType {
    /// The list is one value; the default.
    Atomic,
    /// Items are scalars, each at most once.
    Set,
    /// Items are objects, named by `list_map_keys`.
    Map,
}

/// How an object is merged (KEP-555).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MapType {
    /// Each field on its own; the default.
    Granular,
    /// The object is one value.
    Atomic,
}

/// How strategic merge patch treats a field; all false means that the patch replaces it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PatchStrategy {
    /// Lists are merged item by item.
    pub merge: bool,
    /// The value is replaced even where objects would be merged.
    pub replace: bool,
    /// The patch may name the fields of a union that stay.
    pub retain_keys: bool,
}

/// A kind within a version of an API group; the core group's name is empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupVersionKind {
    /// The API group.
    pub group: String,
    /// The version in the group.
    pub version: String,
    /// The kind.
    pub kind: String,
}

impl Schema {
    /// Reads the schema of a custom resource, as in `openAPIV3Schema` of a CustomResourceDefinition.
    ///
    /// Gives an error when a keyword has a value of the wrong type or when there is a `$ref`. It doesn't ask whether the
    /// schema is structural: see [`check_structural`](crate::check_structural).
    pub fn from_json(json: &Value) -> Result<Self, SchemaError> {
        parse::Parser { definitions: None }.schema(json, "")
    }

    /// Reads a schema that may refer to named ones, as kube-apiserver publishes them for built-in kinds.
    ///
    /// There, an object that lists no fields may hold any: pruning keeps them.
    pub fn from_json_with(json: &Value, definitions: &Definitions) -> Result<Self, SchemaError> {
        parse::Parser { definitions: Some(definitions) }.schema(json, "")
    }

    /// The schema of a field: the named property's, else the one of additional properties.
    pub fn child(&self, key: &str) -> Option<&Self> {
        self.child_link(key).map(Link::get)
    }

    /// The link to the schema of a field, which also knows the default at this place.
    pub fn child_link(&self, key: &str) -> Option<&Link> {
        self.properties.get(key).or_else(|| self.values())
    }

    /// The schema of the values of a map.
    pub fn values(&self) -> Option<&Link> {
        match &self.additional_properties {
            Some(AdditionalProperties::Schema(link)) => Some(link),
            _ => None,
        }
    }

    /// The schema of the items of a list.
    pub fn item(&self) -> Option<&Self> {
        self.items.as_ref().map(Link::get)
    }

    /// The format, where kube-apiserver checks it for a value of this type; it ignores any other.
    pub(crate) fn checked_format(&self) -> Option<&str> {
        let value_type = self.value_type.filter(|_| !self.int_or_string).map_or("", ValueType::as_str);
        self.format.as_deref().filter(|format| is_checked_format(value_type, format))
    }
}

/// Whether kube-apiserver checks a format in values of a type; the type may be empty.
pub fn is_checked_format(value_type: &str, format: &str) -> bool {
    match value_type {
        "" | "string" => is_known_format(format),
        "integer" => matches!(format, "int32" | "int64"),
        "number" => matches!(format, "float" | "double"),
        _ => false,
    }
}
