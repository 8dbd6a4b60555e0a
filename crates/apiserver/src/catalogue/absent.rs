//! What the reference serves and this server doesn't: leaving it out of discovery makes clients fail with a clear error,
//! where serving it without its behaviour would make them believe that it works.

use super::built_in::BuiltInGroupVersion;

/// Resources by group, version and plural, each with why it isn't served.
const RESOURCES: &[(&str, &str, &str, &str)] = &[("", "v1", "componentstatuses", "there are no components")];

/// Subresources by group, plural and name, each with why it isn't served.
const SUBRESOURCES: &[(&str, &str, &str, &str)] = &[
    ("", "nodes", "proxy", "no node runs"),
    ("", "pods", "attach", "no pod runs"),
    ("", "pods", "exec", "no pod runs"),
    ("", "pods", "log", "no pod runs"),
    ("", "pods", "portforward", "no pod runs"),
    ("", "pods", "proxy", "no pod runs"),
    ("", "services", "proxy", "no service has endpoints"),
    ("certificates.k8s.io", "certificatesigningrequests", "approval", "nothing signs certificates"),
];

/// Removes what isn't served, and group versions that have nothing left.
pub(super) fn remove(group_versions: &mut Vec<BuiltInGroupVersion>) {
    for served in &mut *group_versions {
        let BuiltInGroupVersion { group, version, resources, .. } = served;
        resources.retain_mut(|resource| {
            resource.subresources.retain(|subresource| {
                !SUBRESOURCES.iter().any(|(absent_group, plural, name, _)| {
                    group == absent_group && resource.plural == *plural && subresource.name == *name
                })
            });
            !RESOURCES.iter().any(|(absent_group, absent_version, plural, _)| {
                group == absent_group && version == absent_version && (*plural == "*" || resource.plural == *plural)
            })
        });
    }
    group_versions.retain(|served| !served.resources.is_empty());
}
