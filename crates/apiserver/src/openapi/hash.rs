use std::fmt::Write as _;

use sha2::{Digest as _, Sha512};

use super::components::published;
use crate::catalogue::catalogue;
use crate::registry::Registry;
use crate::resource::SchemaSource;

/// The hash of a document's text, as it stands in `ETag` and in addresses: SHA-512 in upper-case hex digits.
pub(crate) fn hash(text: &[u8]) -> String {
    Sha512::digest(text).iter().fold(String::with_capacity(128), |mut hex, byte| {
        // Writing to a string can't fail.
        let _ = write!(hex, "{byte:02X}");
        hex
    })
}

/// A hash that changes when the document of a group version does, without making the document.
///
/// Built-in kinds change with the Kubernetes version and this program's; custom ones with what their definitions say.
pub(super) fn of_group_version(registry: &Registry, group: &str, version: &str) -> String {
    let mut text = format!("{}\n{}\n{group}/{version}\n", catalogue().version, env!("CARGO_PKG_VERSION"));
    for resource in registry.custom() {
        if resource.group == group && resource.version == version {
            // Neither names nor flags hold line ends, so that no two definitions give the same text.
            let _ = writeln!(text, "{}\n{}\n{}", resource.plural, resource.kind, resource.list_kind);
            let _ = writeln!(text, "{}\n{:?}", resource.namespaced, resource.subresources);
            if let SchemaSource::Inline(schema) = &resource.schema {
                text.push_str(&published(schema).to_string());
            }
        }
    }
    hash(text.as_bytes())
}
