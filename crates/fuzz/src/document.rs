use serde_json::Value;

/// Longer inputs say nothing that shorter ones don't, and cost time.
const LONGEST: usize = 64 * 1024;

/// The input as `N` JSON documents, one a line; `None` when it isn't that.
pub(crate) fn documents<const N: usize>(data: &[u8]) -> Option<[Value; N]> {
    let text = text(data)?;
    let mut lines = text.lines();
    let documents: Vec<Value> = lines.by_ref().take(N).map_while(|line| serde_json::from_str(line).ok()).collect();
    documents.try_into().ok()
}

/// The input as text of bearable length.
pub(crate) fn text(data: &[u8]) -> Option<&str> {
    std::str::from_utf8(data).ok().filter(|text| text.len() <= LONGEST)
}

/// How many values a document has.
pub(crate) fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// Seeds that are JSON documents, one a line.
pub(crate) fn lines(documents: &[&Value]) -> Vec<u8> {
    documents.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n").into_bytes()
}
