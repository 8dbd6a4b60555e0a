//! The macros of Kubernetes' environment that the parser doesn't know: comprehensions with two variables.

use std::sync::LazyLock;

use cel::Env;
use cel::common::ast::{CallExpr, ComprehensionExpr, Expr, IdedExpr, ListExpr, LiteralValue, MapExpr, operators};
use cel::parser::{Macro, MacroExprHelper, ParseError};

/// What folds of macros call what they have so far; no name in an expression can be that.
pub(crate) const ACCUMULATOR: &str = "@result";

/// The environment whose parser expands all macros. It is made once per process and never changes.
pub(crate) fn environment() -> &'static Env {
    static ENVIRONMENT: LazyLock<Env> = LazyLock::new(|| {
        let mut environment = Env::stdlib();
        let macros = [
            with_two("all", 3, all),
            with_two("exists", 3, exists),
            with_two("existsOne", 3, exists_one),
            with_two("exists_one", 3, exists_one),
            with_two("transformList", 3, transform_list),
            with_two("transformList", 4, transform_list),
            with_two("transformMap", 3, transform_map),
            with_two("transformMap", 4, transform_map),
            with_two("transformMapEntry", 3, transform_entries),
            with_two("transformMapEntry", 4, transform_entries),
        ];
        for one in macros {
            // One that the parser has itself already does the same.
            let _ = environment.add_macro(one);
        }
        environment
    });
    &ENVIRONMENT
}

/// A macro on a range, with the names of two variables in front of its other arguments.
fn with_two(
    name: &'static str,
    arguments: usize,
    fold: fn(&mut Nodes<'_, '_>, &str, Option<IdedExpr>, IdedExpr) -> Fold,
) -> Macro {
    Macro::receiver(name, arguments, move |helper, target, given| {
        let Some(range) = target.take() else { return Ok(None) };
        let mut given = std::mem::take(given).into_iter();
        let first = variable(helper, given.next())?;
        let second = variable(helper, given.next())?;
        let (next, last) = (given.next().unwrap_or_default(), given.next());
        let (filter, step) = match last {
            Some(step) => (Some(next), step),
            None => (None, next),
        };
        let mut nodes = Nodes(helper);
        let Fold { start, condition, step, result } = fold(&mut nodes, &first, filter, step);
        let comprehension = ComprehensionExpr {
            iter_range: range,
            iter_var: first,
            iter_var2: Some(second),
            accu_var: ACCUMULATOR.to_owned(),
            accu_init: start,
            loop_cond: condition,
            loop_step: step,
            result,
        };
        Ok(Some(nodes.node(Expr::Comprehension(Box::new(comprehension)))))
    })
}

fn variable(helper: &MacroExprHelper<'_>, argument: Option<IdedExpr>) -> Result<String, ParseError> {
    match argument {
        Some(IdedExpr { expr: Expr::Ident(name), .. }) => Ok(name),
        other => Err(helper.new_error(other.map_or(0, |other| other.id), "argument must be a simple name")),
    }
}

/// The parts of a comprehension beside its range.
struct Fold {
    start: IdedExpr,
    condition: IdedExpr,
    step: IdedExpr,
    result: IdedExpr,
}

/// Makes nodes at the place of the macro.
struct Nodes<'a, 'b>(&'a mut MacroExprHelper<'b>);

impl Nodes<'_, '_> {
    fn node(&mut self, expression: Expr) -> IdedExpr {
        self.0.next_expr(expression)
    }

    fn truth(&mut self, truth: bool) -> IdedExpr {
        self.node(Expr::Literal(LiteralValue::Boolean(truth.into())))
    }

    fn number(&mut self, number: i64) -> IdedExpr {
        self.node(Expr::Literal(LiteralValue::Int(number.into())))
    }

    fn accumulator(&mut self) -> IdedExpr {
        self.node(Expr::Ident(ACCUMULATOR.to_owned()))
    }

    fn call(&mut self, function: &str, args: Vec<IdedExpr>) -> IdedExpr {
        self.node(Expr::Call(CallExpr { func_name: function.to_owned(), target: None, args }))
    }

    /// The step where the filter holds, and else what is there.
    fn filtered(&mut self, filter: Option<IdedExpr>, step: IdedExpr) -> IdedExpr {
        let Some(filter) = filter else { return step };
        let otherwise = self.accumulator();
        self.call(operators::CONDITIONAL, vec![filter, step, otherwise])
    }
}

fn all(nodes: &mut Nodes<'_, '_>, _: &str, _: Option<IdedExpr>, predicate: IdedExpr) -> Fold {
    let start = nodes.truth(true);
    let so_far = nodes.accumulator();
    let condition = nodes.call(operators::NOT_STRICTLY_FALSE, vec![so_far]);
    let so_far = nodes.accumulator();
    let step = nodes.call(operators::LOGICAL_AND, vec![so_far, predicate]);
    Fold { start, condition, step, result: nodes.accumulator() }
}

fn exists(nodes: &mut Nodes<'_, '_>, _: &str, _: Option<IdedExpr>, predicate: IdedExpr) -> Fold {
    let start = nodes.truth(false);
    let so_far = nodes.accumulator();
    let not = nodes.call(operators::LOGICAL_NOT, vec![so_far]);
    let condition = nodes.call(operators::NOT_STRICTLY_FALSE, vec![not]);
    let so_far = nodes.accumulator();
    let step = nodes.call(operators::LOGICAL_OR, vec![so_far, predicate]);
    Fold { start, condition, step, result: nodes.accumulator() }
}

fn exists_one(nodes: &mut Nodes<'_, '_>, _: &str, _: Option<IdedExpr>, predicate: IdedExpr) -> Fold {
    let start = nodes.number(0);
    let condition = nodes.truth(true);
    let (so_far, one) = (nodes.accumulator(), nodes.number(1));
    let more = nodes.call(operators::ADD, vec![so_far, one]);
    let step = nodes.filtered(Some(predicate), more);
    let (so_far, one) = (nodes.accumulator(), nodes.number(1));
    Fold { start, condition, step, result: nodes.call(operators::EQUALS, vec![so_far, one]) }
}

fn transform_list(nodes: &mut Nodes<'_, '_>, _: &str, filter: Option<IdedExpr>, transform: IdedExpr) -> Fold {
    let start = nodes.node(Expr::List(ListExpr::new(Vec::new())));
    let condition = nodes.truth(true);
    let so_far = nodes.accumulator();
    let item = nodes.node(Expr::List(ListExpr::new(vec![transform])));
    let more = nodes.call(operators::ADD, vec![so_far, item]);
    let step = nodes.filtered(filter, more);
    Fold { start, condition, step, result: nodes.accumulator() }
}

fn transform_map(nodes: &mut Nodes<'_, '_>, first: &str, filter: Option<IdedExpr>, transform: IdedExpr) -> Fold {
    let start = nodes.node(Expr::Map(MapExpr { entries: Vec::new() }));
    let condition = nodes.truth(true);
    let so_far = nodes.accumulator();
    let key = nodes.node(Expr::Ident(first.to_owned()));
    let more = nodes.call(super::MAP_INSERT, vec![so_far, key, transform]);
    let step = nodes.filtered(filter, more);
    Fold { start, condition, step, result: nodes.accumulator() }
}

fn transform_entries(nodes: &mut Nodes<'_, '_>, _: &str, filter: Option<IdedExpr>, entries: IdedExpr) -> Fold {
    let start = nodes.node(Expr::Map(MapExpr { entries: Vec::new() }));
    let condition = nodes.truth(true);
    let so_far = nodes.accumulator();
    let more = nodes.call(super::MAP_INSERT, vec![so_far, entries]);
    let step = nodes.filtered(filter, more);
    Fold { start, condition, step, result: nodes.accumulator() }
}
