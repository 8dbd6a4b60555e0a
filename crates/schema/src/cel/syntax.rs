//! Parsing, and the texts that show where something is wrong.

use cel::IdedExpr;
use cel::common::ast::SourceInfo;

use super::depth::{MAX_DEPTH, deep, depth};
use super::macros;

/// Expressions longer than this aren't parsed, as in kube-apiserver.
const MAX_CODE_POINTS: usize = 100_000;
/// How deep an expression may nest, as in kube-apiserver.
const MAX_NESTING: u16 = 250;

/// A parsed expression.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) expression: IdedExpr,
    source: SourceInfo,
}

/// Parses an expression, its macros expanded. The error has cel-go's text.
pub(crate) fn parse(text: &str) -> Result<Parsed, String> {
    if text.chars().count() > MAX_CODE_POINTS {
        let size = text.chars().count();
        return Err(format!(
            "ERROR: <input>:-1:0: expression code point size exceeds limit: size: {size}, limit {MAX_CODE_POINTS}"
        ));
    }
    deep(|| parse_on(text))
}

fn parse_on(text: &str) -> Result<Parsed, String> {
    let parser = macros::environment().parser().max_recursion_depth(MAX_NESTING);
    match parser.parse_with_source_info(text) {
        Ok((expression, _)) if depth(&expression) > MAX_DEPTH => {
            Err(format!("ERROR: <input>:-1:0: expression recursion limit exceeded: {MAX_DEPTH}"))
        }
        Ok((expression, source)) => Ok(Parsed { expression, source }),
        Err(errors) => {
            let mut issues: Vec<Issue> = errors
                .errors
                .into_iter()
                .map(|error| {
                    let line = usize::try_from(error.pos.0).unwrap_or(0);
                    let column = usize::try_from(error.pos.1).unwrap_or(0).saturating_sub(1);
                    Issue { line, column, message: error.msg }
                })
                .collect();
            issues.sort_by_key(|issue| (issue.line, issue.column));
            Err(show(&issues, text))
        }
    }
}

/// Something that is wrong at a place.
#[derive(Clone, Debug)]
pub(crate) struct Issue {
    /// From one.
    pub(crate) line: usize,
    /// From zero, in characters.
    pub(crate) column: usize,
    pub(crate) message: String,
}

impl Parsed {
    /// An issue with the expression of this id.
    pub(crate) fn issue(&self, id: u64, message: String) -> Issue {
        let start = self.source.offset_for(id).map_or(0, |(start, _)| start as usize);
        let before: String = self.source.source.chars().take(start).collect();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
        Issue { line, column, message }
    }

    /// All issues as one text, in the order of their places.
    pub(crate) fn show(&self, mut issues: Vec<Issue>) -> String {
        issues.sort_by_key(|issue| (issue.line, issue.column));
        show(&issues, &self.source.source)
    }
}

/// More issues than that aren't told.
const MAX_ISSUES: usize = 100;

fn show(issues: &[Issue], source: &str) -> String {
    let texts: Vec<String> = issues
        .iter()
        .take(MAX_ISSUES)
        .map(|issue| {
            let mut text = format!("ERROR: <input>:{}:{}: {}", issue.line, issue.column + 1, issue.message);
            if let Some(line) = issue.line.checked_sub(1).and_then(|index| source.split('\n').nth(index)) {
                let line = line.replace('\t', " ");
                text = format!("{text}\n | {line}\n | {}^", dots(&line, issue.column));
            }
            text
        })
        .collect();
    texts.join("\n")
}

/// What stands below a line up to a column: wide letters take wide dots.
fn dots(line: &str, column: usize) -> String {
    let letters = line.chars().map(Some).chain(std::iter::repeat(None));
    letters
        .take(column)
        .map(|letter| if letter.is_some_and(|letter| letter.len_utf8() > 1) { '．' } else { '.' })
        .collect()
}
