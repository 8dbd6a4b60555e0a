//! The discovery and OpenAPI documents of a running control plane.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;

/// One group version as the control plane serves it.
pub(super) struct GroupVersion {
    pub(super) group: String,
    pub(super) version: String,
    /// Whether this is the version that clients should prefer.
    pub(super) preferred: bool,
    /// The `APIResourceList`.
    pub(super) resources: Value,
    /// The OpenAPI v3 document.
    pub(super) openapi: Value,
}

/// All documents, in the order in which discovery names the groups.
pub(super) struct Documents {
    pub(super) server_version: Value,
    pub(super) group_versions: Vec<GroupVersion>,
    /// The roles and bindings that exist from the start.
    pub(super) policy: Vec<Value>,
}

impl Documents {
    pub(super) fn fetch(kubectl: &Path, kubeconfig: &Path) -> Result<Self> {
        let reference = Reference { kubectl, kubeconfig };
        let mut group_versions = Vec::new();
        let legacy = reference.get("/api")?;
        for version in strings(&legacy, "/versions") {
            group_versions.push(reference.group_version("", &version, true)?);
        }
        // A control plane that others use too may have custom resources.
        let definitions = reference.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")?;
        let definitions = definitions["items"].as_array().into_iter().flatten();
        let custom: Vec<&str> = definitions.filter_map(|found| found["spec"]["group"].as_str()).collect();
        let groups = reference.get("/apis")?;
        for group in groups.pointer("/groups").and_then(Value::as_array).into_iter().flatten() {
            let name = string(group, "/name")?;
            if custom.contains(&name.as_str()) {
                continue;
            }
            let preferred = string(group, "/preferredVersion/version")?;
            for version in group.pointer("/versions").and_then(Value::as_array).into_iter().flatten() {
                let version = string(version, "/version")?;
                group_versions.push(reference.group_version(&name, &version, version == preferred)?);
            }
        }
        let policy = reference.policy()?;
        Ok(Self { server_version: reference.get("/version")?, group_versions, policy })
    }

    /// Every component schema by name, as each document has it.
    pub(super) fn schemas(&self) -> BTreeMap<&str, Vec<&Value>> {
        let mut schemas: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
        for group_version in &self.group_versions {
            let components = group_version.openapi.pointer("/components/schemas").and_then(Value::as_object);
            for (name, schema) in components.into_iter().flatten() {
                schemas.entry(name).or_default().push(schema);
            }
        }
        schemas
    }
}

/// A control plane that kubectl can reach.
struct Reference<'a> {
    kubectl: &'a Path,
    kubeconfig: &'a Path,
}

impl Reference<'_> {
    /// The roles and bindings that the server keeps as they are.
    fn policy(&self) -> Result<Vec<Value>> {
        const API: &str = "/apis/rbac.authorization.k8s.io/v1";
        const KEPT: &str = "labelSelector=kubernetes.io/bootstrapping=rbac-defaults";
        let mut policy = Vec::new();
        for (plural, kind) in [
            ("clusterroles", "ClusterRole"),
            ("clusterrolebindings", "ClusterRoleBinding"),
            ("roles", "Role"),
            ("rolebindings", "RoleBinding"),
        ] {
            let list = self.get(&format!("{API}/{plural}?{KEPT}"))?;
            for object in list["items"].as_array().into_iter().flatten() {
                let mut object = object.clone();
                object["apiVersion"] = "rbac.authorization.k8s.io/v1".into();
                object["kind"] = kind.into();
                policy.push(object);
            }
        }
        Ok(policy)
    }

    fn group_version(&self, group: &str, version: &str, preferred: bool) -> Result<GroupVersion> {
        let path = if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") };
        Ok(GroupVersion {
            group: group.to_owned(),
            version: version.to_owned(),
            preferred,
            resources: self.get(&format!("/{path}"))?,
            openapi: self.get(&format!("/openapi/v3/{path}"))?,
        })
    }

    fn get(&self, path: &str) -> Result<Value> {
        let output = Command::new(self.kubectl)
            .arg("--kubeconfig")
            .arg(self.kubeconfig)
            .args(["get", "--raw", path])
            .output()
            .with_context(|| format!("running {}", self.kubectl.display()))?;
        if !output.status.success() {
            bail!("reading {path} from the control plane: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        serde_json::from_slice(&output.stdout).with_context(|| format!("decoding {path}"))
    }
}

/// The string at `pointer`, which the document must have.
pub(super) fn string(value: &Value, pointer: &str) -> Result<String> {
    let text = value.pointer(pointer).and_then(Value::as_str);
    text.map(str::to_owned).ok_or_else(|| anyhow!("no string at {pointer} in {value}"))
}

/// The strings of the array at `pointer`; none when it is absent.
pub(super) fn strings(value: &Value, pointer: &str) -> Vec<String> {
    let items = value.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}
