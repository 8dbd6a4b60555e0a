use std::collections::BTreeSet;

use anyhow::{Context, Result};
use toml::{Table, Value};

use super::licence;
use super::workspace::{Package, Workspace};
use crate::cargo;

/// What breaks deny.toml, as far as it can be told without the advisory database: licences, bans and sources.
pub(crate) fn violations(workspace: &Workspace) -> Result<Vec<String>> {
    let file = cargo::root().join("deny.toml");
    let text = std::fs::read_to_string(&file).context("cannot read deny.toml")?;
    let rules = Rules::parse(&text).context("deny.toml")?;
    Ok(workspace.foreign.iter().flat_map(|package| rules.violations(package)).collect())
}

struct Rules {
    licences: BTreeSet<String>,
    bans: BTreeSet<String>,
    registries: BTreeSet<String>,
}

impl Rules {
    fn parse(text: &str) -> Result<Self> {
        let table = text.parse::<Table>()?;
        Ok(Self {
            licences: strings(&table, "licenses", "allow"),
            bans: strings(&table, "bans", "deny"),
            registries: strings(&table, "sources", "allow-registry"),
        })
    }

    fn violations(&self, package: &Package) -> Vec<String> {
        let Package { name, version, licence, source, .. } = package;
        let mut found = Vec::new();
        match licence {
            None => found.push(format!("{name} {version} states no licence")),
            Some(licence) if !licence::is_allowed(licence, &self.licences) => {
                found.push(format!("{name} {version} has the licence {licence}, which deny.toml doesn't allow"));
            }
            Some(_) => {}
        }
        if self.bans.contains(name) {
            found.push(format!("{name} {version} is banned in deny.toml"));
        }
        let registry = source.as_deref().and_then(|source| source.strip_prefix("registry+"));
        if !registry.is_some_and(|registry| self.registries.contains(registry)) {
            let source = source.as_deref().unwrap_or("a path");
            found.push(format!("{name} {version} comes from {source}, which deny.toml doesn't allow"));
        }
        found
    }
}

/// The strings of a list; of a list of tables the `name` or `crate` of each.
fn strings(table: &Table, section: &str, key: &str) -> BTreeSet<String> {
    let list = table.get(section).and_then(|section| section.get(key)).and_then(Value::as_array);
    let text = |value: &Value| {
        let named = || value.get("name").or_else(|| value.get("crate"));
        value.as_str().or_else(|| named().and_then(Value::as_str)).map(str::to_owned)
    };
    list.into_iter().flatten().filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::Rules;
    use crate::check::workspace::Package;

    #[test]
    fn each_rule_is_applied() {
        let rules = Rules::parse(
            "[licenses]\nallow = [\"MIT\"]\n[bans]\ndeny = [{ crate = \"bad\", reason = \"x\" }]\n[sources]\n\
             allow-registry = [\"https://index\"]",
        )
        .unwrap();
        let check = |name: &str, licence: Option<&str>, source: Option<&str>, expected: &[&str]| {
            let package = Package {
                name: name.to_owned(),
                version: "1.0.0".to_owned(),
                licence: licence.map(str::to_owned),
                source: source.map(str::to_owned),
                ..Package::default()
            };
            assert_eq!(rules.violations(&package), expected);
        };
        let index = Some("registry+https://index");
        check("good", Some("MIT"), index, &[]);
        check("good", None, index, &["good 1.0.0 states no licence"]);
        check("good", Some("X"), index, &["good 1.0.0 has the licence X, which deny.toml doesn't allow"]);
        check("bad", Some("MIT"), index, &["bad 1.0.0 is banned in deny.toml"]);
        check(
            "good",
            Some("MIT"),
            Some("git+https://elsewhere"),
            &["good 1.0.0 comes from git+https://elsewhere, which deny.toml doesn't allow"],
        );
    }
}
