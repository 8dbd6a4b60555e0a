//! Where in an object a part of the patch is.

use controller_runtime_schema::{Link, Schema};

use super::error::StrategicError;

/// The schema of a part of the object, and the name of its type for messages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) schema: &'a Schema,
    name: &'a str,
}

impl<'a> Place<'a> {
    /// The whole object.
    pub(crate) fn root(schema: &'a Schema) -> Place<'a> {
        Place { schema, name: schema.group_version_kinds.first().map_or("", |kind| kind.kind.as_str()) }
    }

    /// A field of this place. Errors: the schema doesn't have it.
    pub(crate) fn field(self, key: &str) -> Result<Place<'a>, StrategicError> {
        self.schema.child_link(key).map(Place::of_link).ok_or_else(|| self.unknown(key))
    }

    /// The items of this place, a list. Errors: it isn't a list.
    pub(crate) fn item(self, key: &str) -> Result<Place<'a>, StrategicError> {
        self.schema.items.as_ref().map(Place::of_link).ok_or_else(|| self.unknown(key))
    }

    fn of_link(link: &'a Link) -> Place<'a> {
        let name = link.name().and_then(|name| name.rsplit('.').next());
        Place { schema: link.get(), name: name.unwrap_or_default() }
    }

    fn unknown(self, key: &str) -> StrategicError {
        StrategicError::UnknownField { name: self.name.to_owned(), field: key.to_owned() }
    }
}
