//! What is known before anything is evaluated. cel-go computes it while it plans, so that it costs nothing.

use cel::IdedExpr;
use cel::common::ast::{EntryExpr, Expr, LiteralValue};

/// Functions that make one type of another.
const CONVERSIONS: [&str; 10] =
    ["bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"];

/// Whether an expression is a literal, or made of literals alone.
pub(super) fn is_constant(expression: &IdedExpr) -> bool {
    match &expression.expr {
        Expr::Literal(_) => true,
        Expr::List(list) => list.elements.iter().all(is_constant),
        Expr::Map(map) => map.entries.iter().all(|entry| match &entry.expr {
            EntryExpr::MapEntry(entry) => is_constant(&entry.key) && is_constant(&entry.value),
            EntryExpr::StructField(_) => false,
        }),
        Expr::Call(call) => match call.args.as_slice() {
            [argument] => {
                call.target.is_none() && CONVERSIONS.contains(&call.func_name.as_str()) && is_constant(argument)
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether it is a list of literals in which cel-go looks things up as in a set.
pub(super) fn is_set(expression: &IdedExpr) -> bool {
    let hashable = |element: &IdedExpr| match &element.expr {
        Expr::Literal(literal) => !matches!(literal, LiteralValue::Bytes(_) | LiteralValue::Null),
        _ => false,
    };
    matches!(&expression.expr, Expr::List(list) if list.elements.iter().all(hashable))
}
