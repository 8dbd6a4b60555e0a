use std::collections::BTreeSet;

use super::workspace::{Package, Workspace};

/// Every crate may use it, whatever its row says.
const AMBIENT: &str = "controller-runtime-ambient";

/// The crates from the bottom up. Arrows point only downward: a row names only rows above it.
const LAYERS: &[Layer] = &[
    layer(AMBIENT, &[], &[KUBERNETES, HTTP]),
    layer("controller-runtime-metrics", &[], &[KUBERNETES, HTTP]),
    layer("controller-runtime-scheme", &[], &[CLIENT, HTTP]),
    layer("controller-runtime-workqueue", &[], &[KUBERNETES, HTTP]),
    layer("controller-runtime-schema", &[], &[KUBERNETES, HTTP]),
    layer("controller-runtime-merge", &["controller-runtime-schema"], &[KUBERNETES, HTTP]),
    layer(
        "controller-runtime-apiserver",
        &["controller-runtime-merge", "controller-runtime-schema", "controller-runtime-metrics"],
        &[KUBERNETES],
    ),
    layer("controller-runtime-client", &["controller-runtime-scheme", "controller-runtime-metrics"], &[]),
    layer(
        "controller-runtime-cache",
        &["controller-runtime-client", "controller-runtime-scheme", "controller-runtime-metrics"],
        &[],
    ),
    layer(
        "controller-runtime-controller",
        &[
            "controller-runtime-cache",
            "controller-runtime-client",
            "controller-runtime-scheme",
            "controller-runtime-workqueue",
            "controller-runtime-metrics",
        ],
        &[],
    ),
    layer(
        "controller-runtime-manager",
        &[
            "controller-runtime-controller",
            "controller-runtime-cache",
            "controller-runtime-client",
            "controller-runtime-scheme",
            "controller-runtime-workqueue",
            "controller-runtime-metrics",
        ],
        &[],
    ),
    layer(
        "controller-runtime-testenv",
        &["controller-runtime-apiserver", "controller-runtime-client", "controller-runtime-scheme"],
        &[],
    ),
    layer(
        "controller-runtime",
        &[
            "controller-runtime-metrics",
            "controller-runtime-scheme",
            "controller-runtime-workqueue",
            "controller-runtime-schema",
            "controller-runtime-merge",
            "controller-runtime-apiserver",
            "controller-runtime-client",
            "controller-runtime-cache",
            "controller-runtime-controller",
            "controller-runtime-manager",
            "controller-runtime-testenv",
        ],
        &[],
    ),
    layer(
        "controller-runtime-fuzz",
        &["controller-runtime-schema", "controller-runtime-merge", "controller-runtime-apiserver"],
        &[KUBERNETES],
    ),
    layer("embedded-apiserver", &["controller-runtime-apiserver"], &[CLIENT]),
    layer(
        "integration-tests",
        &[
            "controller-runtime-metrics",
            "controller-runtime-scheme",
            "controller-runtime-workqueue",
            "controller-runtime-schema",
            "controller-runtime-merge",
            "controller-runtime-apiserver",
            "controller-runtime-client",
            "controller-runtime-cache",
            "controller-runtime-controller",
            "controller-runtime-manager",
            "controller-runtime-testenv",
            "controller-runtime",
            "embedded-apiserver",
        ],
        &[],
    ),
    layer("xtask", &[], &[KUBERNETES, HTTP]),
];

/// Kubernetes' types and clients.
const KUBERNETES: &[&str] = &["k8s-openapi", "kube-client", "kube-core", "kube-derive"];
/// Clients of Kubernetes; its types are welcome.
const CLIENT: &[&str] = &["kube-client"];
/// HTTP servers and clients.
const HTTP: &[&str] = &["http", "http-body", "http-body-util", "hyper", "hyper-util", "tower"];
/// A peer of this project; no crate is built on it.
const PEERS: &[&str] = &["kube-runtime", "kube"];

#[derive(Debug)]
struct Layer {
    name: &'static str,
    /// The project's crates that it may use, besides ambient.
    may_use: &'static [&'static str],
    /// Foreign crates that it must not use, not even in tests.
    shuns: &'static [&'static [&'static str]],
}

const fn layer(
    name: &'static str,
    may_use: &'static [&'static str],
    shuns: &'static [&'static [&'static str]],
) -> Layer {
    Layer { name, may_use, shuns }
}

/// What breaks the layer table.
pub(crate) fn violations(workspace: &Workspace) -> Vec<String> {
    let members = workspace.members.iter().map(|package| package.name.as_str()).collect::<BTreeSet<_>>();
    workspace.members.iter().flat_map(|package| package_violations(package, &members)).collect()
}

fn package_violations(package: &Package, members: &BTreeSet<&str>) -> Vec<String> {
    let Some(rank) = rank(&package.name) else {
        return vec![format!("{} is not in the layer table (xtask/src/check/layers.rs)", package.name)];
    };
    let Some(layer) = LAYERS.get(rank) else { return Vec::new() };
    let mut found = Vec::new();
    for dependency in &package.dependencies {
        let name = dependency.name.as_str();
        let program = !package.library || !package.published;
        if layer.shuns.iter().chain([&PEERS]).any(|group| group.contains(&name)) {
            found.push(format!("{} must not depend on {name}", package.name));
        }
        if name == "k8s-openapi" && !dependency.development && !program {
            found.extend(dependency.features.iter().filter(|feature| selects_version(feature)).map(|feature| {
                format!(
                    "{} is a library and selects k8s-openapi's {feature}: only programs and tests may",
                    package.name
                )
            }));
        }
        if !members.contains(name) || name == AMBIENT || name == package.name {
            continue;
        }
        if dependency.development {
            if self::rank(name).is_none_or(|other| other > rank) {
                found.push(format!(
                    "{} has a dev-dependency on {name}, which stands above it: such tests belong in integration-tests",
                    package.name
                ));
            }
        } else if !layer.may_use.contains(&name) {
            found.push(format!("{} must not depend on {name}: the layer table has no such arrow", package.name));
        }
    }
    found
}

fn rank(name: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.name == name)
}

fn selects_version(feature: &str) -> bool {
    feature.starts_with("v1_") || matches!(feature, "latest" | "earliest")
}

#[cfg(test)]
mod tests {
    use super::{LAYERS, rank, violations};
    use crate::check::workspace::{Dependency, Package, Workspace};

    /// What a library `name` that depends on `dependency` breaks.
    fn check(name: &str, dependency: &str, development: bool, features: &[&str]) -> Vec<String> {
        let dependency = Dependency {
            name: dependency.to_owned(),
            development,
            features: features.iter().map(|feature| (*feature).to_owned()).collect(),
        };
        let package = Package {
            name: name.to_owned(),
            published: true,
            library: true,
            dependencies: vec![dependency],
            ..Package::default()
        };
        let others = LAYERS.iter().filter(|layer| layer.name != name);
        let others = others.map(|layer| Package { name: layer.name.to_owned(), ..Package::default() });
        violations(&Workspace { members: std::iter::once(package).chain(others).collect(), foreign: Vec::new() })
    }

    #[test]
    fn rows_name_only_rows_above_them() {
        for (index, layer) in LAYERS.iter().enumerate() {
            for used in layer.may_use {
                assert!(rank(used).is_some_and(|rank| rank < index), "{} names {used}", layer.name);
            }
        }
    }

    #[test]
    fn arrows_point_downward() {
        assert_eq!(check("controller-runtime-merge", "controller-runtime-schema", false, &[]), [""; 0]);
        assert_eq!(check("controller-runtime-merge", "controller-runtime-ambient", false, &[]), [""; 0]);
        assert_eq!(
            check("controller-runtime-schema", "controller-runtime-merge", false, &[]),
            [
                "controller-runtime-schema must not depend on controller-runtime-merge: the layer table has no such arrow"
            ]
        );
    }

    #[test]
    fn tests_look_downward_too() {
        assert_eq!(check("controller-runtime-cache", "controller-runtime-apiserver", true, &[]), [""; 0]);
        assert_eq!(
            check("controller-runtime-cache", "controller-runtime-testenv", true, &[]),
            [
                "controller-runtime-cache has a dev-dependency on controller-runtime-testenv, which stands above it: such \
              tests belong in integration-tests"
            ]
        );
    }

    #[test]
    fn foreign_crates_stay_in_their_layer() {
        assert_eq!(check("controller-runtime-client", "kube-client", false, &[]), [""; 0]);
        assert_eq!(
            check("controller-runtime-workqueue", "kube-core", false, &[]),
            ["controller-runtime-workqueue must not depend on kube-core"]
        );
        assert_eq!(
            check("controller-runtime-client", "kube-runtime", true, &[]),
            ["controller-runtime-client must not depend on kube-runtime"]
        );
    }

    #[test]
    fn libraries_select_no_kubernetes_version() {
        assert_eq!(check("controller-runtime-client", "k8s-openapi", true, &["v1_37"]), [""; 0]);
        assert_eq!(
            check("controller-runtime-client", "k8s-openapi", false, &["latest"]),
            ["controller-runtime-client is a library and selects k8s-openapi's latest: only programs and tests may"]
        );
    }

    #[test]
    fn a_new_crate_needs_a_row() {
        assert_eq!(
            check("controller-runtime-new", "serde", false, &[]),
            ["controller-runtime-new is not in the layer table (xtask/src/check/layers.rs)"]
        );
    }
}
