use cel::common::ast::{CallExpr, IdedExpr};

use super::expression::Coster;
use super::library::{self, CallCost};
use super::node::{Call, Node};
use super::range::Estimate;
use super::{REGEX_FACTOR, STRING_FACTOR};

impl<'a> Coster<'a> {
    pub(super) fn call(&mut self, expr: &'a IdedExpr, call: &'a CallExpr) -> Estimate {
        if call.func_name == "dyn"
            && let Some(arg) = call.args.first()
        {
            let cost = self.cost(arg);
            self.copy_sizes(expr, arg);
            return cost.plus(Estimate::fixed(1));
        }
        let costs: Vec<_> = call
            .args
            .iter()
            .map(|arg| {
                let cost = self.cost(arg);
                (cost, self.node(arg))
            })
            .collect();
        let (costs, args): (Vec<_>, Vec<_>) = costs.into_iter().unzip();
        let checked = self.checked;
        let Some(overloads) = checked.overloads.get(&expr.id) else { return Estimate::default() };
        let mut sum = Estimate::default();
        let mut target = None;
        // What stands before a qualified name's last part is no value.
        let qualified = checked.qualified.get(&expr.id);
        if let Some(found) = call.target.as_deref().filter(|_| qualified.is_none()) {
            sum = sum.plus(self.cost(found));
            target = Some(self.node(found));
        }
        let function = qualified.unwrap_or(&call.func_name);
        let mut asked = Call { function, overload: "", target, args };
        let mut cost: Option<Estimate> = None;
        let mut size: Option<Estimate> = None;
        for overload in overloads {
            asked.overload = overload;
            let found = self.overload(expr, &asked, &costs);
            cost = Some(cost.map_or(found.cost, |cost| cost.union(found.cost)));
            if let Some(found) = found.size {
                size = Some(size.map_or(found, |size| size.union(found)));
            }
            if let (part @ ("@items" | "@values"), Some(indexed)) = (indexed_part(asked.overload), call.args.first()) {
                size = self.entry_size(indexed).map(|entries| entries.value);
                let mut path = self.path(indexed);
                path.push(part.to_owned());
                self.set_path(expr, path);
            }
            if size.is_none() {
                size = self.size(expr);
            }
        }
        self.set_size(expr, size);
        sum.plus(cost.unwrap_or_default())
    }

    /// The cost of a call, its arguments included, if it goes to one overload.
    fn overload(&mut self, expr: &IdedExpr, call: &Call<'a>, costs: &[Estimate]) -> CallCost {
        let args = costs.iter().fold(Estimate::default(), |sum, cost| sum.plus(*cost));
        if let Some(found) = library::extension(call).or_else(|| library::kubernetes(call)) {
            return CallCost { cost: found.cost.plus(args), size: found.size };
        }
        match (call.overload, costs) {
            ("logical_or" | "logical_and", [left, right]) => {
                return CallCost::new(Estimate::between(left.min, left.plus(*right).max));
            }
            ("conditional", [condition, yes, no]) => {
                let cost = condition.plus(yes.union(*no));
                return self.conditional(expr, call, cost);
            }
            ("add_string" | "add_bytes" | "add_list", _) => {
                if let Some(found) = self.concatenation(expr, call) {
                    return CallCost { cost: found.cost.plus(args), size: found.size };
                }
            }
            _ => {}
        }
        let found = standard(call).unwrap_or_else(|| CallCost::new(Estimate::fixed(1)));
        CallCost { cost: found.cost.plus(args), size: found.size }
    }

    fn conditional(&mut self, expr: &IdedExpr, call: &Call<'a>, cost: Estimate) -> CallCost {
        let [_, yes, no] = call.args.as_slice() else { return CallCost::new(cost) };
        if let (Some(yes), Some(no)) = (self.entries_of(yes), self.entries_of(no)) {
            self.set_entry_size(expr, Some(yes.union(no)));
        }
        CallCost::sized(cost, known(yes).union(known(no)))
    }

    fn concatenation(&mut self, expr: &IdedExpr, call: &Call<'a>) -> Option<CallCost> {
        let [left, right] = call.args.as_slice() else { return None };
        let size = known(left).plus(known(right));
        if let (Some(left), Some(right)) = (self.entries_of(left), self.entries_of(right)) {
            self.set_entry_size(expr, Some(left.union(right)));
        }
        let cost = if call.overload == "add_list" { Estimate::fixed(1) } else { size.scaled(STRING_FACTOR) };
        Some(CallCost::sized(cost, size))
    }

    fn entries_of(&self, node: &Node<'a>) -> Option<super::local::EntrySize> {
        self.entry_size(node.expr?)
    }
}

fn indexed_part(overload: &str) -> &'static str {
    match overload {
        "index_list" => "@items",
        "index_map" => "@values",
        _ => "",
    }
}

/// The size that the expression itself says, without asking the schema again.
fn known(node: &Node<'_>) -> Estimate {
    node.computed.unwrap_or(Estimate::UNKNOWN)
}

/// The cost of an operator or function of CEL itself that isn't constant.
fn standard(call: &Call<'_>) -> Option<CallCost> {
    let args = call.args.as_slice();
    let plain = |cost| Some(CallCost::new(cost));
    match (call.overload, call.target.as_ref(), args) {
        ("string_format", Some(target), _) => plain(known(target).scaled(STRING_FACTOR)),
        ("string_to_bytes", _, [text]) => {
            let size = known(text);
            let most = Estimate::between(size.min, size.max.wrapping_mul(4));
            Some(CallCost::sized(size.scaled(STRING_FACTOR), most))
        }
        ("bytes_to_string", _, [bytes]) => {
            let size = known(bytes);
            Some(CallCost::sized(size.scaled(STRING_FACTOR), Estimate::between(size.min / 4, size.max)))
        }
        ("strings_quote", _, [text]) => {
            let size = known(text);
            let quoted = Estimate::between(size.min.wrapping_add(2), size.max.wrapping_mul(2).wrapping_add(2));
            Some(CallCost::sized(size.scaled(STRING_FACTOR), quoted))
        }
        ("starts_with_string" | "ends_with_string", _, [affix]) => plain(known(affix).scaled(STRING_FACTOR)),
        ("in_list", _, [_, list]) => plain(known(list)),
        ("matches_string", Some(text), [regex]) | ("matches", None, [text, regex]) => {
            let text = known(text).plus(Estimate::fixed(1)).scaled(STRING_FACTOR);
            plain(text.times(known(regex).scaled(REGEX_FACTOR)))
        }
        ("contains_string", Some(text), [part]) => {
            plain(known(text).scaled(STRING_FACTOR).times(known(part).scaled(STRING_FACTOR)))
        }
        (
            "less_string"
            | "greater_string"
            | "less_equals_string"
            | "greater_equals_string"
            | "less_bytes"
            | "greater_bytes"
            | "less_equals_bytes"
            | "greater_equals_bytes"
            | "equals"
            | "not_equals",
            _,
            [left, right],
        ) => {
            let most = known(left).max.min(known(right).max);
            plain(Estimate::between(u64::from(most > 0), most).scaled(STRING_FACTOR))
        }
        _ => None,
    }
}
