//! Why a strategic merge patch can't be applied.

use serde_json::{Map, Value};

use crate::field::quoted;
use crate::typed::{GoPlain, go_type};

/// Why a strategic merge patch can't be applied; displays as kube-apiserver's message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StrategicError {
    /// The object or the patch isn't a map.
    #[error("invalid JSON document")]
    Document,
    /// `$deleteFromPrimitiveList` without a field.
    #[error("invalid patch format of primitive list")]
    PrimitiveList,
    /// `$retainKeys` isn't a list, or doesn't have all keys that the patch sets.
    #[error("invalid patch format of retainKeys")]
    RetainKeys,
    /// `$setElementOrder` without a field, or not a list.
    #[error("invalid patch format of setElementOrder list")]
    SetElementOrder,
    /// A list to merge contains lists.
    #[error("lists of lists are not supported")]
    ListOfLists,
    /// An item lacks the merge key of its list.
    #[error("map: {} does not contain declared merge key: {key}", GoPlain(.item))]
    NoMergeKey {
        /// The item.
        item: Value,
        /// The merge key.
        key: String,
    },
    /// A value is of another type than its place wants.
    #[error("expected a {expected}, but received a {}", go_argument(.actual))]
    ValueType {
        /// The type that belongs there, by its Go name.
        expected: &'static str,
        /// The type that is there, by its Go name.
        actual: &'static str,
    },
    /// `$patch` with another value than those that are allowed there.
    #[error("unknown patch type: {} in map: {}", GoPlain(.directive), GoPlain(.map))]
    Directive {
        /// The value of `$patch`.
        directive: Value,
        /// The map that has it.
        map: Value,
    },
    /// The items of the patch are in another order than the one it sets.
    #[error(
        "The order in patch list:\n{}\n doesn't match $setElementOrder list:\n{}\n", GoPlain(.patch), GoPlain(.order)
    )]
    Order {
        /// The list in the patch.
        patch: Value,
        /// The order it sets.
        order: Value,
    },
    /// A list to merge has items of several types.
    #[error("list element types are not identical: {}", GoPlain(.0))]
    MixedTypes(Value),
    /// An order is set for a list that has no items.
    #[error("no elements in any of the given slices")]
    NoItems,
    /// `$patch: merge` in a list.
    #[error("merging lists cannot yet be specified in the patch")]
    MergeDirective,
    /// A list of maps is merged whose schema names no merge key.
    #[error("cannot merge lists without merge key for struct")]
    NoDeclaredMergeKey,
    /// The schema doesn't have the field.
    #[error("unable to find api field in struct {name} for the json field {}", quoted(.field))]
    UnknownField {
        /// The name of the type without the field.
        name: String,
        /// The field.
        field: String,
    },
    /// An item of a list with a merge key isn't a map.
    #[error("value for key {0} is not a map")]
    NotAMap(usize),
}

impl StrategicError {
    pub(crate) fn not_a_map(actual: &Value) -> StrategicError {
        StrategicError::ValueType { expected: "map[string]interface {}", actual: go_type(actual) }
    }

    pub(crate) fn not_a_list(actual: &Value) -> StrategicError {
        StrategicError::ValueType { expected: "[]interface {}", actual: go_type(actual) }
    }

    pub(crate) fn no_merge_key(item: &Map<String, Value>, key: &str) -> StrategicError {
        StrategicError::NoMergeKey { item: Value::Object(item.clone()), key: key.to_owned() }
    }
}

/// What Go prints of a type that it is given as text: none is its way to say that it got something else.
fn go_argument(name: &str) -> &str {
    if name == "<nil>" { "%!s(<nil>)" } else { name }
}
