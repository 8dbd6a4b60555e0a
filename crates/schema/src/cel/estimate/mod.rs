//! What an expression costs at most, before it is ever evaluated (cel-go's `checker/cost.go`).
//!
//! Costs are CEL's: 1 for a variable or a field, a tenth of the length for looking at a text once. Sizes come from literals
//! and from the schema of `self`.

mod call;
mod expression;
mod library;
mod local;
mod node;
mod range;

use self::expression::Coster;
pub(crate) use self::range::Estimate;
use super::check::Checked;
use super::depth::walk;
use super::schema_type::SchemaType;

/// The cost of a new list.
const LIST_COST: u64 = 10;
/// The cost of a new map.
const MAP_COST: u64 = 30;
/// The cost of a new object.
const STRUCT_COST: u64 = 40;
/// The cost of looking at a character.
const STRING_FACTOR: f64 = 0.1;
/// The cost of a character of a regular expression, for each unit of cost of the text.
const REGEX_FACTOR: f64 = 0.25;

/// What evaluating `checked` costs, where its variables have the sizes of `sizes`.
pub(crate) fn estimate_cost(checked: &Checked, sizes: Option<&SchemaType>) -> Estimate {
    walk(checked.depth, || Coster::new(checked, sizes).cost(&checked.expression))
}
