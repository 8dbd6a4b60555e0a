use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use serde_json::Value;

use crate::access::Identity;
use crate::core::Core;
use crate::pipeline::negotiate::Accept;
use crate::pipeline::query::Query;
use crate::resource::Resource;
use crate::store::{Object, ObjectKey};
use crate::table::{IncludeObject, Table};

/// One request for objects.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) core: Arc<Core>,
    /// Who makes it.
    pub(crate) user: Identity,
    pub(crate) resource: Arc<Resource>,
    /// Empty for cluster-scoped resources and for all namespaces.
    pub(crate) namespace: String,
    pub(crate) name: Option<String>,
    pub(crate) subresource: Option<String>,
    pub(crate) query: Query,
    pub(crate) content_type: String,
    pub(crate) body: Bytes,
    pub(crate) accept: Accept,
    pub(crate) user_agent: String,
    /// Texts for `Warning` headers, in order.
    pub(crate) warnings: Mutex<Vec<String>>,
}

/// kube-apiserver stops adding warnings at about this many bytes.
const MAX_WARNING_BYTES: usize = 4 * 1024;

impl Call {
    /// Where the named object lives in the store.
    pub(crate) fn key(&self) -> ObjectKey {
        ObjectKey::new(self.namespace.as_str(), self.name.as_deref().unwrap_or_default())
    }

    /// Name of the collection in the store.
    pub(crate) fn collection(&self) -> String {
        self.resource.storage_name().to_string()
    }

    /// The kind that the body should have.
    pub(crate) fn body_kind(&self) -> String {
        self.body_type().1
    }

    /// The `apiVersion` and kind that the body should have.
    pub(crate) fn body_type(&self) -> (String, String) {
        let resource = &self.resource;
        let served = self.subresource.as_ref().and_then(|name| resource.subresources.get(name));
        let Some(served) = served else { return (resource.api_version(), resource.kind.clone()) };
        let api_version = match (served.group.as_deref(), &served.version) {
            (None | Some(""), Some(version)) => version.clone(),
            (Some(group), Some(version)) => format!("{group}/{version}"),
            (_, None) => resource.api_version(),
        };
        (api_version, served.kind.clone())
    }

    /// Adds a warning header to the answer.
    pub(crate) fn warn(&self, text: String) {
        let mut warnings = self.warnings.lock();
        let used: usize = warnings.iter().map(String::len).sum();
        if used + text.len() <= MAX_WARNING_BYTES && !warnings.contains(&text) {
            warnings.push(text);
        }
    }

    /// A stored object in the version of this request.
    pub(crate) fn view<'a>(&self, object: &'a Object) -> Cow<'a, Value> {
        view(&self.resource, object.value())
    }

    /// How objects become rows, as the client wants them.
    pub(crate) fn table(&self) -> Table {
        let include = IncludeObject::from_parameter(self.query.text("includeObject")).unwrap_or_default();
        Table::new(&self.resource, include)
    }

    /// The current time, to the second.
    pub(crate) fn now(&self) -> String {
        self.core.now()
    }
}

/// A stored object as tables and metadata alone show it: one of a built-in kind in the version in which it is stored.
pub(crate) fn outline<'a>(resource: &Resource, object: &'a Value) -> Cow<'a, Value> {
    if resource.strategy.storage_version().is_some() { Cow::Borrowed(object) } else { view(resource, object) }
}

/// A stored object in the version of `resource`.
pub(crate) fn view<'a>(resource: &Resource, object: &'a Value) -> Cow<'a, Value> {
    let stored = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    let (group, version) = stored.rsplit_once('/').unwrap_or(("", stored));
    if group == resource.group && version == resource.version {
        return Cow::Borrowed(object);
    }
    let mut converted = object.clone();
    resource.strategy.convert(&mut converted, &resource.api_version(), &resource.kind);
    Cow::Owned(converted)
}
