//! Objects as JSON in which a field that is not set is missing and a null that somebody wrote is a null.
//!
//! serde tells the two apart (`serialize_none` and `serialize_unit`), serde_json's own values don't.

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::value::Serializer as Plain;
use serde_json::{Error, Map, Value};

/// The object's fields that are set.
pub(crate) fn set_fields<T: Serialize + ?Sized>(object: &T) -> Result<Value, Error> {
    Ok(object.serialize(SetFields)?.unwrap_or(Value::Null))
}

/// Serialises to no value at all what is not set.
struct SetFields;

/// Members of an object, or elements of a list, so far.
struct Members {
    variant: Option<&'static str>,
    so_far: Map<String, Value>,
    key: Option<String>,
}

struct Elements {
    variant: Option<&'static str>,
    so_far: Vec<Value>,
}

impl Members {
    fn new(variant: Option<&'static str>) -> Self {
        Self { variant, so_far: Map::new(), key: None }
    }

    fn set<T: Serialize + ?Sized>(&mut self, key: String, value: &T) -> Result<(), Error> {
        if let Some(value) = value.serialize(SetFields)? {
            self.so_far.insert(key, value);
        }
        Ok(())
    }

    fn finish(self) -> Value {
        in_variant(self.variant, Value::Object(self.so_far))
    }
}

impl Elements {
    fn new(variant: Option<&'static str>) -> Self {
        Self { variant, so_far: Vec::new() }
    }

    /// An element can't be missing: the others would move.
    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.so_far.push(set_fields(value)?);
        Ok(())
    }

    fn finish(self) -> Value {
        in_variant(self.variant, Value::Array(self.so_far))
    }
}

fn in_variant(variant: Option<&'static str>, value: Value) -> Value {
    match variant {
        Some(variant) => Value::Object(Map::from_iter([(variant.to_owned(), value)])),
        None => value,
    }
}

macro_rules! plain {
    ($($method:ident: $type:ty),* $(,)?) => {
        $(fn $method(self, value: $type) -> Result<Self::Ok, Error> {
            Plain.$method(value).map(Some)
        })*
    };
}

impl Serializer for SetFields {
    type Ok = Option<Value>;
    type Error = Error;
    type SerializeSeq = Elements;
    type SerializeTuple = Elements;
    type SerializeTupleStruct = Elements;
    type SerializeTupleVariant = Elements;
    type SerializeMap = Members;
    type SerializeStruct = Members;
    type SerializeStructVariant = Members;

    plain! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_i128: i128, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_u128: u128, serialize_f32: f32, serialize_f64: f64, serialize_char: char, serialize_str: &str,
        serialize_bytes: &[u8],
    }

    fn serialize_none(self) -> Result<Self::Ok, Error> {
        Ok(None)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Self::Ok, Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Self::Ok, Error> {
        Ok(Some(Value::Null))
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Self::Ok, Error> {
        Ok(Some(Value::Null))
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<Self::Ok, Error> {
        Ok(Some(variant.into()))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<Self::Ok, Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Self::Ok, Error> {
        Ok(Some(in_variant(Some(variant), set_fields(value)?)))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Elements, Error> {
        Ok(Elements::new(None))
    }

    fn serialize_tuple(self, _: usize) -> Result<Elements, Error> {
        Ok(Elements::new(None))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Elements, Error> {
        Ok(Elements::new(None))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Elements, Error> {
        Ok(Elements::new(Some(variant)))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members, Error> {
        Ok(Members::new(None))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Members, Error> {
        Ok(Members::new(None))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members, Error> {
        Ok(Members::new(Some(variant)))
    }
}

macro_rules! elements {
    ($($trait:ident::$method:ident),* $(,)?) => {
        $(impl $trait for Elements {
            type Ok = Option<Value>;
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.push(value)
            }

            fn end(self) -> Result<Self::Ok, Error> {
                Ok(Some(self.finish()))
            }
        })*
    };
}

elements! {
    SerializeSeq::serialize_element, SerializeTuple::serialize_element, SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field,
}

macro_rules! members {
    ($($trait:ident),*) => {
        $(impl $trait for Members {
            type Ok = Option<Value>;
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
                self.set(key.to_owned(), value)
            }

            fn end(self) -> Result<Self::Ok, Error> {
                Ok(Some(self.finish()))
            }
        })*
    };
}

members!(SerializeStruct, SerializeStructVariant);

impl SerializeMap for Members {
    type Ok = Option<Value>;
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        // JSON's own rules for keys: numbers become text, lists are an error.
        let mut pair = Plain.serialize_map(None)?;
        pair.serialize_entry(key, &())?;
        let key = match SerializeMap::end(pair)? {
            Value::Object(members) => members.into_iter().next().map(|(key, _)| key),
            _ => None,
        };
        self.key = key;
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        let key = self.key.take().unwrap_or_default();
        self.set(key, value)
    }

    fn end(self) -> Result<Self::Ok, Error> {
        Ok(Some(self.finish()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Serialize;
    use serde_json::{Value, json};

    use super::set_fields;

    #[derive(Serialize)]
    struct Spec {
        unset: Option<u32>,
        zero: Option<u32>,
        anything: Value,
        list: Vec<Option<u32>>,
        map: BTreeMap<u32, Option<bool>>,
        choices: Vec<Choice>,
        #[serde(flatten)]
        more: More,
    }

    #[derive(Serialize)]
    struct More {
        also_unset: Option<String>,
        text: &'static str,
    }

    #[derive(Serialize)]
    enum Choice {
        Plain,
        Wrapped(Option<u32>),
        Pair(u32, Option<u32>),
        Fields { a: Option<u32>, b: u32 },
    }

    #[test]
    fn what_is_not_set_is_missing_and_what_is_null_is_null() {
        let spec = Spec {
            unset: None,
            zero: Some(0),
            anything: json!({"a": null, "b": [null, 1.5, "x"]}),
            list: vec![Some(1), None],
            map: [(1, Some(true)), (2, None)].into(),
            choices: vec![
                Choice::Plain,
                Choice::Wrapped(None),
                Choice::Pair(1, None),
                Choice::Fields { a: None, b: 2 },
            ],
            more: More { also_unset: None, text: "y" },
        };
        assert_eq!(
            set_fields(&spec).unwrap(),
            json!({
                "zero": 0, "anything": {"a": null, "b": [null, 1.5, "x"]}, "list": [1, null], "map": {"1": true},
                "choices": ["Plain", {"Wrapped": null}, {"Pair": [1, null]}, {"Fields": {"b": 2}}], "text": "y",
            })
        );
    }
}
