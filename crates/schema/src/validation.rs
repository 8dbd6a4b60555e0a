use crate::pattern::Pattern;
use crate::schema::Schema;

/// What a schema demands of a value beyond its type.
#[derive(Clone, Debug, Default)]
pub struct Validation {
    /// The least number.
    pub minimum: Option<f64>,
    /// Whether `minimum` itself is too small.
    pub exclusive_minimum: bool,
    /// The greatest number.
    pub maximum: Option<f64>,
    /// Whether `maximum` itself is too great.
    pub exclusive_maximum: bool,
    /// The number must be a multiple of this.
    pub multiple_of: Option<f64>,
    /// The least number of characters.
    pub min_length: Option<i64>,
    /// The greatest number of characters.
    pub max_length: Option<i64>,
    /// A regular expression in Go's syntax that must match somewhere in the string.
    pub pattern: Option<Pattern>,
    /// The least number of items.
    pub min_items: Option<i64>,
    /// The greatest number of items.
    pub max_items: Option<i64>,
    /// Whether all items must differ.
    pub unique_items: bool,
    /// The least number of fields.
    pub min_properties: Option<i64>,
    /// The greatest number of fields.
    pub max_properties: Option<i64>,
    /// All of these must hold too.
    pub all_of: Vec<Schema>,
    /// At least one of these must hold.
    pub any_of: Vec<Schema>,
    /// Exactly one of these must hold.
    pub one_of: Vec<Schema>,
    /// This must not hold.
    pub not: Option<Box<Schema>>,
}
