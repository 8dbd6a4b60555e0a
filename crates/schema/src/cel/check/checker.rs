use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use cel::IdedExpr;
use cel::common::ast::{ComprehensionExpr, EntryExpr, Expr, ListExpr, LiteralValue, MapExpr, SelectExpr};

use super::Checked;
use super::assign::{Mapping, most_general};
use crate::cel::cel_type::CelType;

/// Walks an expression.
pub(super) struct Checker<'a> {
    variables: &'a BTreeMap<String, CelType>,
    /// The variables of comprehensions around, innermost last.
    scopes: Vec<(String, CelType)>,
    pub(super) mapping: Mapping,
    open: usize,
    types: HashMap<u64, CelType>,
    pub(super) overloads: HashMap<u64, Vec<&'static str>>,
    pub(super) qualified: HashMap<u64, String>,
    read: BTreeSet<String>,
    pub(super) issues: Vec<(u64, String)>,
}

impl<'a> Checker<'a> {
    pub(super) fn new(variables: &'a BTreeMap<String, CelType>) -> Self {
        Self {
            variables,
            scopes: Vec::new(),
            mapping: Mapping::default(),
            open: 0,
            types: HashMap::new(),
            overloads: HashMap::new(),
            qualified: HashMap::new(),
            read: BTreeSet::new(),
            issues: Vec::new(),
        }
    }

    /// What is known of the types of all parts; what is still open is any type.
    pub(super) fn types(&self) -> HashMap<u64, CelType> {
        self.types.iter().map(|(id, of)| (*id, self.mapping.resolve(of, true))).collect()
    }

    pub(super) fn checked(self, expression: IdedExpr, depth: usize, types: HashMap<u64, CelType>) -> Checked {
        Checked {
            depth,
            expression: Arc::new(expression),
            types,
            overloads: self.overloads,
            qualified: self.qualified,
            variables: self.read,
        }
    }

    /// Finds the type of an expression; the error type when it is wrong.
    pub(super) fn check(&mut self, expression: &IdedExpr) -> CelType {
        let of = match &expression.expr {
            Expr::Literal(literal) => literal_type(literal),
            Expr::Ident(name) => self.identifier(expression.id, name),
            Expr::Select(select) => self.select(expression.id, select),
            Expr::Call(call) => self.call(expression.id, call),
            Expr::List(list) => self.list(list),
            Expr::Map(map) => self.map(map),
            Expr::Struct(object) => {
                self.issue(expression.id, undeclared(&object.type_name));
                CelType::Error
            }
            Expr::Comprehension(comprehension) => self.comprehension(comprehension),
            Expr::Unspecified => CelType::Error,
        };
        self.types.insert(expression.id, of.clone());
        of
    }

    pub(super) fn issue(&mut self, id: u64, message: String) {
        self.issues.push((id, message));
    }

    pub(super) fn fresh(&mut self) -> CelType {
        self.open += 1;
        CelType::Parameter(format!("_var{}", self.open).into())
    }

    pub(super) fn resolve(&self, of: &CelType) -> CelType {
        self.mapping.resolve(of, false)
    }

    /// The type of a variable or of the name of a type.
    pub(super) fn look_up(&mut self, name: &str) -> Option<CelType> {
        if let Some((_, of)) = self.scopes.iter().rev().find(|(scoped, _)| scoped == name) {
            return Some(of.clone());
        }
        if let Some(of) = self.variables.get(name) {
            self.read.insert(name.to_owned());
            return Some(of.clone());
        }
        type_named(name).map(|of| CelType::Type(Arc::new(of)))
    }

    fn identifier(&mut self, id: u64, name: &str) -> CelType {
        self.look_up(name).unwrap_or_else(|| {
            self.issue(id, undeclared(name));
            CelType::Error
        })
    }

    fn select(&mut self, id: u64, select: &SelectExpr) -> CelType {
        if !select.test
            && let Some(name) = qualified_name(&select.operand).map(|operand| format!("{operand}.{}", select.field))
            && let Some(of) = self.look_up(&name)
        {
            return of;
        }
        let operand = self.check(&select.operand);
        let field = self.field(id, &operand, &select.field);
        if select.test { CelType::Bool } else { field }
    }

    /// The type of a field; optional when it is selected from an optional.
    pub(super) fn field(&mut self, id: u64, operand: &CelType, field: &str) -> CelType {
        match self.resolve(operand) {
            CelType::Error => CelType::Error,
            CelType::Dyn => CelType::Dyn,
            CelType::Map(_, value) => (*value).clone(),
            CelType::Object(object) => object.fields.get(field).cloned().unwrap_or_else(|| {
                self.issue(id, format!("undefined field '{field}'"));
                CelType::Error
            }),
            CelType::Optional(of) => CelType::optional(self.field(id, &of, field)),
            open @ CelType::Parameter(_) => {
                self.mapping.assign(&CelType::Dyn, &open);
                CelType::Dyn
            }
            CelType::Opaque(name) => {
                self.issue(id, format!("unexpected failed resolution of '{name}'"));
                CelType::Error
            }
            other => {
                self.issue(id, format!("type '{other}' does not support field selection"));
                CelType::Error
            }
        }
    }

    fn list(&mut self, list: &ListExpr) -> CelType {
        let mut of = None;
        for (index, element) in list.elements.iter().enumerate() {
            let found = self.check(element);
            let found = if list.optional_indices.contains(&index) { self.unwrapped(element.id, &found) } else { found };
            of = Some(self.joined(of, found));
        }
        let of = of.unwrap_or_else(|| self.fresh());
        CelType::list(of)
    }

    fn map(&mut self, map: &MapExpr) -> CelType {
        let (mut key, mut value) = (None, None);
        for entry in &map.entries {
            let EntryExpr::MapEntry(entry) = &entry.expr else { continue };
            let found = self.check(&entry.key);
            key = Some(self.joined(key, found));
            let found = self.check(&entry.value);
            let found = if entry.optional { self.unwrapped(entry.value.id, &found) } else { found };
            value = Some(self.joined(value, found));
        }
        let key = key.unwrap_or_else(|| self.fresh());
        let value = value.unwrap_or_else(|| self.fresh());
        CelType::map(key, value)
    }

    /// What an optional element holds.
    fn unwrapped(&mut self, id: u64, found: &CelType) -> CelType {
        match self.resolve(found) {
            CelType::Optional(of) => (*of).clone(),
            dynamic if dynamic.is_dyn() => dynamic,
            other => {
                let wanted = CelType::optional(other.clone());
                self.issue(id, mismatch(&wanted, &other));
                CelType::Error
            }
        }
    }

    /// The type of the elements so far with one more.
    fn joined(&mut self, so_far: Option<CelType>, found: CelType) -> CelType {
        match so_far {
            None => found,
            Some(so_far) if self.mapping.assign(&so_far, &found) => most_general(so_far, found),
            Some(_) => CelType::Dyn,
        }
    }

    fn comprehension(&mut self, fold: &ComprehensionExpr) -> CelType {
        let range = self.check(&fold.iter_range);
        let start = self.check(&fold.accu_init);
        let (first, second) = self.variables_of(fold, &range);
        let scopes = self.scopes.len();
        self.scopes.push((fold.accu_var.clone(), start.clone()));
        self.scopes.push((fold.iter_var.clone(), first));
        if let (Some(name), Some(of)) = (&fold.iter_var2, second) {
            self.scopes.push((name.clone(), of));
        }
        let condition = self.check(&fold.loop_cond);
        self.expect(fold.loop_cond.id, &CelType::Bool, &condition);
        let step = self.check(&fold.loop_step);
        self.expect(fold.loop_step.id, &start, &step);
        self.scopes.truncate(scopes + 1);
        let result = self.check(&fold.result);
        self.scopes.truncate(scopes);
        self.mapping.resolve(&result, false)
    }

    fn variables_of(&mut self, fold: &ComprehensionExpr, range: &CelType) -> (CelType, Option<CelType>) {
        let two = fold.iter_var2.is_some();
        match self.mapping.resolve(range, false) {
            CelType::List(of) if two => (CelType::Int, Some((*of).clone())),
            CelType::List(of) => ((*of).clone(), None),
            CelType::Map(key, value) => ((*key).clone(), two.then(|| (*value).clone())),
            CelType::Dyn | CelType::Error => (CelType::Dyn, two.then_some(CelType::Dyn)),
            open @ CelType::Parameter(_) => {
                self.mapping.assign(&CelType::Dyn, &open);
                (CelType::Dyn, two.then_some(CelType::Dyn))
            }
            other => {
                let message = format!(
                    "expression of type '{other}' cannot be range of a comprehension (must be list, map, or dynamic)"
                );
                self.issue(fold.iter_range.id, message);
                (CelType::Error, two.then_some(CelType::Error))
            }
        }
    }

    fn expect(&mut self, id: u64, wanted: &CelType, found: &CelType) {
        if !self.mapping.assign(wanted, found) {
            let (wanted, found) = (self.mapping.resolve(wanted, true), self.mapping.resolve(found, true));
            self.issue(id, mismatch(&wanted, &found));
        }
    }
}

pub(super) fn mismatch(wanted: &CelType, found: &CelType) -> String {
    format!("expected type '{wanted}' but found '{found}'")
}

pub(super) fn undeclared(name: &str) -> String {
    format!("undeclared reference to '{name}' (in container '')")
}

fn literal_type(literal: &LiteralValue) -> CelType {
    match literal {
        LiteralValue::Boolean(_) => CelType::Bool,
        LiteralValue::Bytes(_) => CelType::Bytes,
        LiteralValue::Double(_) => CelType::Double,
        LiteralValue::Int(_) => CelType::Int,
        LiteralValue::Null => CelType::Null,
        LiteralValue::String(_) => CelType::String,
        LiteralValue::UInt(_) => CelType::Uint,
    }
}

/// The type that a name in an expression stands for.
pub(crate) fn type_named(name: &str) -> Option<CelType> {
    let any = || Arc::new(CelType::Dyn);
    Some(match name {
        "bool" => CelType::Bool,
        "bytes" => CelType::Bytes,
        "double" => CelType::Double,
        "dyn" => CelType::Dyn,
        "int" => CelType::Int,
        "list" => CelType::List(any()),
        "map" => CelType::Map(any(), any()),
        "null_type" => CelType::Null,
        "optional_type" => CelType::Optional(any()),
        "string" => CelType::String,
        "type" => CelType::Type(any()),
        "uint" => CelType::Uint,
        "google.protobuf.Duration" => CelType::Duration,
        "google.protobuf.Timestamp" => CelType::Timestamp,
        "net.IP" => CelType::Opaque("net.IP"),
        "net.CIDR" => CelType::Opaque("net.CIDR"),
        "kubernetes.Quantity" => CelType::Opaque("kubernetes.Quantity"),
        "kubernetes.URL" => CelType::Opaque("kubernetes.URL"),
        "kubernetes.Semver" => CelType::Opaque("kubernetes.Semver"),
        "kubernetes.NamedFormat" => CelType::Opaque("kubernetes.NamedFormat"),
        _ => return None,
    })
}

/// The name that an expression spells, if it is identifiers and dots.
pub(crate) fn qualified_name(expression: &IdedExpr) -> Option<String> {
    match &expression.expr {
        Expr::Ident(name) => Some(name.clone()),
        Expr::Select(select) if !select.test => Some(format!("{}.{}", qualified_name(&select.operand)?, select.field)),
        _ => None,
    }
}
