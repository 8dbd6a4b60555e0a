//! The built-in kinds: what discovery says of them and what their schemas say, as generated from the reference control
//! plane. Nothing here knows how they behave; that is `strategy`.

mod absent;
mod built_in;
mod definitions;
mod go_fields;
mod resources;

use std::sync::LazyLock;

use controller_runtime_schema::Definitions;

pub(crate) use self::built_in::{BuiltInGroupVersion, BuiltInResource};
pub(crate) use self::definitions::definition_text;
pub(crate) use self::go_fields::{keeps_zero, written_as_null};
pub(crate) use self::resources::resources;

use self::built_in::Table;

/// All built-in kinds that this server serves.
#[derive(Debug)]
pub(crate) struct Catalogue {
    /// The Kubernetes version that the kinds are of, as in `v1.37.2`.
    pub(crate) version: String,
    /// The group versions in the order of discovery; the core group is first.
    pub(crate) group_versions: Vec<BuiltInGroupVersion>,
    /// The schemas, which are read when first asked for.
    pub(crate) definitions: Definitions,
}

/// The catalogue, which is read once per process, when first asked for.
pub(crate) fn catalogue() -> &'static Catalogue {
    static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(Catalogue::read);
    &CATALOGUE
}

impl Catalogue {
    fn read() -> Self {
        let mut table = Table::read();
        absent::remove(&mut table.group_versions);
        Self {
            version: table.version,
            group_versions: table.group_versions,
            definitions: Definitions::new(definition_text),
        }
    }

    /// Every resource with the group version it belongs to.
    pub(crate) fn resources(&self) -> impl Iterator<Item = (&BuiltInGroupVersion, &BuiltInResource)> {
        self.group_versions.iter().flat_map(|version| version.resources.iter().map(move |resource| (version, resource)))
    }
}

#[cfg(test)]
mod tests;
