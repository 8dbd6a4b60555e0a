use std::collections::BTreeMap;

use cel::common::ast::{ComprehensionExpr, EntryExpr, Expr, IdedExpr, ListExpr, LiteralValue, MapExpr, SelectExpr};

use super::local::{Container, EntrySize, Local, Locals};
use super::node::{Node, size_at};
use super::range::Estimate;
use super::{LIST_COST, MAP_COST, STRUCT_COST};
use crate::cel::cel_type::CelType;
use crate::cel::check::Checked;
use crate::cel::schema_type::SchemaType;

const ACCUMULATORS: [&str; 2] = ["__result__", "@result"];

/// Adds up the cost of an expression, and remembers where its parts are in the schema and how large they are.
pub(super) struct Coster<'a> {
    pub(super) checked: &'a Checked,
    sizes: Option<&'a SchemaType>,
    paths: BTreeMap<u64, Vec<String>>,
    locals: Locals,
    computed: BTreeMap<u64, Estimate>,
    entries: BTreeMap<u64, EntrySize>,
}

impl<'a> Coster<'a> {
    pub(super) fn new(checked: &'a Checked, sizes: Option<&'a SchemaType>) -> Self {
        Self {
            checked,
            sizes,
            paths: BTreeMap::new(),
            locals: Locals::default(),
            computed: BTreeMap::new(),
            entries: BTreeMap::new(),
        }
    }

    pub(super) fn cost(&mut self, expr: &'a IdedExpr) -> Estimate {
        match &expr.expr {
            Expr::Ident(name) => self.ident(expr, name),
            Expr::Select(select) => self.select(expr, select),
            Expr::Call(call) => self.call(expr, call),
            Expr::List(list) => self.list(expr, list),
            Expr::Map(map) => self.map(expr, map),
            Expr::Struct(object) => {
                object.entries.iter().fold(Estimate::fixed(STRUCT_COST), |sum, entry| match &entry.expr {
                    EntryExpr::StructField(field) => sum.plus(self.cost(&field.value)),
                    EntryExpr::MapEntry(_) => sum,
                })
            }
            Expr::Comprehension(comprehension) if is_bind(comprehension) => self.bind(expr, comprehension),
            Expr::Comprehension(comprehension) => self.comprehension(expr, comprehension),
            Expr::Literal(_) | Expr::Unspecified => Estimate::default(),
        }
    }

    fn ident(&mut self, expr: &IdedExpr, name: &str) -> Estimate {
        let path = self.locals.get(name).map_or_else(|| vec![name.to_owned()], |local| local.path.clone());
        self.paths.insert(expr.id, path);
        Estimate::fixed(1)
    }

    fn select(&mut self, expr: &IdedExpr, select: &'a SelectExpr) -> Estimate {
        let mut sum = self.cost(&select.operand);
        // Kubernetes doesn't charge has().
        if select.test {
            return sum;
        }
        if matches!(self.cel_type(&select.operand), CelType::Map(..) | CelType::Object(..) | CelType::Parameter(..)) {
            sum = sum.plus(Estimate::fixed(1));
        }
        let mut path = self.path(&select.operand);
        path.push(select.field.clone());
        self.paths.insert(expr.id, path);
        sum
    }

    fn list(&mut self, expr: &IdedExpr, list: &'a ListExpr) -> Estimate {
        let mut sum = Estimate::fixed(LIST_COST);
        let mut size = Bounds::default();
        for element in &list.elements {
            sum = sum.plus(self.cost(element));
            size.add(self.size_or_unknown(element));
        }
        let entries = EntrySize { container: Container::List, key: Estimate::fixed(1), value: size.estimate() };
        self.entries.insert(expr.id, entries);
        sum
    }

    fn map(&mut self, expr: &IdedExpr, map: &'a MapExpr) -> Estimate {
        let mut sum = Estimate::fixed(MAP_COST);
        let (mut keys, mut values) = (Bounds::default(), Bounds::default());
        for entry in &map.entries {
            let EntryExpr::MapEntry(entry) = &entry.expr else { continue };
            sum = sum.plus(self.cost(&entry.key)).plus(self.cost(&entry.value));
            keys.add(self.size_or_unknown(&entry.key));
            values.add(self.size_or_unknown(&entry.value));
        }
        let entries = EntrySize { container: Container::Map, key: keys.estimate(), value: values.estimate() };
        self.entries.insert(expr.id, entries);
        sum
    }

    fn comprehension(&mut self, expr: &IdedExpr, comp: &'a ComprehensionExpr) -> Estimate {
        let sum = self.cost(&comp.iter_range).plus(self.cost(&comp.accu_init));
        self.push_value(&comp.accu_var, &comp.accu_init);
        self.push_iterated(comp);
        let each = self.cost(&comp.loop_cond);
        let each = self.cost(&comp.loop_step).plus(each);
        self.locals.pop(&comp.iter_var);
        if let Some(second) = &comp.iter_var2 {
            self.locals.pop(second);
        }
        let sum = sum.plus(self.cost(&comp.result));
        self.locals.pop(&comp.accu_var);
        let count = self.size_or_unknown(&comp.iter_range);
        match &comp.accu_init.expr {
            Expr::Literal(_) => {
                let size = self.size(&comp.accu_init);
                self.set_size(expr, size);
            }
            Expr::List(_) | Expr::Map(_) => {
                self.set_size(expr, Some(count));
                if let Some(entries) = self.entry_size(&comp.loop_step) {
                    self.entries.insert(expr.id, entries);
                }
            }
            _ => {}
        }
        sum.plus(count.times(each))
    }

    fn bind(&mut self, expr: &IdedExpr, comp: &'a ComprehensionExpr) -> Estimate {
        let sum = self.cost(&comp.iter_range).plus(self.cost(&comp.accu_init));
        self.push_value(&comp.accu_var, &comp.accu_init);
        let sum = sum.plus(self.cost(&comp.result));
        self.locals.pop(&comp.accu_var);
        self.copy_sizes(expr, &comp.result);
        sum
    }

    /// Declares a variable that has the value of an expression.
    fn push_value(&mut self, name: &str, value: &IdedExpr) {
        let local = Local { path: self.path(value), size: self.size(value), entries: self.entry_size(value) };
        self.locals.push(name, local);
    }

    /// Declares what a comprehension walks over.
    fn push_iterated(&mut self, comp: &ComprehensionExpr) {
        let entries = self.entry_size(&comp.iter_range);
        let is_list = entries.map_or_else(
            || matches!(self.cel_type(&comp.iter_range), CelType::List(..)),
            |entries| entries.container == Container::List,
        );
        let path = self.path(&comp.iter_range);
        let below = |part: &str| path.iter().cloned().chain([part.to_owned()]).collect::<Vec<_>>();
        let (keys, values) = if is_list { ("@indices", "@items") } else { ("@keys", "@values") };
        let key = Local { path: below(keys), size: entries.map(|entries| entries.key), entries: None };
        let value = Local { path: below(values), size: entries.map(|entries| entries.value), entries: None };
        match &comp.iter_var2 {
            Some(second) => {
                self.locals.push(&comp.iter_var, key);
                self.locals.push(second, value);
            }
            None => self.locals.push(&comp.iter_var, if is_list { value } else { key }),
        }
    }

    pub(super) fn cel_type(&self, expr: &IdedExpr) -> CelType {
        self.checked.types.get(&expr.id).cloned().unwrap_or(CelType::Dyn)
    }

    pub(super) fn path(&self, expr: &IdedExpr) -> Vec<String> {
        if let Expr::Ident(name) = &expr.expr
            && let Some(local) = self.locals.get(name)
        {
            return local.path.clone();
        }
        self.paths.get(&expr.id).cloned().unwrap_or_default()
    }

    pub(super) fn set_path(&mut self, expr: &IdedExpr, path: Vec<String>) {
        self.paths.insert(expr.id, path);
    }

    pub(super) fn node(&mut self, expr: &'a IdedExpr) -> Node<'a> {
        let mut path = self.path(expr);
        if path.first().is_some_and(|first| ACCUMULATORS.contains(&first.as_str())) {
            path.clear();
        }
        let computed = self.size(expr);
        Node { path, cel_type: self.cel_type(expr), expr: Some(expr), computed, sizes: self.sizes }
    }

    pub(super) fn set_size(&mut self, expr: &IdedExpr, size: Option<Estimate>) {
        if let Some(size) = size {
            self.computed.insert(expr.id, size);
        }
    }

    pub(super) fn size_or_unknown(&mut self, expr: &IdedExpr) -> Estimate {
        self.size(expr).unwrap_or(Estimate::UNKNOWN)
    }

    pub(super) fn copy_sizes(&mut self, to: &IdedExpr, from: &IdedExpr) {
        let size = self.size(from);
        self.set_size(to, size);
        if let Some(entries) = self.entry_size(from) {
            self.entries.insert(to.id, entries);
        }
    }

    pub(super) fn size(&mut self, expr: &IdedExpr) -> Option<Estimate> {
        if let Some(size) = self.computed.get(&expr.id) {
            return Some(*size);
        }
        if let Some(size) = size_of_literal(&expr.expr) {
            return Some(Estimate::fixed(size));
        }
        if let Some(size) = size_at(self.sizes, &self.path(expr)) {
            self.computed.insert(expr.id, size);
            return Some(size);
        }
        if is_scalar(&self.cel_type(expr)) {
            return Some(Estimate::fixed(1));
        }
        match &expr.expr {
            Expr::Ident(name) => self.locals.get(name).and_then(|local| local.size),
            _ => None,
        }
    }

    pub(super) fn entry_size(&self, expr: &IdedExpr) -> Option<EntrySize> {
        if let Some(entries) = self.entries.get(&expr.id) {
            return Some(*entries);
        }
        match &expr.expr {
            Expr::Ident(name) => self.locals.get(name).and_then(|local| local.entries),
            _ => None,
        }
    }

    pub(super) fn set_entry_size(&mut self, expr: &IdedExpr, entries: Option<EntrySize>) {
        if let Some(entries) = entries {
            self.entries.insert(expr.id, entries);
        }
    }
}

/// The sizes of several values as one; of no value it is zero.
#[derive(Default)]
struct Bounds(Option<Estimate>);

impl Bounds {
    fn add(&mut self, size: Estimate) {
        self.0 = Some(self.0.map_or(size, |bounds| bounds.union(size)));
    }

    fn estimate(&self) -> Estimate {
        self.0.unwrap_or_default()
    }
}

/// Whether a comprehension only names a value, as cel.bind() does.
fn is_bind(comp: &ComprehensionExpr) -> bool {
    let is_empty = matches!(&comp.iter_range.expr, Expr::List(list) if list.elements.is_empty());
    let never_runs = matches!(&comp.loop_cond.expr, Expr::Literal(LiteralValue::Boolean(value)) if !*value.inner());
    is_empty && never_runs && comp.accu_var != "__result__"
}

fn size_of_literal(expr: &Expr) -> Option<u64> {
    let size = match expr {
        Expr::Literal(LiteralValue::String(text)) => text.inner().chars().count(),
        Expr::Literal(LiteralValue::Bytes(bytes)) => bytes.inner().len(),
        Expr::Literal(_) => 1,
        Expr::List(list) => list.elements.len(),
        Expr::Map(map) => map.entries.len(),
        _ => return None,
    };
    u64::try_from(size).ok()
}

/// Whether all values of a type have the same size.
fn is_scalar(cel_type: &CelType) -> bool {
    match cel_type {
        CelType::Bool | CelType::Double | CelType::Duration | CelType::Int | CelType::Timestamp | CelType::Uint => true,
        CelType::Optional(inner) => is_scalar(inner),
        _ => false,
    }
}
