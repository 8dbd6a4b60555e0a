use std::collections::BTreeSet;

use anyhow::{Context, Result};

use crate::cargo;

const PAGE: &str = "docs/behaviours.md";
/// Cases that must not compile carry the number in the file's name.
const COMPILE_FAIL: &str = "crates/integration-tests/tests/compile_fail/";

/// Behaviours without a test, and numbered tests without a behaviour.
pub(crate) fn violations() -> Result<Vec<String>> {
    let page = read(PAGE)?;
    let mut tested = BTreeSet::new();
    for file in super::files()?.iter().filter(|file| file.starts_with("crates/")) {
        if let Some(case) = file.strip_prefix(COMPILE_FAIL) {
            tested.extend(number(case));
        }
        if std::path::Path::new(file).extension().is_some_and(|extension| extension == "rs") {
            tested.extend(tests(&read(file)?));
        }
    }
    Ok(differences(&rows(&page), &tested))
}

fn differences(listed: &BTreeSet<String>, tested: &BTreeSet<String>) -> Vec<String> {
    let untested = listed.difference(tested).map(|number| format!("{PAGE}: {number} has no test"));
    let unlisted = tested.difference(listed).map(|number| format!("{PAGE} has no row for the tests of {number}"));
    untested.chain(unlisted).collect()
}

/// The numbers in the first column of the page's tables.
fn rows(page: &str) -> BTreeSet<String> {
    let first = |line: &str| line.strip_prefix("| ")?.split_once(" |").map(|(cell, _)| cell.to_lowercase() + "_");
    page.lines().filter_map(first).filter_map(|cell| number(&cell)).collect()
}

/// The numbers that functions of this source are named for.
fn tests(source: &str) -> BTreeSet<String> {
    let functions = source.lines().filter_map(|line| {
        let line = line.trim_start();
        line.strip_prefix("async fn ").or_else(|| line.strip_prefix("fn "))
    });
    functions.filter_map(number).collect()
}

/// `B12` of `b12_an_error…`, `O04` of `o04_…`.
fn number(name: &str) -> Option<String> {
    let (head, _) = name.split_once('_')?;
    let digits = head.strip_prefix(['b', 'o']).filter(|digits| digits.len() <= 2)?;
    digits.parse::<u8>().ok().map(|_| head.to_uppercase())
}

fn read(file: &str) -> Result<String> {
    std::fs::read_to_string(cargo::root().join(file)).with_context(|| format!("cannot read {file}"))
}

#[cfg(test)]
mod tests {
    use super::{differences, rows, tests};

    #[test]
    fn each_behaviour_has_a_test_and_each_numbered_test_a_behaviour() {
        let check = |page: &str, source: &str, expected: &[&str]| {
            assert_eq!(differences(&rows(page), &tests(source)), expected, "{page} {source}");
        };
        check("| B1 | text |", "    fn b1_two_adds_are_one() {", &[]);
        check("| O04 | text |", "async fn o04_old_versions_conflict() {", &[]);
        check(
            "| B1 | text |",
            "fn b10_shutdown() {",
            &["docs/behaviours.md: B1 has no test", "docs/behaviours.md has no row for the tests of B10"],
        );
        check("| number | behaviour |\n|---|---|", "fn bar_1() {} fn b_12() {}", &[]);
    }
}
