use serde_json::Value;

use super::mismatch::Mismatch;
use super::path::Path;

/// A field that objects of a type must have, wherever the object that it belongs to is there.
///
/// Written as `spec.template`, with `[]` for all items of a list and `*` for all values of a map:
/// `spec.containers[].name`, `spec.limits.*.max`. Field names that contain a dot can't be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequiredField {
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Field(String),
    Items,
    Values,
}

impl RequiredField {
    /// `None` when the text is no path that ends with a field.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut steps = Vec::new();
        for part in text.split('.') {
            let name = part.trim_end_matches("[]");
            match name {
                "" => return None,
                _ if name.contains(['[', ']']) => return None,
                "*" => steps.push(Step::Values),
                _ => steps.push(Step::Field(name.to_owned())),
            }
            steps.extend(std::iter::repeat_n(Step::Items, (part.len() - name.len()) / 2));
        }
        matches!(steps.last(), Some(Step::Field(_))).then_some(Self { steps })
    }

    /// An error when the field is missing, or null, somewhere in `object`.
    pub(crate) fn check(&self, object: &Value) -> Result<(), Mismatch> {
        check(&self.steps, object, &Path::Root)
    }
}

fn check(steps: &[Step], value: &Value, path: &Path<'_>) -> Result<(), Mismatch> {
    match (steps, value) {
        ([Step::Field(name)], Value::Object(fields)) if fields.get(name).is_none_or(Value::is_null) => {
            Err(Mismatch::missing(path, name))
        }
        ([Step::Field(name), rest @ ..], Value::Object(fields)) => match fields.get(name) {
            Some(value) => check(rest, value, &Path::Field(path, name)),
            None => Ok(()),
        },
        ([Step::Items, rest @ ..], Value::Array(items)) => {
            items.iter().enumerate().try_for_each(|(index, item)| check(rest, item, &Path::Item(path, index)))
        }
        ([Step::Values, rest @ ..], Value::Object(fields)) => {
            fields.iter().try_for_each(|(name, value)| check(rest, value, &Path::Field(path, name)))
        }
        // What has the wrong type was refused, and what isn't there requires nothing.
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::RequiredField;

    #[test]
    fn what_is_missing_is_named() {
        let object = json!({
            "spec": {"a": 1, "null": null, "list": [{"name": "x"}, {}], "map": {"k": {}}, "nested": [[{}]]},
        });
        let check = |path: &str, missing: Option<&str>| {
            let found = RequiredField::parse(path).expect("a path").check(&object).err().and_then(|error| error.path);
            assert_eq!(found.as_deref(), missing, "{path}");
        };
        check("spec", None);
        check("spec.a", None);
        check("status", Some("status"));
        check("status.phase", None);
        check("spec.b", Some("spec.b"));
        check("spec.null", Some("spec.null"));
        check("spec.null.inner", None);
        check("spec.list[].name", Some("spec.list[1].name"));
        check("spec.nested[][].name", Some("spec.nested[0][0].name"));
        check("spec.map.*.max", Some("spec.map.k.max"));
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for bad in ["", ".", "spec.", "spec..a", "spec.a[]", "[]", "spec.*", "spec.a[0]", "spec.a[].[]"] {
            assert_eq!(RequiredField::parse(bad), None, "{bad}");
        }
    }
}
