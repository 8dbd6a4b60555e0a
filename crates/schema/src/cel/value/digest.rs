use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::{CelValue, equal};

/// Where values stand, so that one is found without a look at all of them: what lists can have in a request is too much
/// for that.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    by_digest: HashMap<u64, Vec<usize>>,
}

impl Places {
    /// The values that are found from now on.
    pub(crate) fn of<'a, 'v>(values: impl IntoIterator<Item = &'v CelValue<'a>>) -> Self
    where
        'a: 'v,
    {
        let mut places = Self::default();
        values.into_iter().enumerate().for_each(|(index, value)| places.add(index, value));
        places
    }

    /// One more, at an index.
    pub(crate) fn add(&mut self, index: usize, value: &CelValue<'_>) {
        self.by_digest.entry(digest(value)).or_default().push(index);
    }

    /// The first index at which `wanted` stands, where `value_at` gives the value at an index.
    pub(crate) fn find<'a>(
        &self,
        wanted: &CelValue<'_>,
        value_at: impl Fn(usize) -> Option<CelValue<'a>>,
    ) -> Option<usize> {
        let candidates = self.by_digest.get(&digest(wanted))?;
        candidates.iter().copied().find(|index| value_at(*index).is_some_and(|value| equal(&value, wanted)))
    }
}

/// A number that is the same for values that are equal, however they are made: an integer and the fraction that equals
/// it, lists that differ only in their order.
pub(crate) fn digest(value: &CelValue<'_>) -> u64 {
    match value {
        CelValue::Null => 1,
        CelValue::Bool(truth) => of(&(2, truth)),
        #[expect(clippy::cast_precision_loss, reason = "numbers of other types are compared as floating point")]
        CelValue::Int(number) => of_number(*number as f64),
        #[expect(clippy::cast_precision_loss, reason = "numbers of other types are compared as floating point")]
        CelValue::Uint(number) => of_number(*number as f64),
        CelValue::Double(number) => of_number(*number),
        CelValue::String(text) => of(&(3, text.as_ref())),
        CelValue::Bytes(bytes) => of(&(4, bytes)),
        CelValue::Duration(span) => of(&(5, span)),
        CelValue::Timestamp(time) => of(&(6, time.as_nanosecond())),
        CelValue::List(list) => list.iter().fold(7, |sum, item| sum.wrapping_add(digest(&item))),
        CelValue::Map(map) => map.keys().iter().fold(8, |sum, key| {
            let value = map.get(key).map(|value| digest(&value));
            sum.wrapping_add(of(&(digest(key), value)))
        }),
        CelValue::Optional(value) => of(&(9, value.as_ref().map(|value| digest(value)))),
        CelValue::Type(_) => 10,
        CelValue::Opaque(opaque) => of(&(11, opaque.type_name())),
    }
}

fn of_number(number: f64) -> u64 {
    // Zero has two signs.
    of(&(12, (number + 0.0).to_bits()))
}

fn of(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Places, digest};
    use crate::cel::value::CelValue;

    #[test]
    fn equal_values_have_one_digest() {
        let document = json!([{"a": 1, "b": [1, 2]}, {"b": [2, 1], "a": 1.0}, 0]);
        let values = document.as_array().unwrap();
        assert_eq!(digest(&CelValue::from_json(&values[0])), digest(&CelValue::from_json(&values[1])));
        assert_eq!(digest(&CelValue::Int(0)), digest(&CelValue::Double(-0.0)));
        assert_ne!(digest(&CelValue::text("a")), digest(&CelValue::text("b")));
    }

    #[test]
    fn values_are_found_where_they_stand() {
        let values = [CelValue::text("a"), CelValue::Int(1), CelValue::text("a")];
        let places = Places::of(&values);
        let find = |wanted: &CelValue<'_>| places.find(wanted, |index| values.get(index).cloned());
        assert_eq!(find(&CelValue::text("a")), Some(0));
        assert_eq!(find(&CelValue::Double(1.0)), Some(1));
        assert_eq!(find(&CelValue::text("b")), None);
    }
}
