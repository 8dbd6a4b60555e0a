use std::collections::BTreeMap;
use std::rc::Rc;

use cel::IdedExpr;
use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, ListExpr, LiteralValue, MapExpr, SelectExpr, operators,
};

use super::EvaluationError;
use super::constant::{is_constant, is_set};
use super::cost;
use super::operator;
use crate::cel::MAP_INSERT;
use crate::cel::check::{Checked, qualified_name, type_named};
use crate::cel::library;
use crate::cel::macros::ACCUMULATOR;
use crate::cel::value::{CelEntries, CelList, CelMap, CelValue};

/// What functions make in one evaluation has no more bytes together.
const MAX_ALLOCATED: usize = 256 << 20;

type Outcome<'a> = Result<CelValue<'a>, EvaluationError>;

/// Walks an expression.
pub(super) struct Evaluation<'a, 'e> {
    checked: &'e Checked,
    variables: &'e BTreeMap<&'e str, CelValue<'a>>,
    /// The variables of comprehensions around, innermost last. What a fold has so far may be an error that a later step
    /// makes up for.
    scopes: Vec<(&'e str, Outcome<'a>)>,
    cost: u64,
    limit: u64,
    /// Whether what is evaluated is constant.
    is_free: bool,
    /// The bytes of all lists and texts that functions made.
    allocated: usize,
}

impl<'a, 'e> Evaluation<'a, 'e> {
    pub(super) fn new(checked: &'e Checked, variables: &'e BTreeMap<&'e str, CelValue<'a>>, limit: u64) -> Self {
        Self { checked, variables, scopes: Vec::new(), cost: 0, limit, is_free: false, allocated: 0 }
    }

    pub(super) fn cost(&self) -> u64 {
        self.cost
    }

    fn spend(&mut self, cost: u64) -> Result<(), EvaluationError> {
        if self.is_free {
            return Ok(());
        }
        self.cost = self.cost.saturating_add(cost);
        if self.cost > self.limit { Err(EvaluationError::TooExpensive) } else { Ok(()) }
    }

    /// Notes what a function made. Costs say nothing of that, and what a rule of a stranger's makes must not be without
    /// bound.
    fn allocate(&mut self, made: &CelValue<'_>) -> Result<(), EvaluationError> {
        let bytes = match made {
            CelValue::String(text) => text.len(),
            CelValue::List(list @ (CelList::Values(_) | CelList::Joined(..))) => {
                list.len().saturating_mul(size_of::<CelValue<'_>>())
            }
            _ => return Ok(()),
        };
        self.allocated = self.allocated.saturating_add(bytes);
        if self.allocated > MAX_ALLOCATED { Err(EvaluationError::TooExpensive) } else { Ok(()) }
    }

    pub(super) fn value(&mut self, expression: &'e IdedExpr) -> Outcome<'a> {
        let folds = !self.is_free
            && matches!(expression.expr, Expr::List(_) | Expr::Map(_) | Expr::Call(_))
            && is_constant(expression);
        self.is_free |= folds;
        let value = self.value_at_a_cost(expression);
        self.is_free &= !folds;
        value
    }

    fn value_at_a_cost(&mut self, expression: &'e IdedExpr) -> Outcome<'a> {
        match &expression.expr {
            Expr::Literal(literal) => Ok(literal_value(literal)),
            Expr::Ident(name) => {
                self.spend(1)?;
                self.look_up(name)
            }
            Expr::Select(select) => self.select(select),
            Expr::Call(call) => self.call(expression.id, call),
            Expr::List(list) => self.list(list),
            Expr::Map(map) => self.map(map),
            Expr::Comprehension(fold) => self.fold(fold),
            Expr::Struct(object) => Err(failed(format!("unknown type: {}", object.type_name))),
            Expr::Unspecified => Err(failed("nothing to evaluate")),
        }
    }

    fn look_up(&mut self, name: &str) -> Outcome<'a> {
        if let Some((_, value)) = self.scopes.iter().rev().find(|(scoped, _)| *scoped == name) {
            return value.clone();
        }
        if let Some(value) = self.variables.get(name) {
            return Ok(value.clone());
        }
        type_named(name).map(CelValue::Type).ok_or_else(|| failed(format!("no such attribute(s): {name}")))
    }

    fn select(&mut self, select: &'e SelectExpr) -> Outcome<'a> {
        if !select.test
            && let Some(operand) = qualified_name(&select.operand)
        {
            let name = format!("{operand}.{}", select.field);
            if self.variables.contains_key(name.as_str()) || type_named(&name).is_some() {
                self.spend(1)?;
                return self.look_up(&name);
            }
        }
        let operand = self.value(&select.operand)?;
        if select.test {
            return Ok(CelValue::Bool(match &operand {
                CelValue::Map(map) => map.field(&select.field).is_some(),
                CelValue::Optional(Some(inner)) => {
                    matches!(&**inner, CelValue::Map(map) if map.field(&select.field).is_some())
                }
                _ => false,
            }));
        }
        self.spend(1)?;
        field(&operand, &select.field)
    }

    fn list(&mut self, list: &'e ListExpr) -> Outcome<'a> {
        let mut values = Vec::new();
        for (index, element) in list.elements.iter().enumerate() {
            let value = self.value(element)?;
            match value {
                CelValue::Optional(inner) if list.optional_indices.contains(&index) => {
                    values.extend(inner.map(|inner| (*inner).clone()));
                }
                value => values.push(value),
            }
        }
        self.spend(cost::LIST)?;
        Ok(CelValue::list(values))
    }

    fn map(&mut self, map: &'e MapExpr) -> Outcome<'a> {
        let mut entries = CelEntries::default();
        for entry in &map.entries {
            let EntryExpr::MapEntry(entry) = &entry.expr else { continue };
            let key = self.value(&entry.key)?;
            let value = match self.value(&entry.value)? {
                CelValue::Optional(Some(inner)) if entry.optional => (*inner).clone(),
                CelValue::Optional(None) if entry.optional => continue,
                value => value,
            };
            if !entries.insert(key, value) {
                return Err(failed("Failed with repeated key"));
            }
        }
        self.spend(cost::MAP)?;
        Ok(CelValue::Map(CelMap::Values(Rc::new(entries))))
    }

    fn fold(&mut self, fold: &'e ComprehensionExpr) -> Outcome<'a> {
        let range = self.value(&fold.iter_range)?;
        let start = self.value(&fold.accu_init);
        let scope = self.scopes.len();
        self.scopes.push((&fold.accu_var, start));
        let result = self.fold_over(&range, fold, scope);
        self.scopes.truncate(scope + 1);
        let result = result.and_then(|()| self.value(&fold.result));
        self.scopes.truncate(scope);
        result
    }

    fn fold_over(
        &mut self,
        range: &CelValue<'a>,
        fold: &'e ComprehensionExpr,
        scope: usize,
    ) -> Result<(), EvaluationError> {
        let pairs: Box<dyn Iterator<Item = (CelValue<'a>, CelValue<'a>)> + '_> = match range {
            CelValue::List(list) => {
                let indices = (0..).map(CelValue::Int);
                Box::new(indices.zip(list.iter()))
            }
            CelValue::Map(map) => Box::new(map.keys().into_iter().filter_map(|key| {
                let value = map.get(&key)?;
                Some((key, value))
            })),
            _ => return Err(failed("no such overload")),
        };
        let is_list = matches!(range, CelValue::List(_));
        for (first, second) in pairs {
            self.scopes.truncate(scope + 1);
            match &fold.iter_var2 {
                Some(name) => {
                    self.scopes.push((&fold.iter_var, Ok(first)));
                    self.scopes.push((name, Ok(second)));
                }
                None => self.scopes.push((&fold.iter_var, Ok(if is_list { second } else { first }))),
            }
            match self.value(&fold.loop_cond) {
                Ok(CelValue::Bool(false)) => break,
                Err(EvaluationError::TooExpensive) => return Err(EvaluationError::TooExpensive),
                _ => {}
            }
            let step = self.value(&fold.loop_step);
            if let Err(EvaluationError::TooExpensive) = step {
                return Err(EvaluationError::TooExpensive);
            }
            if let Some((_, so_far)) = self.scopes.get_mut(scope) {
                *so_far = step;
            }
        }
        Ok(())
    }

    fn call(&mut self, id: u64, call: &'e CallExpr) -> Outcome<'a> {
        match (call.func_name.as_str(), call.args.as_slice()) {
            (operators::LOGICAL_AND, [left, right]) => return self.logical(left, right, false),
            (operators::LOGICAL_OR, [left, right]) => return self.logical(left, right, true),
            (operators::CONDITIONAL, [condition, then, otherwise]) => {
                return match self.value(condition)? {
                    CelValue::Bool(true) => self.value(then),
                    CelValue::Bool(false) => self.value(otherwise),
                    _ => Err(failed("no such overload")),
                };
            }
            (operators::NOT_STRICTLY_FALSE, [operand]) => {
                let value = self.value(operand);
                self.spend(1)?;
                return match value {
                    Err(EvaluationError::TooExpensive) => Err(EvaluationError::TooExpensive),
                    Ok(CelValue::Bool(truth)) => Ok(CelValue::Bool(truth)),
                    _ => Ok(CelValue::Bool(true)),
                };
            }
            (operators::IN, [value, list]) if is_set(list) => return self.membership(value, list),
            (operators::OPT_SELECT, [operand, name]) => {
                let operand = self.value(operand)?;
                let CelValue::String(name) = self.value(name)? else { return Err(failed("no such overload")) };
                self.spend(1)?;
                return Ok(operator::optional_field(&operand, &name));
            }
            ("or" | "orValue", [alternative]) => {
                if let Some(target) = &call.target {
                    return self.alternative(target, alternative, call.func_name == "orValue");
                }
            }
            _ => {}
        }
        self.ordinary(id, call)
    }

    /// Looks a value up among literals; among none, nothing has to be looked up.
    fn membership(&mut self, value: &'e IdedExpr, list: &'e IdedExpr) -> Outcome<'a> {
        let CelValue::List(list) = self.value(list)? else { return Err(failed("no such overload")) };
        if list.len() == 0 {
            return Ok(CelValue::Bool(false));
        }
        let value = self.value(value)?;
        operator::apply(operators::IN, &[value, CelValue::List(list)])
            .unwrap_or_else(|| Err(failed("no such overload")))
    }

    /// Both sides of `&&` or `||`: one that decides makes up for an error of the other.
    fn logical(&mut self, left: &'e IdedExpr, right: &'e IdedExpr, decides: bool) -> Outcome<'a> {
        let left = self.value(left);
        match left {
            Ok(CelValue::Bool(truth)) if truth == decides => return Ok(CelValue::Bool(decides)),
            Err(EvaluationError::TooExpensive) => return left,
            _ => {}
        }
        let right = self.value(right);
        match (left, right) {
            (_, Err(EvaluationError::TooExpensive)) => Err(EvaluationError::TooExpensive),
            (_, Ok(CelValue::Bool(truth))) if truth == decides => Ok(CelValue::Bool(decides)),
            (Ok(CelValue::Bool(_)), Ok(CelValue::Bool(_))) => Ok(CelValue::Bool(!decides)),
            (Err(error), _) | (_, Err(error)) => Err(error),
            _ => Err(failed("no such overload")),
        }
    }

    /// What an optional has, or else the alternative, which isn't evaluated unless it is needed.
    fn alternative(&mut self, target: &'e IdedExpr, other: &'e IdedExpr, unwraps: bool) -> Outcome<'a> {
        match self.value(target)? {
            CelValue::Optional(Some(value)) if unwraps => Ok((*value).clone()),
            CelValue::Optional(Some(value)) => Ok(CelValue::Optional(Some(value))),
            CelValue::Optional(None) => self.value(other),
            _ => Err(failed("no such overload")),
        }
    }

    /// A step of a macro's fold that adds to what the fold has so far, which nothing else can read.
    fn step(&mut self, call: &'e CallExpr) -> Option<Outcome<'a>> {
        let function = call.func_name.as_str();
        let (Expr::Ident(name), rest) = call.args.split_first().map(|(first, rest)| (&first.expr, rest))? else {
            return None;
        };
        if name != ACCUMULATOR || !matches!(function, operators::ADD | MAP_INSERT) {
            return None;
        }
        let scope = self.scopes.iter().rposition(|(scoped, _)| *scoped == name)?;
        if !matches!(self.scopes.get(scope)?.1, Ok(CelValue::List(_) | CelValue::Map(_))) {
            return None;
        }
        Some(self.step_in_place(function, scope, rest))
    }

    fn step_in_place(&mut self, function: &str, scope: usize, rest: &'e [IdedExpr]) -> Outcome<'a> {
        self.spend(1)?;
        let more = rest.iter().map(|argument| self.value(argument)).collect::<Result<Vec<_>, _>>()?;
        let Some((_, held)) = self.scopes.get_mut(scope) else { return Err(failed("nothing to add to")) };
        let mut arguments = vec![std::mem::replace(held, Ok(CelValue::Null))?];
        arguments.extend(more);
        self.spend(cost::of_call(function, &arguments, None))?;
        let in_place = match arguments.split_first_mut() {
            Some((so_far, [more])) if function == operators::ADD => operator::appended(so_far, more).map(Ok),
            Some((so_far, more)) if function == MAP_INSERT => operator::inserted_in_place(so_far, more),
            _ => None,
        };
        match in_place {
            Some(done) => done.map(|()| arguments.swap_remove(0)),
            None => operator::apply(function, &arguments).unwrap_or_else(|| Err(failed("no such overload"))),
        }
    }

    fn ordinary(&mut self, id: u64, call: &'e CallExpr) -> Outcome<'a> {
        if let Some(outcome) = self.step(call) {
            return outcome;
        }
        let qualified = self.checked.qualified.get(&id);
        let mut arguments = Vec::with_capacity(call.args.len() + 1);
        if let (Some(target), None) = (&call.target, qualified) {
            arguments.push(self.value(target)?);
        }
        for argument in &call.args {
            arguments.push(self.value(argument)?);
        }
        let function = qualified.unwrap_or(&call.func_name).as_str();
        let result = match operator::apply(function, &arguments) {
            Some(result) => result,
            None => library::call(function, &arguments).unwrap_or_else(|| Err(failed("no such overload"))),
        };
        self.spend(cost::of_call(function, &arguments, result.as_ref().ok()))?;
        if let Ok(made) = &result
            && function != operators::INDEX
        {
            self.allocate(made)?;
        }
        result
    }
}

/// A field of an object; what is selected from an optional is optional.
fn field<'a>(operand: &CelValue<'a>, name: &str) -> Outcome<'a> {
    match operand {
        CelValue::Map(map) => map.field(name).ok_or_else(|| failed(format!("no such key: {name}"))),
        CelValue::Optional(_) => Ok(operator::optional_field(operand, name)),
        CelValue::List(_) => Err(failed("unsupported index type 'string' in list")),
        _ => Err(failed(format!("no such key: {name}"))),
    }
}

fn literal_value<'a>(literal: &LiteralValue) -> CelValue<'a> {
    match literal {
        LiteralValue::Boolean(truth) => CelValue::Bool(*truth.inner()),
        LiteralValue::Bytes(bytes) => CelValue::Bytes(bytes.inner().into()),
        LiteralValue::Double(number) => CelValue::Double(*number.inner()),
        LiteralValue::Int(number) => CelValue::Int(*number.inner()),
        LiteralValue::Null => CelValue::Null,
        LiteralValue::String(text) => CelValue::text(text.inner().to_owned()),
        LiteralValue::UInt(number) => CelValue::Uint(*number.inner()),
    }
}

fn failed(message: impl Into<String>) -> EvaluationError {
    EvaluationError::Failed(message.into())
}
