use std::sync::LazyLock;

use serde::Deserializer;
use serde::de::{DeserializeSeed, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Value};

use super::mismatch::Mismatch;
use super::node::{Node, Rules};
use super::path::Path;

static EMPTY: LazyLock<Value> = LazyLock::new(|| Value::Object(Map::new()));

/// The zero value of whatever type a missing field has: 0, "", false, an empty list, an object of zero values. A type that
/// doesn't say what it is, or an enum, has none.
#[derive(Clone, Copy)]
pub(crate) struct Zero<'p> {
    pub(crate) parent: &'p Path<'p>,
    pub(crate) name: &'p str,
    pub(crate) path: &'p Path<'p>,
    pub(crate) rules: &'p Rules,
}

impl Zero<'_> {
    fn missing(&self) -> Mismatch {
        Mismatch::missing(self.parent, self.name)
    }
}

macro_rules! zero {
    ($($method:ident => $visit:ident($($value:expr)?);)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
            // A type that refuses its zero value, such as a time, has none.
            visitor.$visit($($value)?).map_err(|_: Mismatch| self.missing())
        })*
    };
}

impl<'de> Deserializer<'de> for Zero<'_> {
    type Error = Mismatch;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Mismatch> {
        Err(self.missing())
    }

    zero! {
        deserialize_bool => visit_bool(false);
        deserialize_i8 => visit_i8(0);
        deserialize_i16 => visit_i16(0);
        deserialize_i32 => visit_i32(0);
        deserialize_i64 => visit_i64(0);
        deserialize_i128 => visit_i128(0);
        deserialize_u8 => visit_u8(0);
        deserialize_u16 => visit_u16(0);
        deserialize_u32 => visit_u32(0);
        deserialize_u64 => visit_u64(0);
        deserialize_u128 => visit_u128(0);
        deserialize_f32 => visit_f32(0.0);
        deserialize_f64 => visit_f64(0.0);
        deserialize_char => visit_char('\0');
        deserialize_str => visit_borrowed_str("");
        deserialize_string => visit_borrowed_str("");
        deserialize_bytes => visit_borrowed_bytes(&[]);
        deserialize_byte_buf => visit_borrowed_bytes(&[]);
        deserialize_unit => visit_unit();
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        visitor.visit_none()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Mismatch> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Mismatch> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        visitor.visit_seq(Zeros { zero: self, left: 0 })
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Mismatch> {
        visitor.visit_seq(Zeros { zero: self, left: len })
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        self.deserialize_tuple(len, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        Node { value: &EMPTY, path: self.path, rules: self.rules }.deserialize_map(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        self.deserialize_map(visitor)
    }

    forward_to_deserialize_any! { enum identifier ignored_any }
}

struct Zeros<'p> {
    zero: Zero<'p>,
    left: usize,
}

impl<'de> SeqAccess<'de> for Zeros<'_> {
    type Error = Mismatch;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Mismatch> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        seed.deserialize(self.zero).map(Some)
    }
}
