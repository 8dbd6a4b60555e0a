//! What the types allow and never works: literals that are no durations, times or patterns, and lists and maps of mixed
//! types.

use std::collections::HashMap;

use cel::IdedExpr;
use cel::common::ast::{CallExpr, EntryExpr, Expr, ListExpr, LiteralValue, MapExpr};

use super::checker::mismatch;
use crate::cel::cel_type::CelType;
use crate::cel::library;

/// The issues of an expression whose types fit, by the ids of its parts.
pub(super) fn issues(expression: &IdedExpr, types: &HashMap<u64, CelType>) -> Vec<(u64, String)> {
    let mut walk = Walk { types, formats: 0, issues: Vec::new() };
    walk.check(expression);
    walk.issues
}

struct Walk<'a> {
    types: &'a HashMap<u64, CelType>,
    /// How many calls of `format` are around: their lists may be mixed.
    formats: usize,
    issues: Vec<(u64, String)>,
}

impl Walk<'_> {
    fn check(&mut self, expression: &IdedExpr) {
        match &expression.expr {
            Expr::Call(call) => {
                self.check_argument(call);
                let is_format = usize::from(call.func_name == "format");
                self.formats += is_format;
                call.target.iter().for_each(|target| self.check(target));
                call.args.iter().for_each(|argument| self.check(argument));
                self.formats -= is_format;
            }
            Expr::Select(select) => self.check(&select.operand),
            Expr::List(list) => {
                self.check_list(list);
                list.elements.iter().for_each(|element| self.check(element));
            }
            Expr::Map(map) => self.check_map(map),
            Expr::Comprehension(fold) => {
                for part in [&fold.iter_range, &fold.accu_init, &fold.loop_cond, &fold.loop_step, &fold.result] {
                    self.check(part);
                }
            }
            Expr::Struct(_) | Expr::Literal(_) | Expr::Ident(_) | Expr::Unspecified => {}
        }
    }

    fn check_list(&mut self, list: &ListExpr) {
        let elements = list.elements.iter().enumerate();
        let elements: Vec<_> =
            elements.map(|(index, element)| (element.id, list.optional_indices.contains(&index))).collect();
        self.check_alike(&elements);
    }

    fn check_map(&mut self, map: &MapExpr) {
        let entries = map.entries.iter().filter_map(|entry| match &entry.expr {
            EntryExpr::MapEntry(entry) => Some(entry),
            EntryExpr::StructField(_) => None,
        });
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        for entry in entries {
            keys.push((entry.key.id, false));
            values.push((entry.value.id, entry.optional));
            self.check(&entry.key);
            self.check(&entry.value);
        }
        self.check_alike(&keys);
        self.check_alike(&values);
    }

    /// Notes the first element whose type isn't that of the first one.
    fn check_alike(&mut self, elements: &[(u64, bool)]) {
        if self.formats > 0 {
            return;
        }
        let mut first = None;
        for (id, is_optional) in elements {
            let of = match self.types.get(id) {
                Some(CelType::Optional(of)) if *is_optional => (**of).clone(),
                Some(of) => of.clone(),
                None => continue,
            };
            match &first {
                None => first = Some(of),
                Some(first) if *first == of => {}
                Some(first) => {
                    self.issues.push((*id, mismatch(first, &of)));
                    return;
                }
            }
        }
    }

    fn check_argument(&mut self, call: &CallExpr) {
        let (argument, is_right): (_, fn(&str) -> bool) = match (call.func_name.as_str(), call.target.is_some()) {
            ("duration", false) => (call.args.first(), |text| library::duration(text).is_some()),
            ("timestamp", false) => (call.args.first(), |text| library::timestamp(text).is_some()),
            ("matches", true) => (call.args.first(), |text| library::pattern(text).is_ok()),
            ("matches", false) => (call.args.get(1), |text| library::pattern(text).is_ok()),
            _ => return,
        };
        if let Some(IdedExpr { id, expr: Expr::Literal(LiteralValue::String(text)) }) = argument
            && !is_right(text.inner())
        {
            self.issues.push((*id, format!("invalid {} argument", call.func_name)));
        }
    }
}
