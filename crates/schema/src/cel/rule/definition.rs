//! What must hold for the rules of a schema before it is installed.

use std::sync::Arc;

use super::Rule;
use super::compile::{Compiled, compile};
use crate::cel::escape::escape;
use crate::cel::schema_type::SchemaType;
use crate::field_error::FieldError;
use crate::field_path::FieldPath;
use crate::link::Link;
use crate::schema::{Schema, ValueType};

/// What one rule may cost, as often as it can run in one object.
const RULE_LIMIT: u64 = 10_000_000;
/// What all rules of a schema may cost together.
const SCHEMA_LIMIT: u64 = 100_000_000;
/// How many of the most expensive rules are named.
const NAMED: usize = 4;

/// What is known of a schema from before a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EarlierRules {
    /// Its rules are new, or some are.
    #[default]
    Changed,
    /// The whole schema was installed before: what single rules cost is not held against it again.
    Unchanged,
}

/// The rules of one schema, as they are checked from the leaves up.
pub(crate) struct RuleCheck {
    earlier: EarlierRules,
    total: u64,
    most_expensive: Vec<(u64, FieldPath)>,
    errors: Vec<FieldError>,
}

/// A place in a schema, and what is known of the values there.
#[derive(Clone, Debug)]
pub(crate) struct RuleScope<'a> {
    schema: &'a Schema,
    known: Known,
    /// How often values of this schema can be in one object; `None` when nothing limits that but the request.
    cardinality: Option<u64>,
}

#[derive(Clone, Debug)]
enum Known {
    /// There are no rules here nor above.
    NotAsked,
    Type(Arc<SchemaType>),
    /// Expressions can't reach the values.
    Unreachable,
}

/// How a schema leads to one below it.
#[derive(Clone, Copy, Debug)]
enum Step<'a> {
    Property(&'a str),
    Element,
}

impl<'a> RuleScope<'a> {
    pub(crate) fn root(schema: &'a Schema) -> Self {
        let known = if schema.rules.is_empty() { Known::NotAsked } else { Known::of(schema, true) };
        Self { schema, known, cardinality: Some(1) }
    }

    pub(crate) fn property(&self, name: &str) -> Option<Self> {
        Some(self.below(self.schema.properties.get(name)?, Step::Property(name)))
    }

    pub(crate) fn items(&self) -> Option<Self> {
        Some(self.below(self.schema.items.as_ref()?, Step::Element))
    }

    pub(crate) fn values(&self) -> Option<Self> {
        Some(self.below(self.schema.values()?, Step::Element))
    }

    fn below(&self, link: &'a Link, step: Step<'_>) -> Self {
        let schema = link.get();
        let known = match &self.known {
            Known::NotAsked if schema.rules.is_empty() => Known::NotAsked,
            Known::NotAsked => Known::of(schema, schema.embedded_resource),
            Known::Unreachable => Known::Unreachable,
            Known::Type(parent) => {
                let child = match step {
                    Step::Property(name) => escape(name).and_then(|name| parent.field(&name)),
                    Step::Element => parent.element(),
                };
                child
                    .map_or_else(|| Known::of(schema, schema.embedded_resource), |child| Known::Type(Arc::clone(child)))
            }
        };
        let cardinality = self.cardinality.zip(max_elements(self.schema)).map(|(outer, own)| outer.saturating_mul(own));
        Self { schema, known, cardinality }
    }
}

impl Known {
    fn of(schema: &Schema, is_resource: bool) -> Self {
        SchemaType::new(schema, is_resource).map_or(Self::Unreachable, |known| Self::Type(Arc::new(known)))
    }
}

/// How often a schema has each value below it, if it says.
fn max_elements(schema: &Schema) -> Option<u64> {
    let count = |max: Option<i64>| max.map(|max| u64::try_from(max).unwrap_or(0));
    match schema.value_type {
        Some(ValueType::Object) if schema.additional_properties.is_some() => count(schema.validation.max_properties),
        Some(ValueType::Array) => count(schema.validation.max_items),
        _ => Some(1),
    }
}

impl RuleCheck {
    pub(crate) fn new(earlier: EarlierRules) -> Self {
        Self { earlier, total: 0, most_expensive: Vec::new(), errors: Vec::new() }
    }

    /// Checks the rules at one place. Within `uncorrelatable` values can't be told what they were before.
    pub(crate) fn place(&mut self, scope: &RuleScope<'_>, path: &FieldPath, uncorrelatable: Option<&FieldPath>) {
        if scope.schema.rules.is_empty() {
            return;
        }
        let path = path.child("x-kubernetes-validations");
        let Known::Type(schema_type) = &scope.known else {
            let detail = "internal error: failed to construct type information for x-kubernetes-validations rules: \
                          unable to convert structural schema to CEL declarations";
            self.errors.push(FieldError::internal(&path, detail));
            return;
        };
        let count = scope.cardinality.unwrap_or_else(|| schema_type.max_count());
        for (index, compiled) in compile(scope.schema, &scope.schema.rules, schema_type).iter().enumerate() {
            self.rule(compiled, &path.index(index), count);
            self.old_self(compiled, &path.index(index), uncorrelatable);
        }
    }

    fn rule(&mut self, compiled: &Compiled, path: &FieldPath, count: u64) {
        let rule = &compiled.rule;
        let at = path.child("rule");
        self.cost("estimated rule cost", compiled.max_cost.saturating_mul(count), &at);
        if let Some(Err(problem)) = &compiled.program {
            self.errors.push(shown(&at, rule, problem));
        }
        let at = path.child("messageExpression");
        match &compiled.message {
            Some(Err(problem)) => self.errors.push(shown(&at, rule, problem)),
            Some(Ok(_)) => self.cost("estimated messageExpression cost", compiled.message_cost, &at),
            None => {}
        }
    }

    fn old_self(&mut self, compiled: &Compiled, path: &FieldPath, uncorrelatable: Option<&FieldPath>) {
        let rule = &compiled.rule;
        if compiled.uses_old_self {
            if let Some(within) = uncorrelatable {
                let detail =
                    format!("oldSelf cannot be used on the uncorrelatable portion of the schema within {within}");
                self.errors.push(FieldError::invalid(&path.child("rule"), rule.expression.as_str(), detail));
            }
        } else if let Some(given) = rule.optional_old_self {
            let detail = "may not be set if oldSelf is not used in rule";
            self.errors.push(FieldError::invalid(&path.child("optionalOldSelf"), given, detail));
        }
    }

    fn cost(&mut self, what: &str, cost: u64, path: &FieldPath) {
        if self.earlier == EarlierRules::Changed && cost > RULE_LIMIT {
            self.errors.push(FieldError::forbidden(path, exceeded(what, cost, RULE_LIMIT)));
        }
        self.total = self.total.saturating_add(cost);
        // What is less than a hundredth of the limit isn't worth naming.
        if cost >= SCHEMA_LIMIT / 100 {
            self.most_expensive.push((cost, path.clone()));
            self.most_expensive.sort_by_key(|(cost, _)| std::cmp::Reverse(*cost));
            self.most_expensive.truncate(NAMED);
        }
    }

    /// The errors of all places.
    pub(crate) fn take_errors(&mut self) -> Vec<FieldError> {
        std::mem::take(&mut self.errors)
    }

    /// What is wrong with the sum of all costs; the schema is at `root`.
    pub(crate) fn total(self, root: &FieldPath) -> Vec<FieldError> {
        if self.total <= SCHEMA_LIMIT {
            return Vec::new();
        }
        let detail = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
        let mut errors: Vec<_> =
            self.most_expensive.iter().map(|(_, path)| FieldError::forbidden(path, detail)).collect();
        let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        errors.push(FieldError::forbidden(root, exceeded(what, self.total, SCHEMA_LIMIT)));
        errors
    }
}

/// An error that shows the whole rule.
fn shown(path: &FieldPath, rule: &Rule, problem: &str) -> FieldError {
    let error = FieldError::invalid(path, serde_json::Value::Null, format!("{}: {problem}", rule.shown()));
    // The rule is part of the text, because kube-apiserver shows its own form of it.
    FieldError { value: None, ..error }
}

#[expect(clippy::cast_precision_loss, reason = "a factor for people")]
fn exceeded(what: &str, cost: u64, limit: u64) -> String {
    let factor = cost as f64 / limit as f64;
    let factor = if factor > 100.0 {
        "more than 100x".to_owned()
    } else if factor < 1.5 {
        format!("{factor:.6}x")
    } else {
        format!("{factor:.1}x")
    };
    format!(
        "{what} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and \
         maxLength where arrays, maps, and strings are declared)"
    )
}
