use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::definitions::Definitions;
use crate::schema::Schema;

/// The place of a schema inside another one: the schema itself, or the name of one that is read when first needed.
///
/// Named schemas may contain themselves. Clones share what was read.
#[derive(Clone)]
pub struct Link(Target);

#[derive(Clone)]
enum Target {
    Inline(Arc<Schema>),
    Named(Arc<Named>),
}

struct Named {
    name: String,
    definitions: Definitions,
    /// What is said at this place, over what the named schema says.
    over: Over,
    found: OnceLock<Arc<Schema>>,
}

/// What a place that refers to a named schema says itself.
#[derive(Default)]
pub(crate) struct Over {
    pub(crate) default: Option<Value>,
    pub(crate) description: Option<String>,
    /// The remaining keywords of the place, merged over those of the named schema.
    pub(crate) keywords: Option<Box<Schema>>,
}

impl Link {
    /// A link to a schema at hand.
    pub fn inline(schema: Schema) -> Self {
        Self(Target::Inline(Arc::new(schema)))
    }

    pub(crate) fn named(name: String, definitions: Definitions, over: Over) -> Self {
        Self(Target::Named(Arc::new(Named { name, definitions, over, found: OnceLock::new() })))
    }

    /// The schema. A named one is read on the first call.
    ///
    /// A name that its definitions don't have, or that doesn't parse, gives a schema that preserves everything;
    /// [`Definitions::get`] tells what is wrong with it.
    pub fn get(&self) -> &Schema {
        match &self.0 {
            Target::Inline(schema) => schema,
            Target::Named(named) => named.found.get_or_init(|| named.resolve()),
        }
    }

    /// The name, if the schema is a named one.
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Target::Inline(_) => None,
            Target::Named(named) => Some(&named.name),
        }
    }

    /// The default at this place: its own, else the schema's.
    pub fn default_value(&self) -> Option<&Value> {
        if let Target::Named(named) = &self.0
            && named.over.default.is_some()
        {
            return named.over.default.as_ref();
        }
        self.get().default.as_ref()
    }

    /// The prose at this place: its own, else the schema's.
    pub fn description(&self) -> Option<&str> {
        if let Target::Named(named) = &self.0
            && named.over.description.is_some()
        {
            return named.over.description.as_deref();
        }
        self.get().description.as_deref()
    }
}

impl Named {
    fn resolve(&self) -> Arc<Schema> {
        let found = match self.definitions.get(&self.name) {
            Ok(Some(schema)) => schema,
            Ok(None) | Err(_) => Arc::new(Schema { preserve_unknown_fields: true, ..Schema::default() }),
        };
        let Some(over) = &self.over.keywords else { return found };
        let mut schema = Schema::clone(&found);
        schema.list_type = over.list_type.or(schema.list_type);
        schema.map_type = over.map_type.or(schema.map_type);
        schema.nullable |= over.nullable;
        schema.preserve_unknown_fields |= over.preserve_unknown_fields;
        schema.embedded_resource |= over.embedded_resource;
        schema.patch_strategy = over.patch_strategy;
        if over.patch_merge_key.is_some() {
            schema.patch_merge_key.clone_from(&over.patch_merge_key);
        }
        if !over.list_map_keys.is_empty() {
            schema.list_map_keys.clone_from(&over.list_map_keys);
        }
        Arc::new(schema)
    }
}

impl From<Schema> for Link {
    fn from(schema: Schema) -> Self {
        Self::inline(schema)
    }
}

impl From<Arc<Schema>> for Link {
    fn from(schema: Arc<Schema>) -> Self {
        Self(Target::Inline(schema))
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Target::Inline(schema) => schema.fmt(f),
            // Named schemas may contain themselves, so their content isn't shown.
            Target::Named(named) => write!(f, "Link({})", named.name),
        }
    }
}
