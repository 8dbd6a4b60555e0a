use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::compile::{Compiled, compile};
use super::correlation::OldItems;
use super::evaluation::{Evaluation, Variables, evaluation};
use super::message::Message;
use super::ratchet::Ratchet;
use crate::cel::check::Checked;
use crate::cel::escape::escape;
use crate::cel::schema_type::{SchemaType, with_object_meta};
use crate::field_error::{FieldError, FieldErrorKind};
use crate::field_path::FieldPath;
use crate::link::Link;
use crate::schema::{Schema, ValueType};

/// What the rules of all of one object may cost together.
const BUDGET: u64 = 10_000_000;
const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// The rules in CEL of a schema (`x-kubernetes-validations`), ready to be evaluated.
///
/// ```
/// use controller_runtime_schema::{FieldPath, RuleValidator, Schema};
/// use serde_json::json;
///
/// let schema = Schema::from_json(&json!({"type": "object", "properties": {
///     "size": {"type": "integer", "x-kubernetes-validations": [{"rule": "self >= oldSelf", "message": "must not shrink"}]},
/// }}))?;
/// let rules = RuleValidator::new(&schema, true).unwrap();
/// let found = rules.validate(&json!({"size": 1}), Some(&json!({"size": 2})), &FieldPath::root());
/// assert_eq!(found.errors[0].to_string(), "size: Invalid value: 1: must not shrink");
/// # Ok::<(), controller_runtime_schema::SchemaError>(())
/// ```
#[derive(Debug)]
pub struct RuleValidator {
    root: Node,
}

/// What the rules say of a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleFindings {
    /// What is wrong, in the order of the fields.
    pub errors: Vec<FieldError>,
    /// What is wrong with values that were so before, which isn't held against a change (KEP-4008).
    pub warnings: Vec<FieldError>,
}

/// The rules of one schema and of those below it.
#[derive(Debug)]
struct Node {
    /// What values have; whole objects with their metadata.
    schema: Link,
    rules: Vec<Compiled>,
    /// Whether expressions can reach values of the schema.
    is_reachable: bool,
    properties: BTreeMap<String, Node>,
    values: Option<Box<Node>>,
    items: Option<Box<Node>>,
    all_of: Vec<Node>,
}

impl RuleValidator {
    /// Compiles the rules of a schema; `None` when it has none. `is_resource` says that its values are whole objects.
    ///
    /// Rules that don't compile are no error here: every value breaks them.
    pub fn new(schema: &Schema, is_resource: bool) -> Option<Self> {
        if !has_rules(schema) {
            return None;
        }
        let schema_type = SchemaType::new(schema, is_resource).map(Arc::new);
        let link = Link::inline(schema.clone());
        Some(Self { root: Node::new(schema, &link, is_resource, schema_type.as_ref())? })
    }

    /// What the rules say of `value`, which is at `path` and was `old`; transition rules are only asked where there is an
    /// old value.
    ///
    /// Cost is bounded as in kube-apiserver, for each rule and for all: when it is used up, that is the last error.
    pub fn validate(&self, value: &Value, old: Option<&Value>, path: &FieldPath) -> RuleFindings {
        self.run(value, old, path, false)
    }

    /// What the rules say of `value`, which is at `path` and replaces `old`. What is wrong with values that are as they
    /// were becomes a warning.
    pub fn validate_update(&self, value: &Value, old: &Value, path: &FieldPath) -> RuleFindings {
        self.run(value, Some(old), path, true)
    }

    fn run(&self, value: &Value, old: Option<&Value>, path: &FieldPath, is_ratcheting: bool) -> RuleFindings {
        let ratchet = match old {
            Some(old) if is_ratcheting => Ratchet::root(value, old, self.root.schema.get()),
            _ => Ratchet::default(),
        };
        let mut run = Run { budget: BUDGET, findings: RuleFindings::default() };
        let _ = run.value(&self.root, path, value, old, ratchet);
        run.findings
    }
}

/// Whether there are rules in a schema or below; those in combinations don't count alone.
fn has_rules(schema: &Schema) -> bool {
    !schema.rules.is_empty()
        || schema.item().is_some_and(has_rules)
        || schema.values().is_some_and(|link| has_rules(link.get()))
        || schema.properties.values().any(|link| has_rules(link.get()))
}

impl Node {
    /// `rules` says which rules there are, `link` what the values are: they differ below combinations.
    fn new(rules: &Schema, link: &Link, is_resource: bool, schema_type: Option<&Arc<SchemaType>>) -> Option<Self> {
        let schema = link.get();
        let compiled = schema_type.map(|of| compile(schema, &rules.rules, of)).unwrap_or_default();
        let element = schema_type.and_then(|of| of.element());
        let below = |rules: Option<&Link>, link: Option<&Link>| {
            let (rules, link) = rules.zip(link)?;
            Self::new(rules.get(), link, link.get().embedded_resource, element).map(Box::new)
        };
        let items = below(rules.items.as_ref(), schema.items.as_ref());
        let values = below(rules.values(), schema.values());
        let properties = rules.properties.iter().filter_map(|(name, rules)| {
            let link = schema.properties.get(name)?;
            let is_resource = link.get().embedded_resource;
            let known = match escape(name) {
                Some(name) => schema_type.and_then(|of| of.field(&name)).map(Arc::clone),
                None => SchemaType::new(link.get(), is_resource).map(Arc::new),
            };
            Some((name.clone(), Self::new(rules.get(), link, is_resource, Some(&known?))?))
        });
        let properties: BTreeMap<_, _> = properties.collect();
        let all_of: Vec<_> = rules
            .validation
            .all_of
            .iter()
            .filter_map(|rules| Self::new(rules, link, is_resource, schema_type))
            .collect();
        let is_reachable = schema_type.is_some() || rules.rules.is_empty();
        let is_empty = compiled.is_empty()
            && is_reachable
            && items.is_none()
            && values.is_none()
            && properties.is_empty()
            && all_of.is_empty();
        let schema = if is_resource { Link::inline(with_object_meta(schema)) } else { link.clone() };
        (!is_empty).then_some(Self { schema, rules: compiled, is_reachable, properties, values, items, all_of })
    }

    fn type_name(&self) -> &'static str {
        self.schema.get().value_type.map_or("", ValueType::as_str)
    }
}

/// The budget is used up, so nothing more is looked at.
struct Stopped;

/// One validation of one object.
struct Run {
    budget: u64,
    findings: RuleFindings,
}

impl Run {
    fn value(
        &mut self,
        node: &Node,
        path: &FieldPath,
        value: &Value,
        old: Option<&Value>,
        ratchet: Ratchet<'_>,
    ) -> Result<(), Stopped> {
        // Rules about null stand on the schema around it.
        if value.is_null() {
            return Ok(());
        }
        let old = old.filter(|old| !old.is_null());
        self.rules(node, path, value, old, ratchet)?;
        for part in &node.all_of {
            self.value(part, path, value, old, ratchet.uncorrelated())?;
        }
        match value {
            Value::Object(fields) => self.fields(node, path, fields, old.and_then(Value::as_object), ratchet),
            Value::Array(items) => self.items(node, path, items, old, ratchet),
            _ => Ok(()),
        }
    }

    fn fields(
        &mut self,
        node: &Node,
        path: &FieldPath,
        fields: &Map<String, Value>,
        old: Option<&Map<String, Value>>,
        ratchet: Ratchet<'_>,
    ) -> Result<(), Stopped> {
        let before = |key: &str| old.and_then(|old| old.get(key));
        if let Some(values) = &node.values {
            for (key, value) in fields {
                self.value(values, &path.key(key), value, before(key), ratchet.key(key))?;
            }
        }
        if node.properties.is_empty() {
            return Ok(());
        }
        for (key, value) in fields {
            if let Some(property) = node.properties.get(key) {
                self.value(property, &path.child(key), value, before(key), ratchet.key(key))?;
            }
        }
        Ok(())
    }

    fn items(
        &mut self,
        node: &Node,
        path: &FieldPath,
        items: &[Value],
        old: Option<&Value>,
        ratchet: Ratchet<'_>,
    ) -> Result<(), Stopped> {
        let Some(below) = &node.items else { return Ok(()) };
        let old = OldItems::new(node.schema.get(), old);
        for (index, item) in items.iter().enumerate() {
            self.value(below, &path.index(index), item, old.get(item), ratchet.index(index))?;
        }
        Ok(())
    }

    fn rules(
        &mut self,
        node: &Node,
        path: &FieldPath,
        value: &Value,
        old: Option<&Value>,
        ratchet: Ratchet<'_>,
    ) -> Result<(), Stopped> {
        if !node.is_reachable {
            let detail = "rule compiler initialization error: failed to convert to declType for CEL validation rules";
            self.error(node, path, detail);
            return Ok(());
        }
        if node.rules.is_empty() {
            return Ok(());
        }
        if self.budget == 0 {
            self.error(node, path, OUT_OF_BUDGET);
            return Err(Stopped);
        }
        // Only where a rule reads it is there an old value for messages, too.
        let old = old.filter(|_| node.rules.iter().any(|rule| rule.uses_old_self));
        let variables = Variables::new(node.schema.get(), value, old);
        for rule in &node.rules {
            self.rule(node, rule, path, value, &variables, ratchet)?;
        }
        Ok(())
    }

    fn rule(
        &mut self,
        node: &Node,
        compiled: &Compiled,
        path: &FieldPath,
        value: &Value,
        variables: &Variables<'_>,
        ratchet: Ratchet<'_>,
    ) -> Result<(), Stopped> {
        let program = match &compiled.program {
            None => return Ok(()),
            Some(Ok(program)) => program,
            Some(Err(problem)) => {
                self.error(node, path, format!("rule compile error: {problem}"));
                return Ok(());
            }
        };
        let is_optional = compiled.rule.optional_old_self == Some(true);
        // Without an old value there is no transition.
        if compiled.uses_old_self && !is_optional && !variables.has_old() {
            return Ok(());
        }
        let optional = is_optional.then(|| variables.optional());
        match evaluation(program, optional.as_ref().unwrap_or(variables), &mut self.budget) {
            Evaluation::Value(crate::cel::value::CelValue::Bool(true)) => Ok(()),
            Evaluation::Value(_) => self.broken(node, compiled, path, value, variables, ratchet),
            Evaluation::OverBudget => {
                self.error(node, path, OUT_OF_BUDGET);
                Err(Stopped)
            }
            Evaluation::OverLimit(problem) => {
                let what = "no further validation rules will be run due to call cost exceeds limit for rule";
                self.error(node, path, format!("'{problem}': {what}: {}", compiled.rule.name()));
                Err(Stopped)
            }
            Evaluation::Error(problem) => {
                let name = compiled.rule.name();
                let detail = if problem.starts_with("no such overload") {
                    let what =
                        "call arguments did not match a supported operator, function or macro signature for rule";
                    format!("'{problem}': {what}: {name}")
                } else {
                    format!("{problem} evaluating rule: {name}")
                };
                self.error(node, path, detail);
                Ok(())
            }
        }
    }

    /// An error that shows the type of the value.
    fn error(&mut self, node: &Node, path: &FieldPath, detail: impl Into<String>) {
        self.findings.errors.push(FieldError::invalid(path, node.type_name(), detail));
    }

    fn broken(
        &mut self,
        node: &Node,
        compiled: &Compiled,
        path: &FieldPath,
        value: &Value,
        variables: &Variables<'_>,
        ratchet: Ratchet<'_>,
    ) -> Result<(), Stopped> {
        let at = compiled.field.as_ref().map_or_else(|| path.clone(), |field| path.child(field.as_str()));
        let expression: Option<&Checked> = compiled.message.as_ref().and_then(|message| message.as_ref().ok());
        let message = Message::of(&compiled.rule, expression, variables, &mut self.budget);
        let (error, stopped) = match message {
            Message::Text(text) => (failure(&at, node, value, text, compiled.rule.reason.as_deref()), false),
            Message::Exhausted(text) => (FieldError::invalid(&at, node.type_name(), text), true),
        };
        if !compiled.uses_old_self && ratchet.is_unchanged() {
            self.findings.warnings.push(error);
        } else {
            self.findings.errors.push(error);
        }
        if stopped { Err(Stopped) } else { Ok(()) }
    }
}

/// The error of a broken rule; objects and lists aren't shown.
fn failure(path: &FieldPath, node: &Node, value: &Value, detail: String, reason: Option<&str>) -> FieldError {
    let is_shown = !matches!(node.schema.get().value_type, Some(ValueType::Object | ValueType::Array));
    let value = is_shown.then(|| value.clone());
    match reason {
        Some("FieldValueForbidden") => FieldError::forbidden(path, detail),
        Some("FieldValueRequired") => FieldError::required(path, detail),
        Some("FieldValueDuplicate") => {
            FieldError { kind: FieldErrorKind::Duplicate, field: path.to_string(), value, detail: String::new() }
        }
        _ => FieldError { kind: FieldErrorKind::Invalid, field: path.to_string(), value, detail },
    }
}
