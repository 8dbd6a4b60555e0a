use cel::IdedExpr;
use cel::common::ast::{CallExpr, Expr, LiteralValue, operators};

use super::checker::{Checker, qualified_name, undeclared};
use crate::cel::cel_type::CelType;
use crate::cel::declarations::{Overload, functions};

impl Checker<'_> {
    /// The type of what a call gives.
    pub(super) fn call(&mut self, id: u64, call: &CallExpr) -> CelType {
        if call.func_name == operators::OPT_SELECT {
            return self.optional_select(id, call);
        }
        if let Some(target) = &call.target
            && let Some(name) = qualified_name(target).map(|prefix| format!("{prefix}.{}", call.func_name))
            && let Some(overloads) = functions().get(name.as_str())
        {
            self.qualified.insert(id, name.clone());
            let given: Vec<CelType> = call.args.iter().map(|argument| self.check(argument)).collect();
            return self.resolve_overload(id, &name, overloads, &given, false);
        }
        let Some(overloads) = functions().get(call.func_name.as_str()) else {
            let parts = call.target.as_deref().into_iter().chain(&call.args);
            for part in parts {
                self.check(part);
            }
            self.issue(id, undeclared(&call.func_name));
            return CelType::Error;
        };
        let parts: Vec<&IdedExpr> = call.target.as_deref().into_iter().chain(&call.args).collect();
        let given: Vec<CelType> = parts.into_iter().map(|part| self.check(part)).collect();
        self.resolve_overload(id, &call.func_name, overloads, &given, call.target.is_some())
    }

    /// `a.?b`: the field, or nothing.
    fn optional_select(&mut self, id: u64, call: &CallExpr) -> CelType {
        let [operand, field] = call.args.as_slice() else { return CelType::Error };
        let found = self.check(operand);
        self.check(field);
        let Expr::Literal(LiteralValue::String(name)) = &field.expr else { return CelType::Error };
        self.overloads.insert(id, vec!["select_optional_field"]);
        match self.field(id, &found, name.inner()) {
            CelType::Optional(of) => CelType::Optional(of),
            CelType::Error => CelType::Error,
            of => CelType::optional(of),
        }
    }

    /// Finds the forms of a function that fit, and what they give.
    fn resolve_overload(
        &mut self,
        id: u64,
        function: &str,
        overloads: &'static [Overload],
        given: &[CelType],
        has_target: bool,
    ) -> CelType {
        let mut result: Option<CelType> = None;
        let mut fitting = Vec::new();
        for overload in overloads.iter().filter(|overload| overload.is_member == has_target) {
            let (arguments, overload_result) = self.instantiated(overload);
            if !self.mapping.assign_all(&arguments, given) {
                continue;
            }
            fitting.push(overload.id);
            let found = self.resolve(&overload_result);
            result = Some(match result {
                None => found,
                Some(before) if before.is_dyn() || before == found => before,
                Some(_) => CelType::Dyn,
            });
        }
        let Some(result) = result else {
            if !given.contains(&CelType::Error) {
                let given: Vec<CelType> = given.iter().map(|of| self.mapping.resolve(of, true)).collect();
                let shown = shown_arguments(&given, has_target);
                self.issue(id, format!("found no matching overload for '{function}' applied to '{shown}'"));
            }
            return CelType::Error;
        };
        self.overloads.insert(id, fitting);
        result
    }

    /// A signature whose open types are no other call's.
    fn instantiated(&mut self, overload: &Overload) -> (Vec<CelType>, CelType) {
        let mut names = std::collections::BTreeSet::new();
        let parts = overload.arguments.iter().chain([&overload.result]);
        parts.for_each(|of| open_names(of, &mut names));
        let mut own = super::assign::Mapping::default();
        for name in names {
            let fresh = self.fresh();
            own.set(&name, fresh);
        }
        let arguments = overload.arguments.iter().map(|of| own.resolve(of, false)).collect();
        (arguments, own.resolve(&overload.result, false))
    }
}

fn open_names(of: &CelType, names: &mut std::collections::BTreeSet<String>) {
    if let CelType::Parameter(name) = of {
        names.insert(name.to_string());
    }
    of.parameters().into_iter().for_each(|of| open_names(of, names));
}

fn shown_arguments(given: &[CelType], has_target: bool) -> String {
    let join = |given: &[CelType]| given.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match given.split_first() {
        Some((target, rest)) if has_target => format!("{target}.({})", join(rest)),
        _ => format!("({})", join(given)),
    }
}
