use std::collections::BTreeSet;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::cargo;

/// The workspace's packages and what they depend on, from `cargo metadata`.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// The packages of this repository.
    pub(crate) members: Vec<Package>,
    /// Everything they are built from.
    pub(crate) foreign: Vec<Package>,
}

/// One package.
#[derive(Debug, Default)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) description: Option<String>,
    pub(crate) readme: Option<String>,
    pub(crate) licence: Option<String>,
    /// `None` for a package that isn't from a registry.
    pub(crate) source: Option<String>,
    /// Whether it may be published.
    pub(crate) published: bool,
    /// Whether it builds a library.
    pub(crate) library: bool,
    pub(crate) dependencies: Vec<Dependency>,
}

/// One entry of a package's dependency tables.
#[derive(Debug, Default)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Whether only tests, examples and benches use it.
    pub(crate) development: bool,
    pub(crate) features: Vec<String>,
}

impl Workspace {
    pub(crate) fn load() -> Result<Self> {
        let metadata = cargo::metadata()?;
        let strings =
            |value: &Value| value.as_array().into_iter().flatten().filter_map(string).collect::<BTreeSet<_>>();
        let ids = metadata.get("workspace_members").map(strings).context("cargo metadata lists no members")?;
        let packages =
            metadata.get("packages").and_then(Value::as_array).context("cargo metadata lists no packages")?;
        let (members, foreign): (Vec<_>, Vec<_>) =
            packages.iter().partition(|package| package.get("id").and_then(string).is_some_and(|id| ids.contains(&id)));
        Ok(Self {
            members: members.into_iter().map(package).collect(),
            foreign: foreign.into_iter().map(package).collect(),
        })
    }
}

fn package(value: &Value) -> Package {
    let targets = value.get("targets").and_then(Value::as_array).into_iter().flatten();
    let kinds = targets.flat_map(|target| target.get("kind").and_then(Value::as_array).into_iter().flatten());
    Package {
        name: value.get("name").and_then(string).unwrap_or_default(),
        version: value.get("version").and_then(string).unwrap_or_default(),
        description: value.get("description").and_then(string),
        readme: value.get("readme").and_then(string),
        licence: value.get("license").and_then(string),
        source: value.get("source").and_then(string),
        published: value.get("publish").is_none_or(Value::is_null),
        library: kinds.into_iter().any(|kind| kind == "lib"),
        dependencies: value
            .get("dependencies")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(dependency)
            .collect(),
    }
}

fn dependency(value: &Value) -> Dependency {
    Dependency {
        name: value.get("name").and_then(string).unwrap_or_default(),
        development: value.get("kind").is_some_and(|kind| kind == "dev"),
        features: value.get("features").and_then(Value::as_array).into_iter().flatten().filter_map(string).collect(),
    }
}

fn string(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}
