//! What a schema says of a place in a value, in the terms of structured merge.

use std::sync::LazyLock;

use controller_runtime_schema::{AdditionalProperties, Link, ListType, MapType, Schema, ValueType};
use serde_json::Value;

/// The type of a place in an object.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Type<'a> {
    /// What a schema says.
    Schema {
        schema: &'a Schema,
        /// A schema above said that unknown fields are kept.
        preserve: bool,
    },
    /// The root of a resource, or of one that is embedded in another.
    Resource { schema: &'a Schema, preserve: bool },
    /// Anything; lists and maps are one value each.
    Opaque,
    /// Anything; maps are merged field by field, lists are one value.
    Deduced,
}

/// The scalars that a place may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scalar {
    Number,
    String,
    Boolean,
    Any,
}

/// What a list may hold, and how its items are told apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListShape<'a> {
    pub(crate) items: Type<'a>,
    pub(crate) identity: ItemIdentity<'a>,
}

/// How the items of a list are told apart.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ItemIdentity<'a> {
    /// They aren't: the list is one value.
    Atomic,
    /// By their value.
    Value,
    /// By the values of these fields.
    Keys(&'a [String]),
    /// By the value of this field.
    Key(&'a String),
}

impl<'a> ItemIdentity<'a> {
    pub(crate) fn keys(self) -> &'a [String] {
        match self {
            ItemIdentity::Keys(keys) => keys,
            ItemIdentity::Key(key) => std::slice::from_ref(key),
            ItemIdentity::Atomic | ItemIdentity::Value => &[],
        }
    }

    pub(crate) fn is_atomic(self) -> bool {
        matches!(self, ItemIdentity::Atomic)
    }
}

/// What a map may hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MapShape<'a> {
    fields: Option<&'a Schema>,
    preserve: bool,
    resource: bool,
    values: Option<Type<'a>>,
    pub(crate) atomic: bool,
}

/// The forms that a place may take; more than one where the schema doesn't say.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Forms<'a> {
    map: Option<MapShape<'a>>,
    scalar: Option<Scalar>,
    list: Option<ListShape<'a>>,
}

/// The one form that a value is taken to have.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form<'a> {
    Map(MapShape<'a>),
    Scalar(Scalar),
    List(ListShape<'a>),
}

impl<'a> Forms<'a> {
    /// The form of values that say nothing themselves: a map before a scalar before a list.
    fn first(self) -> Option<Form<'a>> {
        let other = || self.scalar.map(Form::Scalar).or_else(|| self.list.map(Form::List));
        self.map.map(Form::Map).or_else(other)
    }
}

impl Form<'_> {
    /// Whether both are maps, both scalars or both lists. Forms compared here always come from one type.
    pub(crate) fn same_kind(&self, other: &Form<'_>) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl<'a> Type<'a> {
    /// The type of a whole resource.
    pub(crate) fn resource(schema: &'a Schema) -> Type<'a> {
        Type::Resource { schema, preserve: false }
    }

    fn of_link(link: &'a Link, preserve: bool) -> Type<'a> {
        if link.name() == Some("io.k8s.apimachinery.pkg.runtime.RawExtension") {
            return Type::Opaque;
        }
        // What is said of unknown fields reaches schemas that are written in place, not named ones.
        let preserve = preserve && link.name().is_none();
        let schema = link.get();
        if schema.embedded_resource { Type::Resource { schema, preserve } } else { Type::Schema { schema, preserve } }
    }

    /// The form in which `value` is read here. Null and absent values take the first form that the type has.
    pub(crate) fn form_of(self, value: Option<&Value>) -> Option<Form<'a>> {
        let forms = self.forms();
        match value {
            Some(Value::Number(_) | Value::String(_) | Value::Bool(_)) => forms.scalar.map(Form::Scalar),
            Some(Value::Array(_)) => forms.list.map(Form::List),
            Some(Value::Object(_)) => forms.map.map(Form::Map),
            Some(Value::Null) | None => None,
        }
        .or_else(|| forms.first())
    }

    pub(crate) fn map(self) -> Option<MapShape<'a>> {
        self.forms().map
    }

    pub(crate) fn list(self) -> Option<ListShape<'a>> {
        self.forms().list
    }

    pub(crate) fn is_deduced(self) -> bool {
        matches!(self, Type::Deduced)
    }

    fn forms(self) -> Forms<'a> {
        match self {
            Type::Opaque => anything(Type::Opaque, true),
            Type::Deduced => anything(Type::Deduced, false),
            Type::Resource { schema, preserve } => Forms {
                map: Some(map_shape(schema, preserve || schema.preserve_unknown_fields, true)),
                ..Forms::default()
            },
            Type::Schema { schema, preserve } => schema_forms(schema, preserve || schema.preserve_unknown_fields),
        }
    }
}

fn anything(values: Type<'_>, atomic: bool) -> Forms<'_> {
    Forms {
        map: Some(MapShape { fields: None, preserve: false, resource: false, values: Some(values), atomic }),
        scalar: Some(Scalar::Any),
        list: Some(ListShape { items: Type::Opaque, identity: ItemIdentity::Atomic }),
    }
}

fn schema_forms(schema: &Schema, preserve: bool) -> Forms<'_> {
    let scalar = |scalar| Forms { scalar: Some(scalar), ..Forms::default() };
    match schema.value_type {
        None => Forms {
            map: Some(map_shape(schema, preserve, false)),
            scalar: Some(Scalar::Any),
            list: Some(list_shape(schema, preserve)),
        },
        Some(ValueType::Object) => Forms { map: Some(map_shape(schema, preserve, false)), ..Forms::default() },
        Some(ValueType::Array) => Forms { list: Some(list_shape(schema, preserve)), ..Forms::default() },
        Some(ValueType::Integer | ValueType::Number) => scalar(Scalar::Number),
        Some(ValueType::Boolean) => scalar(Scalar::Boolean),
        Some(ValueType::String) if matches!(schema.format.as_deref(), None | Some("" | "byte")) => {
            scalar(Scalar::String)
        }
        Some(ValueType::String) => scalar(Scalar::Any),
    }
}

fn map_shape(schema: &Schema, preserve: bool, resource: bool) -> MapShape<'_> {
    let values = match &schema.additional_properties {
        Some(AdditionalProperties::Schema(link)) => Some(Type::of_link(link, preserve)),
        Some(AdditionalProperties::Any(true)) => Some(Type::Deduced),
        None if preserve || schema.properties.is_empty() => Some(Type::Deduced),
        Some(AdditionalProperties::Any(false)) | None => None,
    };
    let atomic = schema.map_type == Some(MapType::Atomic);
    MapShape { fields: Some(schema), preserve, resource, values, atomic }
}

fn list_shape(schema: &Schema, preserve: bool) -> ListShape<'_> {
    let items = schema.items.as_ref().map_or(Type::Opaque, |link| Type::of_link(link, preserve));
    let identity = match schema.list_type {
        Some(ListType::Set) => ItemIdentity::Value,
        Some(ListType::Map) => ItemIdentity::Keys(&schema.list_map_keys),
        None if schema.patch_strategy.merge => {
            schema.patch_merge_key.as_ref().map_or(ItemIdentity::Value, ItemIdentity::Key)
        }
        Some(ListType::Atomic) | None => ItemIdentity::Atomic,
    };
    ListShape { items, identity }
}

impl<'a> MapShape<'a> {
    /// The type of a field that the schema names.
    pub(crate) fn named(&self, name: &str) -> Option<Type<'a>> {
        if self.resource && name == "metadata" {
            return Some(Type::Schema { schema: self.metadata(), preserve: false });
        }
        match self.link(name) {
            Some(link) => Some(Type::of_link(link, self.preserve)),
            None if self.resource && matches!(name, "apiVersion" | "kind") => {
                Some(Type::Schema { schema: &TYPE_NAME, preserve: false })
            }
            None => None,
        }
    }

    /// The type of a field, whether named or one of the map's values; `None` when the schema doesn't allow the field.
    pub(crate) fn field(&self, name: &str) -> Option<Type<'a>> {
        self.named(name).or(self.values)
    }

    /// The default of a field that the schema names.
    pub(crate) fn default_of(&self, name: &str) -> Option<&'a Value> {
        self.link(name)?.default_value()
    }

    /// Whether the map says nothing of its fields.
    pub(crate) fn is_untyped(&self) -> bool {
        self.fields.is_none_or(|schema| schema.properties.is_empty() && !self.resource)
            && self.values.is_some_and(Type::is_deduced)
    }

    fn link(&self, name: &str) -> Option<&'a Link> {
        self.fields?.properties.get(name)
    }

    /// The schema of the metadata: the kind's own if it is complete, else the one that all resources share.
    fn metadata(&self) -> &'a Schema {
        match self.link("metadata").map(Link::get) {
            Some(schema) if schema.properties.contains_key("managedFields") => schema,
            _ => &OBJECT_META,
        }
    }
}

static TYPE_NAME: LazyLock<Schema> =
    LazyLock::new(|| Schema { value_type: Some(ValueType::String), ..Schema::default() });

static OBJECT_META: LazyLock<Schema> = LazyLock::new(|| {
    let parsed = serde_json::from_str(include_str!("object_meta.json")).ok();
    parsed.and_then(|json: Value| Schema::from_json(&json).ok()).unwrap_or_default()
});

#[cfg(test)]
mod tests {
    use super::OBJECT_META;

    #[test]
    fn the_shared_metadata_schema_is_readable() {
        assert!(OBJECT_META.properties.contains_key("managedFields"));
        assert_eq!(OBJECT_META.child("ownerReferences").unwrap().list_map_keys, ["uid"]);
    }
}
