use std::collections::BTreeMap;

use serde::Deserializer;
use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer};
use serde::de::{DeserializeSeed, Error as _, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Value, map};

use super::mismatch::Mismatch;
use super::path::Path;
use super::zero::Zero;

/// How one conversion goes.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    /// Whether a field that the type doesn't know is an error.
    pub(crate) refuse_unknown: bool,
    /// Missing fields that get zero values, by the path of their object.
    pub(crate) fill: BTreeMap<String, Vec<String>>,
}

/// A JSON value on its way into a type, which knows where in the object it is.
#[derive(Clone, Copy)]
pub(crate) struct Node<'de, 'p> {
    pub(crate) value: &'de Value,
    pub(crate) path: &'p Path<'p>,
    pub(crate) rules: &'p Rules,
}

impl<'de> Node<'de, '_> {
    fn located<T>(self, result: Result<T, Mismatch>) -> Result<T, Mismatch> {
        result.map_err(|mismatch| mismatch.at(self.path, self.value))
    }

    fn visit_map<V: Visitor<'de>>(self, fields: &'de Map<String, Value>, visitor: V) -> Result<V::Value, Mismatch> {
        self.located(visitor.visit_map(self.fields(fields)))
    }

    fn fields<'s>(&'s self, fields: &'de Map<String, Value>) -> Fields<'de, 's> {
        // The path is written out only if something is to be filled in.
        let fill = if self.rules.fill.is_empty() { None } else { self.rules.fill.get(&self.path.to_string()) };
        let fill = fill.map_or(&[][..], Vec::as_slice);
        Fields { node: *self, left: fields.iter(), fill: fill.iter(), next: Next::None }
    }
}

impl<'de> Deserializer<'de> for Node<'de, '_> {
    type Error = Mismatch;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        let result = match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(number), _, _) => visitor.visit_u64(number),
                (_, Some(number), _) => visitor.visit_i64(number),
                (_, _, Some(number)) => visitor.visit_f64(number),
                _ => Err(Mismatch::invalid_type(Unexpected::Other("number"), &visitor)),
            },
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(items) => visitor.visit_seq(Items { node: self, left: items.iter().enumerate() }),
            Value::Object(fields) => return self.visit_map(fields, visitor),
        };
        self.located(result)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.value {
            Value::Null => self.located(visitor.visit_none()),
            _ => self.located(visitor.visit_some(self)),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Mismatch> {
        self.located(visitor.visit_newtype_struct(self))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        let result = match self.value {
            Value::String(variant) => {
                let variant: BorrowedStrDeserializer<'de, Mismatch> = BorrowedStrDeserializer::new(variant);
                visitor.visit_enum(variant)
            }
            Value::Object(fields) => visitor.visit_enum(MapAccessDeserializer::new(self.fields(fields))),
            _ => return self.deserialize_any(visitor),
        };
        self.located(result)
    }

    /// The type doesn't know this field.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        if self.rules.refuse_unknown && !is_type_meta(self.path) {
            return Err(Mismatch::unknown(self.path, self.value));
        }
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier
    }
}

/// `apiVersion` and `kind`, which types need not have.
fn is_type_meta(path: &Path<'_>) -> bool {
    matches!(path, Path::Field(Path::Root, "apiVersion" | "kind"))
}

struct Items<'de, 'p> {
    node: Node<'de, 'p>,
    left: std::iter::Enumerate<std::slice::Iter<'de, Value>>,
}

impl<'de> SeqAccess<'de> for Items<'de, '_> {
    type Error = Mismatch;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Mismatch> {
        let Some((index, value)) = self.left.next() else { return Ok(None) };
        let path = Path::Item(self.node.path, index);
        seed.deserialize(Node { value, path: &path, rules: self.node.rules }).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left.len())
    }
}

/// The fields of an object, and then the missing ones that get zero values.
struct Fields<'de, 'p> {
    node: Node<'de, 'p>,
    left: map::Iter<'de>,
    fill: std::slice::Iter<'p, String>,
    next: Next<'de, 'p>,
}

/// The field whose name was given and whose value is next.
enum Next<'de, 'p> {
    None,
    Value(&'de str, &'de Value),
    Zero(&'p str),
}

impl<'de> MapAccess<'de> for Fields<'de, '_> {
    type Error = Mismatch;

    fn next_key_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Mismatch> {
        if let Some((name, value)) = self.left.next() {
            self.next = Next::Value(name, value);
            let path = Path::Field(self.node.path, name);
            let name: BorrowedStrDeserializer<'de, Mismatch> = BorrowedStrDeserializer::new(name);
            return seed.deserialize(name).map(Some).map_err(|mismatch| mismatch.at(&path, value));
        }
        let Some(name) = self.fill.next() else { return Ok(None) };
        self.next = Next::Zero(name);
        seed.deserialize(name.as_str().into_deserializer()).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Mismatch> {
        match std::mem::replace(&mut self.next, Next::None) {
            Next::Value(name, value) => {
                let path = Path::Field(self.node.path, name);
                seed.deserialize(Node { value, path: &path, rules: self.node.rules })
            }
            Next::Zero(name) => {
                let path = Path::Field(self.node.path, name);
                seed.deserialize(Zero { parent: self.node.path, name, path: &path, rules: self.node.rules })
            }
            Next::None => Err(Mismatch::custom("a value was asked for before its name")),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left.len() + self.fill.len())
    }
}
