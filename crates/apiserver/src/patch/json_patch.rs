//! JSON patch (RFC 6902), with the liberties that kube-apiserver takes.
//!
//! It replaces fields that aren't there, copies them as null, counts negative indexes from the end of a list, takes a
//! missing value for null, and ignores what stands before the first slash of a path. Libraries that follow the RFC
//! refuse all of these.

use serde_json::{Map, Value};

use crate::status::ApiError;

use super::body::go_kind;

/// How many operations a patch has at most.
const MAX_OPERATIONS: usize = 10_000;

/// How many bytes, as JSON, all copies of a patch may add: each may copy what the one before made twice as large.
const MAX_COPIED: usize = 3 << 20;

/// How deep the patched document may be: as deep as a body that the server reads. Each operation can put what is there
/// below something else, and whatever walks the document takes a stack frame for each level.
const MAX_DEPTH: usize = 128;

/// Operations that are applied one after the other, all or none.
#[derive(Clone, Debug)]
pub(crate) struct JsonPatch {
    operations: Vec<Operation>,
    /// Paths of members of operations that mean nothing.
    unknown: Vec<String>,
}

#[derive(Clone, Debug)]
struct Operation {
    op: String,
    path: Option<String>,
    from: Option<String>,
    value: Value,
}

/// An operation doesn't fit the document.
#[derive(Debug)]
struct Inapplicable;

impl JsonPatch {
    /// Reads operations. Errors: 400 when they aren't any, 413 when there are too many.
    pub(crate) fn from_json(json: Value) -> Result<JsonPatch, ApiError> {
        let items = match json {
            Value::Array(items) => items,
            Value::Null => Vec::new(),
            other => return Err(wrong_kind(&other, "value of type []handlers.jsonPatchOp")),
        };
        if items.len() > MAX_OPERATIONS {
            return Err(ApiError::too_large(&format!(
                "The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {}",
                items.len()
            )));
        }
        let known = |key: &str| matches!(key, "op" | "path" | "from" | "value");
        let unknown = items.iter().enumerate().flat_map(|(index, item)| {
            let keys = item.as_object().into_iter().flat_map(Map::keys).filter(move |key| !known(key));
            keys.map(move |key| format!("[{index}].{key}"))
        });
        let unknown = unknown.collect();
        let operations = items.into_iter().map(Operation::from_json).collect::<Result<_, _>>()?;
        Ok(JsonPatch { operations, unknown })
    }

    /// Paths of members of operations that mean nothing.
    pub(crate) fn unknown(&self) -> &[String] {
        &self.unknown
    }

    /// The document after all operations. Errors: 422 when one can't be applied.
    pub(crate) fn patched(&self, document: &Value) -> Result<Value, ApiError> {
        let mut patching = Patching { document: document.clone(), copied: 0, depth: depth(document) };
        for operation in &self.operations {
            patching.apply(operation).map_err(|Inapplicable| {
                ApiError::unprocessable("the server rejected our request due to an error in our request")
            })?;
        }
        Ok(patching.document)
    }
}

/// A document between two operations, and what they have cost.
struct Patching {
    document: Value,
    /// Bytes of all copies.
    copied: usize,
    /// The document is no deeper than this.
    depth: usize,
}

impl Operation {
    fn from_json(json: Value) -> Result<Operation, ApiError> {
        let mut fields = match json {
            Value::Object(fields) => fields,
            Value::Null => Map::new(),
            other => return Err(wrong_kind(&other, "value of type handlers.jsonPatchOp")),
        };
        let mut text = |name: &str| match fields.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong_kind(&other, &format!("struct field jsonPatchOp.{name} of type string"))),
        };
        let (op, path, from) = (text("op")?.unwrap_or_default(), text("path")?, text("from")?);
        Ok(Operation { op, path, from, value: fields.remove("value").unwrap_or_default() })
    }
}

impl Patching {
    fn apply(&mut self, operation: &Operation) -> Result<(), Inapplicable> {
        let path = operation.path.as_deref().ok_or(Inapplicable)?;
        let from = || operation.from.as_deref().ok_or(Inapplicable);
        match operation.op.as_str() {
            "add" => {
                self.deepen(levels(path) + depth(&operation.value))?;
                add(&mut self.document, path, operation.value.clone())
            }
            "remove" => remove(&mut self.document, path).map(drop),
            "replace" => {
                self.deepen(levels(path) + depth(&operation.value))?;
                replace(&mut self.document, path, operation.value.clone())
            }
            "test" => test(&mut self.document, path, &operation.value),
            "move" => {
                let value = remove(&mut self.document, from()?)?;
                // Measuring what is moved each time would cost more than moving it.
                let estimate = levels(path) + self.depth.saturating_sub(levels(from()?));
                self.deepen(if estimate > MAX_DEPTH { levels(path) + depth(&value) } else { estimate })?;
                add(&mut self.document, path, value)
            }
            "copy" => {
                let value = get(&mut self.document, from()?)?;
                self.copied += value.to_string().len();
                if self.copied > MAX_COPIED {
                    return Err(Inapplicable);
                }
                self.deepen(levels(path) + depth(&value))?;
                add(&mut self.document, path, value)
            }
            _ => Err(Inapplicable),
        }
    }

    /// Takes note that something in the document is about to reach down to `reached`, at most.
    fn deepen(&mut self, reached: usize) -> Result<(), Inapplicable> {
        if reached > MAX_DEPTH {
            return Err(Inapplicable);
        }
        self.depth = self.depth.max(reached);
        Ok(())
    }
}

/// How many maps and lists a place is in.
fn levels(path: &str) -> usize {
    path.matches('/').count()
}

/// How many maps and lists stand in each other.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

fn add(document: &mut Value, path: &str, value: Value) -> Result<(), Inapplicable> {
    match parent(document, path)? {
        (Value::Object(fields), key) => drop(fields.insert(key, value)),
        (Value::Array(items), key) if key == "-" => items.push(value),
        (Value::Array(items), key) => {
            let index = index(&key, items.len() + 1)?;
            items.insert(index, value);
        }
        _ => return Err(Inapplicable),
    }
    Ok(())
}

fn remove(document: &mut Value, path: &str) -> Result<Value, Inapplicable> {
    match parent(document, path)? {
        (Value::Object(fields), key) => fields.remove(&key).ok_or(Inapplicable),
        (Value::Array(items), key) => {
            let index = index(&key, items.len())?;
            Ok(items.remove(index))
        }
        _ => Err(Inapplicable),
    }
}

fn replace(document: &mut Value, path: &str, value: Value) -> Result<(), Inapplicable> {
    if path.is_empty() {
        if !value.is_object() && !value.is_array() {
            return Err(Inapplicable);
        }
        *document = value;
        return Ok(());
    }
    match parent(document, path)? {
        (Value::Object(fields), key) => drop(fields.insert(key, value)),
        (Value::Array(items), key) => {
            let index = index(&key, items.len())?;
            *items.get_mut(index).ok_or(Inapplicable)? = value;
        }
        _ => return Err(Inapplicable),
    }
    Ok(())
}

fn test(document: &mut Value, path: &str, wanted: &Value) -> Result<(), Inapplicable> {
    let found = if path.is_empty() { document.clone() } else { get(document, path)? };
    if found == *wanted { Ok(()) } else { Err(Inapplicable) }
}

/// The value at a path; a missing field is null.
fn get(document: &mut Value, path: &str) -> Result<Value, Inapplicable> {
    match parent(document, path)? {
        (Value::Object(fields), key) => Ok(fields.get(&key).cloned().unwrap_or_default()),
        (Value::Array(items), key) => {
            let index = index(&key, items.len())?;
            items.get(index).cloned().ok_or(Inapplicable)
        }
        _ => Err(Inapplicable),
    }
}

/// The map or list that a path ends in, and the last step.
fn parent<'a>(document: &'a mut Value, path: &str) -> Result<(&'a mut Value, String), Inapplicable> {
    let mut steps = path.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~"));
    let mut step = steps.next().ok_or(Inapplicable)?;
    let mut place = document;
    for next in steps {
        place = match place {
            Value::Object(fields) => fields.get_mut(&step).ok_or(Inapplicable)?,
            Value::Array(items) => {
                let index = index(&step, items.len())?;
                items.get_mut(index).ok_or(Inapplicable)?
            }
            _ => return Err(Inapplicable),
        };
        step = next;
    }
    Ok((place, step))
}

/// An index into a list of a length; negative ones count from the end.
fn index(step: &str, length: usize) -> Result<usize, Inapplicable> {
    let index: i64 = step.parse().map_err(|_| Inapplicable)?;
    let from_start = if index < 0 { index + i64::try_from(length).map_err(|_| Inapplicable)? } else { index };
    usize::try_from(from_start).ok().filter(|index| *index < length).ok_or(Inapplicable)
}

fn wrong_kind(value: &Value, wanted: &str) -> ApiError {
    ApiError::bad_request(format!("error decoding patch: json: cannot unmarshal {} into Go {wanted}", go_kind(value)))
}
