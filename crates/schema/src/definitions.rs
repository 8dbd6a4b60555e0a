use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::RwLock;

use crate::link::{Link, Over};
use crate::parse::SchemaError;
use crate::schema::Schema;

/// Named schemas that refer to each other, read from JSON text when first asked for.
///
/// Clones are cheap and share what was read. What was read stays in memory: recursive schemas keep their definitions
/// alive, so make them once for a program (as the catalogue of built-in kinds does), not per object.
///
/// ```
/// use std::collections::BTreeMap;
/// use controller_runtime_schema::Definitions;
///
/// let tree = r##"{"type":"object","properties":{"child":{"$ref":"#/components/schemas/Tree"}}}"##;
/// let definitions = Definitions::new(BTreeMap::from([("Tree".to_owned(), tree.to_owned())]));
/// let schema = definitions.get("Tree").unwrap().unwrap();
/// assert!(schema.child("child").unwrap().child("child").is_some());
/// ```
#[derive(Clone)]
pub struct Definitions(Arc<Inner>);

struct Inner {
    source: Box<dyn DefinitionSource>,
    read: RwLock<BTreeMap<String, Arc<Schema>>>,
}

/// Where [`Definitions`] find the text of a named schema.
///
/// Maps of strings are sources, and so are functions from a name to static text.
pub trait DefinitionSource: Send + Sync + 'static {
    /// The JSON text of the schema, if there is one of that name.
    fn text(&self, name: &str) -> Option<&str>;
}

impl DefinitionSource for BTreeMap<String, String> {
    fn text(&self, name: &str) -> Option<&str> {
        self.get(name).map(String::as_str)
    }
}

impl<F> DefinitionSource for F
where
    F: Fn(&str) -> Option<&'static str> + Send + Sync + 'static,
{
    fn text(&self, name: &str) -> Option<&str> {
        self(name)
    }
}

impl Definitions {
    /// Definitions that find their text in `source`. Nothing is read yet.
    pub fn new(source: impl DefinitionSource) -> Self {
        Self(Arc::new(Inner { source: Box::new(source), read: RwLock::default() }))
    }

    /// The schema of a name, or `None` when the source doesn't have it.
    ///
    /// Gives an error when the text isn't JSON or no schema.
    pub fn get(&self, name: &str) -> Result<Option<Arc<Schema>>, SchemaError> {
        if let Some(schema) = self.0.read.read().get(name) {
            return Ok(Some(Arc::clone(schema)));
        }
        let Some(text) = self.0.source.text(name) else { return Ok(None) };
        let json = serde_json::from_str(text)
            .map_err(|source| SchemaError::Json { name: name.to_owned(), source: Arc::new(source) })?;
        let schema = Arc::new(Schema::from_json_with(&json, self)?);
        // Two threads may have read it at once; both use the first that was entered.
        Ok(Some(Arc::clone(self.0.read.write().entry(name.to_owned()).or_insert(schema))))
    }

    /// A link to the schema of a name, which is read when the link is first followed.
    pub fn link(&self, name: &str) -> Link {
        Link::named(name.to_owned(), self.clone(), Over::default())
    }
}

impl fmt::Debug for Definitions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Definitions").field("read", &self.0.read.read().len()).finish_non_exhaustive()
    }
}
