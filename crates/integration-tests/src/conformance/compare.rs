use serde_json::Value;

/// One place where an answer isn't what it should be.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Which step, and the JSON pointer in its answer.
    pub place: String,
    /// What the reference answered.
    pub expected: Value,
    /// What was answered.
    pub found: Value,
}

/// Where two answers differ.
pub(crate) fn compare(expected: &Value, found: &Value, place: &str, differences: &mut Vec<Difference>) {
    match (expected, found) {
        (Value::Object(left), Value::Object(right)) => {
            for key in left.keys().chain(right.keys().filter(|key| !left.contains_key(*key))) {
                let place = format!("{place}/{}", key.replace('~', "~0").replace('/', "~1"));
                compare(
                    &left.get(key).cloned().unwrap_or_default(),
                    &right.get(key).cloned().unwrap_or_default(),
                    &place,
                    differences,
                );
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                compare(left, right, &format!("{place}/{index}"), differences);
            }
        }
        (left, right) if left == right => {}
        (left, right) => {
            differences.push(Difference { place: place.to_owned(), expected: left.clone(), found: right.clone() });
        }
    }
}
