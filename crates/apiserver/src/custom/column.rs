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

/// The cell of a column for an object.
pub(crate) fn cell(column: &Column, object: &Value) -> Cell {
    let Some(path) = JsonPath::parse(&column.json_path) else { return Cell::Value(Value::Null) };
    let Some(value) = path.find(object).into_iter().next() else { return Cell::Value(Value::Null) };
    let shown = match (column.value_type.as_str(), value) {
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

    use super::{Cell, cell};
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
            assert_eq!(cell(&column, &object), Cell::Value(expected), "{value_type} {path}");
        }
        let date = Column { value_type: "date".into(), json_path: ".t".into(), ..Column::default() };
        assert_eq!(cell(&date, &object), Cell::Age("2026-01-01T00:00:00Z".to_owned()));
    }
}
