//! The kind of a written object: in the version of the write, and in others.

use std::borrow::Cow;
use std::sync::Arc;

use controller_runtime_schema::Schema;
use serde_json::Value;

use crate::field::FieldSet;
use crate::typed::{Comparison, Duplicates, Type, check, compare};

use super::error::ApplyError;
use super::options::{Apply, Update};
use super::versions::{ConversionError, Versioned, Versions};

/// The kind of a written object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind<'a> {
    pub(crate) api_version: &'a str,
    schema: &'a Schema,
    reset: &'a FieldSet,
    versions: &'a dyn Versions,
}

impl<'a> From<&Apply<'a>> for Kind<'a> {
    fn from(options: &Apply<'a>) -> Kind<'a> {
        let Apply { api_version, schema, reset, versions, .. } = *options;
        Kind { api_version, schema, reset, versions }
    }
}

impl<'a> From<&Update<'a>> for Kind<'a> {
    fn from(options: &Update<'a>) -> Kind<'a> {
        let Update { api_version, schema, reset, versions, .. } = *options;
        Kind { api_version, schema, reset, versions }
    }
}

/// An object in a version.
#[derive(Debug, Clone)]
pub(crate) struct Seen<'a> {
    pub(crate) object: Cow<'a, Value>,
    version: Version<'a>,
}

#[derive(Debug, Clone)]
enum Version<'a> {
    Written(&'a Schema),
    Other { schema: Arc<Schema>, reset: FieldSet },
}

impl<'a> Seen<'a> {
    pub(crate) fn of(&self) -> Type<'_> {
        match &self.version {
            Version::Written(schema) => Type::resource(schema),
            Version::Other { schema, .. } => Type::resource(schema),
        }
    }

    /// Another object in the same version.
    pub(crate) fn with(&self, object: Value) -> Seen<'a> {
        Seen { object: Cow::Owned(object), version: self.version.clone() }
    }
}

impl<'a> Kind<'a> {
    /// The type of objects in the version of the write.
    pub(crate) fn of(&self) -> Type<'a> {
        Type::resource(self.schema)
    }

    /// An object in a version that may be another than its own. Errors: it doesn't get there.
    pub(crate) fn seen<'b>(&self, object: &'b Value, api_version: &str) -> Result<Seen<'b>, ConversionError>
    where
        'a: 'b,
    {
        // Who doesn't say it has the version of the write.
        let is_there = object.get("apiVersion").and_then(Value::as_str).unwrap_or(self.api_version) == api_version;
        if is_there && api_version == self.api_version {
            return Ok(Seen { object: Cow::Borrowed(object), version: Version::Written(self.schema) });
        }
        let Versioned { object, schema, reset } = self.versions.convert(object, api_version)?;
        if !is_there {
            check(&object, Type::resource(&schema), Duplicates::Refused).map_err(ConversionError::Types)?;
        }
        Ok(Seen { object: Cow::Owned(object), version: Version::Other { schema, reset } })
    }

    /// What changes from `old` to `new`, which have the version of the write.
    pub(crate) fn compare(&self, old: &Value, new: &Value) -> Result<Comparison, ApplyError> {
        Ok(compare(old, new, self.of()).map_err(ApplyError::Compare)?.without(self.reset))
    }

    /// The same in another version; `None` where there is no such version.
    pub(crate) fn compare_in(
        &self,
        old: &Value,
        new: &Value,
        api_version: &str,
    ) -> Result<Option<Comparison>, ApplyError> {
        let seen = |object, doing| match self.seen(object, api_version) {
            Ok(seen) => Ok(Some(seen)),
            Err(ConversionError::UnknownVersion) => Ok(None),
            Err(source) => Err(ApplyError::Conversion { doing, source }),
        };
        let Some(old) = seen(old, "failed to convert old object: ".to_owned())? else { return Ok(None) };
        let Some(new) = seen(new, "failed to convert new object: ".to_owned())? else { return Ok(None) };
        let found = compare(&old.object, &new.object, new.of()).map_err(ApplyError::Compare)?;
        Ok(Some(match &new.version {
            Version::Written(_) => found.without(self.reset),
            Version::Other { reset, .. } => found.without(reset),
        }))
    }
}
