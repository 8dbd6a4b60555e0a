//! Objects in the versions of their managers, while a write is tracked.

use std::sync::Arc;

use controller_runtime_merge::{ConversionError, FieldSet, Versioned, Versions};
use parking_lot::Mutex;
use serde_json::Value;

use super::reset::{reset_fields, reset_in_status};
use crate::core::Core;
use crate::custom;
use crate::resource::Resource;
use crate::verbs::view;

/// The conversions that the tracking of a write needs.
///
/// Tracking doesn't wait: what only a webhook can convert is noted, and the write is tracked again when
/// [`fetch`](Conversions::fetch) has asked for it.
#[derive(Debug)]
pub(crate) struct Conversions<'a> {
    core: &'a Core,
    resource: &'a Resource,
    subresource: Option<&'a str>,
    asked: Mutex<Vec<Conversion>>,
}

#[derive(Debug)]
struct Conversion {
    object: Value,
    api_version: String,
    answer: Option<Result<Value, ConversionError>>,
}

impl<'a> Conversions<'a> {
    /// Those of a write of a resource.
    pub(crate) fn new(core: &'a Core, resource: &'a Resource, subresource: Option<&'a str>) -> Self {
        Self { core, resource, subresource, asked: Mutex::default() }
    }

    /// Asks the webhook for what was missing. Tells whether anything was.
    pub(crate) async fn fetch(&self) -> bool {
        let open =
            |asked: &Conversion| asked.answer.is_none().then(|| (asked.object.clone(), asked.api_version.clone()));
        let missing: Vec<(Value, String)> = self.asked.lock().iter().filter_map(open).collect();
        let Some(versions) = self.resource.strategy.versions().filter(|_| !missing.is_empty()) else { return false };
        for (object, api_version) in missing {
            let answer = match versions.webhook() {
                Some(webhook) => {
                    let converted = webhook.convert(self.core, vec![object.clone()], &api_version).await;
                    converted
                        .map(|all| all.into_iter().next().unwrap_or_default())
                        .map_err(|error| ConversionError::Failed(error.to_string()))
                }
                None => Err(ConversionError::UnknownVersion),
            };
            let mut asked = self.asked.lock();
            let waiting = asked.iter_mut().find(|asked| asked.object == object && asked.api_version == api_version);
            if let Some(waiting) = waiting {
                waiting.answer = Some(answer);
            }
        }
        true
    }

    /// What the webhook made of an object; until it was asked, an error that nobody sees.
    fn by_webhook(&self, object: &Value, api_version: &str) -> Result<Value, ConversionError> {
        let mut asked = self.asked.lock();
        let found = asked.iter().find(|asked| asked.api_version == api_version && asked.object == *object);
        if let Some(found) = found {
            return found
                .answer
                .clone()
                .unwrap_or_else(|| Err(ConversionError::Failed("not converted yet".to_owned())));
        }
        asked.push(Conversion { object: object.clone(), api_version: api_version.to_owned(), answer: None });
        Err(ConversionError::Failed("not converted yet".to_owned()))
    }

    fn custom(
        &self,
        versions: &custom::Versions,
        object: &Value,
        api_version: &str,
    ) -> Result<Versioned, ConversionError> {
        let from = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
        let Some(schema) = versions.schema_of_objects(api_version) else {
            let group = api_version.split_once('/').map_or("", |(group, _)| group);
            return Err(ConversionError::Failed(if group == self.resource.group {
                format!("request to convert CR to an invalid group/version: {api_version}")
            } else {
                let kind = &self.resource.kind;
                format!("{from}, Kind={kind} is unstructured and is not suitable for converting to \"{api_version}\"")
            }));
        };
        let object = if from == api_version {
            object.clone()
        } else if versions.webhook().is_some() && !says_nothing(object) {
            self.by_webhook(object, api_version)?
        } else {
            let mut object = object.clone();
            if let Some(members) = object.as_object_mut() {
                members.insert("apiVersion".to_owned(), api_version.into());
            }
            object
        };
        let reset = match self.subresource {
            _ if api_version == self.resource.api_version() => reset_fields(self.resource, self.subresource),
            Some("status") if versions.has_status(api_version) => reset_in_status(),
            _ => FieldSet::new(),
        };
        Ok(Versioned { object, schema: Arc::clone(schema), reset })
    }

    fn built_in(&self, object: &Value, api_version: &str) -> Result<Versioned, ConversionError> {
        // A kind of another group is another one, even where both are stored as one.
        let is_same = |other: &Arc<Resource>| {
            other.api_version() == api_version && other.group_resource() == self.resource.group_resource()
        };
        let other = self.core.registry.all().into_iter().find(is_same).ok_or(ConversionError::UnknownVersion)?;
        let object = view(&other, object).into_owned();
        Ok(Versioned { object, schema: other.schema(), reset: reset_fields(&other, self.subresource) })
    }
}

/// Whether an object has nothing that a webhook could convert: it is what an object is before it is created.
fn says_nothing(object: &Value) -> bool {
    object.as_object().is_some_and(|members| members.keys().all(|key| key == "apiVersion" || key == "kind"))
}

impl Versions for Conversions<'_> {
    fn convert(&self, object: &Value, api_version: &str) -> Result<Versioned, ConversionError> {
        if api_version.matches('/').count() > 1 {
            return Err(ConversionError::Failed(format!("unexpected GroupVersion string: {api_version}")));
        }
        match self.resource.strategy.versions() {
            Some(versions) => self.custom(&versions, object, api_version),
            None => self.built_in(object, api_version),
        }
    }
}
