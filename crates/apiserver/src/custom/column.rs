//! Printer columns of custom resources.

use serde_json::Value;

use super::json_path::JsonPath;
use crate::resource::Column;

/// What a cell shows, before times are made relative.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// The value as it is; null when there is none.
    Value(Value),
    /// A time, to be shown as an age.
    Age(String),
}

/// A printer column, ready to be asked for cells.
#[derive(Clone, Debug)]
pub(crate) struct PrinterColumn {
    column: Column,
    /// `None` when the path can't be read; such columns are empty.
    path: Option<JsonPath>,
}

impl PrinterColumn {
    pub(crate) fn new(column: &Column) -> Self {
        Self { path: JsonPath::parse(&column.json_path), column: column.clone() }
    }

    /// What the column is, for the head of a table.
    pub(crate) fn column(&self) -> &Column {
        &self.column
    }

    /// The cell for an object.
    pub(crate) fn cell(&self, object: &Value) -> Cell {
        let found = self.path.as_ref().and_then(|path| path.find(object).into_iter().next());
        let Some(value) = found else { return Cell::Value(Value::Null) };
        let shown = match (self.column.value_type.as_str(), value) {
            ("string", value) => Value::from(printed(value)),
            ("date", Value::String(time)) => return Cell::Age(time.clone()),
            #[expect(clippy::cast_possible_truncation, reason = "kube-apiserver truncates as well")]
            ("integer", Value::Number(number)) => {
                number.as_i64().or_else(|| number.as_f64().map(|number| number as i64)).map_or(Value::Null, Value::from)
            }
            ("number", Value::Number(_)) | ("boolean", Value::Bool(_)) => value.clone(),
            _ => Value::Null,
        };
        Cell::Value(shown)
    }
}

/// A value as text: strings bare, containers as JSON.
fn printed(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "<nil>".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Cell, PrinterColumn};
    use crate::resource::Column;

    #[test]
    fn cells_have_the_type_of_their_column() {
        let object = json!({"n": 3, "f": 1.5, "b": true, "s": "x", "o": {"a": [1]}, "t": "2026-01-01T00:00:00Z"});
        for (value_type, path, expected) in [
            ("string", ".s", json!("x")),
            ("string", ".n", json!("3")),
            ("string", ".o", json!("{\"a\":[1]}")),
            ("string", ".missing", Value::Null),
            ("integer", ".n", json!(3)),
            ("integer", ".f", json!(1)),
            ("integer", ".s", Value::Null),
            ("number", ".f", json!(1.5)),
            ("boolean", ".b", json!(true)),
            ("boolean", ".s", Value::Null),
        ] {
            let column = Column { value_type: value_type.into(), json_path: path.into(), ..Column::default() };
            assert_eq!(PrinterColumn::new(&column).cell(&object), Cell::Value(expected), "{value_type} {path}");
        }
        let date = Column { value_type: "date".into(), json_path: ".t".into(), ..Column::default() };
        assert_eq!(PrinterColumn::new(&date).cell(&object), Cell::Age("2026-01-01T00:00:00Z".to_owned()));
    }
}
