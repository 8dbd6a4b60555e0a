//! The limit of managers that an object keeps apart.

use std::collections::BTreeMap;

use super::entry::Operation;
use super::managers::{ManagerId, Managers};

/// How many managers of updates an object has at most; the oldest are merged beyond that. Appliers don't count.
const MAX_UPDATE_MANAGERS: usize = 10;

/// Who owns what the oldest managers owned.
const OLD_MANAGERS: &str = "ancient-changes";

impl Managers {
    /// Merges the oldest managers of updates, by version, until there are no more than the limit.
    pub(crate) fn cap(&mut self) {
        let mut updaters: Vec<(Option<String>, ManagerId)> = self
            .0
            .iter()
            .filter(|(id, _)| id.operation == Operation::Update)
            .map(|(id, owned)| (owned.time.clone(), id.clone()))
            .collect();
        updaters.sort();
        let mut left = updaters.len();
        let mut first_of_version: BTreeMap<String, ManagerId> = BTreeMap::new();
        for (_, id) in updaters {
            if left <= MAX_UPDATE_MANAGERS {
                return;
            }
            let Some(version) = self.0.get(&id).map(|owned| owned.api_version.clone()) else { continue };
            match first_of_version.get(&version) {
                None => {
                    first_of_version.insert(version, id);
                }
                Some(first) => {
                    self.merge_old(&first.clone(), &id, &version);
                    left -= 1;
                }
            }
        }
    }

    fn merge_old(&mut self, first: &ManagerId, id: &ManagerId, version: &str) {
        let bucket = ManagerId::new(OLD_MANAGERS, Operation::Update, version, None);
        if !self.0.contains_key(&bucket)
            && let Some(owned) = self.0.remove(first)
        {
            self.0.insert(bucket.clone(), owned);
        }
        if *id == bucket {
            return;
        }
        if let Some(merged) = self.0.remove(id)
            && let Some(owned) = self.0.get_mut(&bucket)
        {
            owned.fields = merged.fields.union(&owned.fields);
            owned.time = merged.time;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::managed::entry::ManagedField;
    use crate::managed::managers::Managers;

    #[test]
    fn merges_the_oldest_managers_of_updates() {
        let entry = |index: usize| {
            json!({
                "manager": format!("m{index:02}"), "operation": "Update", "apiVersion": "v1",
                "time": format!("2026-01-01T00:00:{index:02}Z"), "fieldsType": "FieldsV1",
                "fieldsV1": {format!("f:f{index:02}"): {}},
            })
        };
        let entries = json!((0..12).map(entry).collect::<Vec<_>>());
        let mut managers = Managers::from_entries(ManagedField::all_from_json(&entries).unwrap());
        managers.cap();
        let entries = managers.into_entries();
        let names: Vec<&str> = entries.iter().map(|entry| entry.manager.as_str()).collect();
        assert_eq!(names, ["ancient-changes", "m03", "m04", "m05", "m06", "m07", "m08", "m09", "m10", "m11"]);
        assert_eq!(entries[0].fields.to_json(), json!({"f:f00": {}, "f:f01": {}, "f:f02": {}}));
        assert_eq!(entries[0].time.as_deref(), Some("2026-01-01T00:00:02Z"));
    }
}
