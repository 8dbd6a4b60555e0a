use std::path::Path;

use anyhow::{Context, Result};

use super::long_files::{EXCEPTIONS, LIMIT};
use super::workspace::{Package, Workspace};
use crate::cargo;

/// Names that say nothing of what is inside.
const EMPTY_NAMES: [&str; 7] = ["utils", "util", "helpers", "helper", "common", "misc", "types"];
/// What is generated stands in a folder of this name, or has the mark; its first lines name the command.
const GENERATED_FOLDER: &str = "generated";
const GENERATED_MARK: &str = "@generated";
const GENERATED_BY: &str = "cargo xtask codegen";
const GENERATED_WITHIN: usize = 5;

/// What makes the repository harder to find one's way in.
pub(crate) fn violations(workspace: &Workspace) -> Result<Vec<String>> {
    let mut found = workspace.members.iter().flat_map(member_violations).collect::<Vec<_>>();
    let map = read("docs/architecture.md")?;
    found.extend(
        workspace
            .members
            .iter()
            .filter(|package| !map.contains(&format!("`{}`", package.name)))
            .map(|package| format!("docs/architecture.md has no `{}`", package.name)),
    );
    found.extend(missing_paths(&map));
    for file in super::files()? {
        found.extend(name_violation(&file));
        if !is_text(&file) {
            continue;
        }
        let text = read(&file)?;
        found.extend(generated_violation(&file, &text));
        found.extend(length_violation(&file, &text));
    }
    found.extend(stale_exceptions());
    Ok(found)
}

fn member_violations(package: &Package) -> Vec<String> {
    let name = &package.name;
    let absent = |what: &str| format!("{name} has no {what}");
    let mut found = Vec::new();
    if package.description.as_deref().is_none_or(str::is_empty) {
        found.push(absent("description"));
    }
    if package.readme.is_none() {
        found.push(absent("readme"));
    }
    if package.licence.is_none() {
        found.push(absent("license"));
    }
    found
}

/// Paths in backticks on the map that start at a folder of the repository must exist.
fn missing_paths(map: &str) -> Vec<String> {
    let quoted = map.split('`').skip(1).step_by(2);
    let ours = |path: &&str| ["crates/", "xtask/", "docs/", ".ci/"].iter().any(|folder| path.starts_with(folder));
    quoted
        .filter(ours)
        .filter(|path| !cargo::root().join(path).exists())
        .map(|path| format!("docs/architecture.md names {path}, which isn't there"))
        .collect()
}

fn name_violation(file: &str) -> Option<String> {
    let path = Path::new(file);
    let parts = path.iter().filter_map(|part| Path::new(part).file_stem()?.to_str());
    let empty = parts.into_iter().find(|part| EMPTY_NAMES.contains(part))?;
    Some(format!("{file}: the name `{empty}` doesn't say what is inside"))
}

fn generated_violation(file: &str, text: &str) -> Option<String> {
    let mut head = text.lines().take(GENERATED_WITHIN);
    let named = head.clone().any(|line| line.contains(GENERATED_BY));
    (is_generated(file, &mut head) && !named).then(|| format!("{file}: its first lines must name `{GENERATED_BY}`"))
}

fn is_generated<'a>(file: &str, head: &mut impl Iterator<Item = &'a str>) -> bool {
    Path::new(file).iter().any(|part| part == GENERATED_FOLDER) || head.any(|line| line.contains(GENERATED_MARK))
}

fn length_violation(file: &str, text: &str) -> Option<String> {
    let lines = text.lines().count();
    let excepted = EXCEPTIONS.iter().any(|(path, _)| *path == file)
        || is_generated(file, &mut text.lines().take(GENERATED_WITHIN));
    (is_rust(file) && lines > LIMIT && !excepted)
        .then(|| format!("{file} has {lines} lines, {LIMIT} are allowed (xtask/src/check/long_files.rs)"))
}

fn stale_exceptions() -> Vec<String> {
    let long = |file: &str| read(file).is_ok_and(|text| text.lines().count() > LIMIT);
    EXCEPTIONS
        .iter()
        .filter(|(file, _)| !long(file))
        .map(|(file, _)| format!("{file} no longer needs its exception in xtask/src/check/long_files.rs"))
        .collect()
}

fn is_rust(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|extension| extension == "rs")
}

fn is_text(file: &str) -> bool {
    let extension = Path::new(file).extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("rs" | "toml" | "md" | "yaml" | "yml" | "json" | "jsonl" | "tsv" | "txt"))
}

fn read(file: &str) -> Result<String> {
    std::fs::read_to_string(cargo::root().join(file)).with_context(|| format!("cannot read {file}"))
}

#[cfg(test)]
mod tests {
    use super::{generated_violation, length_violation, name_violation};

    #[test]
    fn names_say_what_is_inside() {
        let check = |file: &str, tidy: bool| assert_eq!(name_violation(file).is_none(), tidy, "{file}");
        check("crates/client/src/patch.rs", true);
        check("crates/client/src/utils.rs", false);
        check("crates/common/src/lib.rs", false);
        check("crates/client/src/list_types.rs", true);
    }

    #[test]
    fn generated_files_name_their_command() {
        let check = |file: &str, text: &str, tidy: bool| {
            assert_eq!(generated_violation(file, text).is_none(), tidy, "{file}: {text}");
        };
        check("a.rs", "fn a() {}", true);
        check("a.rs", "// @generated by cargo xtask codegen", true);
        check("a.rs", "// @generated by magic", false);
        check("generated/a.rs", "fn a() {}", false);
        check("generated/a.json", "{\"generatedBy\": \"cargo xtask codegen\"}", true);
        check("a.rs", "\n\n\n\n\nlet mark = \"@generated\";", true);
    }

    #[test]
    fn long_files_need_a_reason() {
        assert!(length_violation("a.rs", &"\n".repeat(501)).is_some());
        assert!(length_violation("a.rs", &"\n".repeat(500)).is_none());
        assert!(length_violation("a.md", &"\n".repeat(501)).is_none());
    }
}
