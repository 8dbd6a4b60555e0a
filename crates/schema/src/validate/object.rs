use serde_json::{Map, Value};

use super::{Failure, Outcome, Trail, Validator};
use crate::field_error::FieldError;
use crate::schema::{AdditionalProperties, MapType, Schema};

impl Validator<'_> {
    pub(super) fn object(
        &self,
        map: &Map<String, Value>,
        old: Option<&Map<String, Value>>,
        schema: &Schema,
        trail: Trail<'_>,
        outcome: &mut Outcome,
    ) {
        // The fields of an atomic map have no former selves.
        let old = old.filter(|_| schema.map_type != Some(MapType::Atomic));
        self.size(map, schema, trail, outcome);
        self.additional(map, old, schema, trail, outcome);
        for (name, link) in &schema.properties {
            let Some(value) = map.get(name) else { continue };
            // The version and kind of the two are made equal before they get here, which says nothing about them.
            let is_type = matches!(trail, Trail::Root) && matches!(name.as_str(), "apiVersion" | "kind");
            let before = old.and_then(|old| old.get(name)).filter(|_| !is_type);
            outcome.merge(self.value(value, before, link.get(), Trail::Property(&trail, name)));
        }
        for name in &schema.required {
            if !map.contains_key(name) {
                let at = Trail::Additional(&trail, name);
                let error = FieldError::required(&self.path(&at), "");
                outcome.add(Failure { error, message: format!("{at} in body is required") });
            }
        }
    }

    fn size(&self, map: &Map<String, Value>, schema: &Schema, trail: Trail<'_>, outcome: &mut Outcome) {
        let size = i64::try_from(map.len()).unwrap_or(i64::MAX);
        if let Some(least) = schema.validation.min_properties.filter(|least| size < *least) {
            let message = format!("{trail} in body should have at least {least} properties");
            outcome.add(self.invalid(&trail, size, message));
        }
        if let Some(most) = schema.validation.max_properties.filter(|most| size > *most) {
            let message = format!("{trail} in body should have at most {most} properties");
            outcome.add(Failure { error: FieldError::too_many(&self.path(&trail), size, most), message });
        }
    }

    fn additional(
        &self,
        map: &Map<String, Value>,
        old: Option<&Map<String, Value>>,
        schema: &Schema,
        trail: Trail<'_>,
        outcome: &mut Outcome,
    ) {
        let unknown = || map.iter().filter(|(key, _)| !schema.properties.contains_key(*key));
        match &schema.additional_properties {
            Some(AdditionalProperties::Any(false)) => {
                for (key, _) in unknown() {
                    let message = format!("{trail}.{key} in body is a forbidden property");
                    outcome.add(self.invalid(&trail, key.as_str(), message));
                }
            }
            Some(AdditionalProperties::Schema(link)) => {
                for (key, value) in unknown() {
                    let before = old.and_then(|old| old.get(key));
                    outcome.merge(self.value(value, before, link.get(), Trail::Additional(&trail, key)));
                }
            }
            Some(AdditionalProperties::Any(true)) | None => {}
        }
    }
}
