//! The type checker: which type each part of an expression has, and which form of a function each call means.

mod assign;
mod call;
mod checker;
mod literal;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use cel::IdedExpr;

use self::checker::Checker;
pub(crate) use self::checker::{qualified_name, type_named};
use super::cel_type::CelType;
use super::depth::{depth, walk};
use super::syntax::{self, Issue, Parsed};

/// An expression whose types fit.
#[derive(Clone, Debug)]
pub(crate) struct Checked {
    pub(crate) expression: Arc<IdedExpr>,
    /// How many levels it has.
    pub(crate) depth: usize,
    /// The type of each part, by its id.
    pub(crate) types: HashMap<u64, CelType>,
    /// The forms of a function that a call may mean, by its id.
    pub(crate) overloads: HashMap<u64, Vec<&'static str>>,
    /// The calls whose receiver is no value but part of the function's name, such as `optional.of`, and that name.
    pub(crate) qualified: HashMap<u64, String>,
    /// The variables that are read.
    pub(crate) variables: std::collections::BTreeSet<String>,
}

impl Checked {
    /// The type of the whole.
    pub(crate) fn output(&self) -> &CelType {
        self.types.get(&self.expression.id).unwrap_or(&CelType::Dyn)
    }
}

/// Parses and checks an expression that may read `variables`. The error is cel-go's text, a paragraph for each issue.
pub(crate) fn check(text: &str, variables: &BTreeMap<String, CelType>) -> Result<Checked, String> {
    let parsed = syntax::parse(text)?;
    let depth = depth(&parsed.expression);
    walk(depth, || check_parsed(parsed, depth, variables))
}

fn check_parsed(parsed: Parsed, depth: usize, variables: &BTreeMap<String, CelType>) -> Result<Checked, String> {
    let mut checker = Checker::new(variables);
    checker.check(&parsed.expression);
    let mut issues = std::mem::take(&mut checker.issues);
    let types = checker.types();
    if issues.is_empty() {
        issues = literal::issues(&parsed.expression, &types);
    }
    if !issues.is_empty() {
        let issues: Vec<Issue> = issues.into_iter().map(|(id, message)| parsed.issue(id, message)).collect();
        return Err(parsed.show(issues));
    }
    Ok(checker.checked(parsed.expression, depth, types))
}
