//! How deep expressions nest, and stacks for those who walk them.

use cel::IdedExpr;
use cel::common::ast::{EntryExpr, Expr};

/// A tree that is deeper isn't taken: also what walks no further than its end, as dropping it does, takes a stack frame
/// for each level.
pub(crate) const MAX_DEPTH: usize = 1000;

/// Trees that aren't deeper are walked on the stack that is there.
const SHALLOW: usize = 16;

/// What the parser needs for the deepest nesting that it allows, when it isn't optimised.
const STACK: usize = 64 << 20;

/// Runs what recurses over a tree of a depth, on a stack that suffices.
pub(crate) fn walk<T>(depth: usize, work: impl FnOnce() -> T) -> T {
    if depth <= SHALLOW { work() } else { deep(work) }
}

/// Runs the parser, or what recurses as deep.
pub(crate) fn deep<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(STACK / 2, STACK, work)
}

/// The levels of an expression.
pub(crate) fn depth(expression: &IdedExpr) -> usize {
    let mut deepest = 0;
    let mut rest = vec![(expression, 1)];
    while let Some((expression, depth)) = rest.pop() {
        deepest = deepest.max(depth);
        each_part(&expression.expr, &mut |part| rest.push((part, depth + 1)));
    }
    deepest
}

fn each_part<'a>(expression: &'a Expr, found: &mut dyn FnMut(&'a IdedExpr)) {
    match expression {
        Expr::Call(call) => call.target.as_deref().into_iter().chain(&call.args).for_each(found),
        Expr::Select(select) => found(&select.operand),
        Expr::List(list) => list.elements.iter().for_each(found),
        Expr::Map(map) => map.entries.iter().for_each(|entry| each_entry(&entry.expr, found)),
        Expr::Struct(object) => object.entries.iter().for_each(|entry| each_entry(&entry.expr, found)),
        Expr::Comprehension(fold) => {
            for part in [&fold.iter_range, &fold.accu_init, &fold.loop_cond, &fold.loop_step, &fold.result] {
                found(part);
            }
        }
        Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => {}
    }
}

fn each_entry<'a>(entry: &'a EntryExpr, found: &mut dyn FnMut(&'a IdedExpr)) {
    match entry {
        EntryExpr::MapEntry(entry) => {
            found(&entry.key);
            found(&entry.value);
        }
        EntryExpr::StructField(field) => found(&field.value),
    }
}
