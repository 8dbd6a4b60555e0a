use std::sync::Arc;

use prometheus_client::metrics::counter::Counter;

use crate::cache_size::{CacheSizes, CacheSnapshot};
use crate::family::{Family, Labels};
use crate::registry::Registry;

/// The families of all caches of a registry.
#[derive(Debug)]
pub(crate) struct CacheFamilies {
    lists: Family<Counter>,
    watches: Family<Counter>,
    skipped_objects: Family<Counter>,
    refused_reads: Family<Counter>,
    sizes: CacheSizes,
}

/// What a cache counts for one kind.
#[derive(Clone, Debug)]
pub struct CacheMetrics {
    lists: Counter,
    watches: Counter,
    skipped_objects: Counter,
    refused_reads: Counter,
    labels: Labels,
    sizes: CacheSizes,
}

impl CacheFamilies {
    pub(crate) fn new(registry: &Registry) -> Self {
        let family = |name: &str, help: &str| {
            let family = Family::new(Counter::default);
            registry.register_own(name, help, family.clone());
            family
        };
        Self {
            lists: family("controller_runtime_cache_lists", "Lists in pages that caches began, by kind"),
            watches: family("controller_runtime_cache_watches", "Watches that caches began, by kind"),
            skipped_objects: family(
                "controller_runtime_cache_undecodable_objects",
                "Objects received by caches that did not fit their type and were skipped, by kind",
            ),
            refused_reads: family(
                "controller_runtime_cache_undecodable_reads",
                "Reads of objects that exist and do not fit their type, by kind",
            ),
            sizes: CacheSizes::new(registry),
        }
    }

    pub(crate) fn of(&self, group: &str, version: &str, kind: &str) -> CacheMetrics {
        let labels = [("group", group), ("version", version), ("kind", kind)];
        CacheMetrics {
            lists: self.lists.with(&labels),
            watches: self.watches.with(&labels),
            skipped_objects: self.skipped_objects.with(&labels),
            refused_reads: self.refused_reads.with(&labels),
            labels: labels.iter().map(|(name, value)| (*name, (*value).to_owned())).collect(),
            sizes: self.sizes.clone(),
        }
    }
}

impl CacheMetrics {
    /// Lets scrapes ask `snapshot` what the cache holds. It gives `None` once the cache is gone, and is not asked again
    /// then. Several caches of a kind are summed; of their versions the lowest is shown.
    pub fn observe_with(&self, snapshot: impl Fn() -> Option<CacheSnapshot> + Send + Sync + 'static) {
        self.sizes.add(self.labels.clone(), Arc::new(snapshot));
    }

    /// A list in pages begins.
    pub fn list(&self) {
        self.lists.inc();
    }

    /// A watch begins, with or without the initial objects.
    pub fn watch(&self) {
        self.watches.inc();
    }

    /// An object was received that does not fit its type.
    pub fn skipped_object(&self) {
        self.skipped_objects.inc();
    }

    /// A read was refused, because its object does not fit its type.
    pub fn refused_read(&self) {
        self.refused_reads.inc();
    }
}

#[cfg(test)]
mod tests {
    use crate::{Format, Registry};

    #[test]
    fn a_cache_counts_by_kind() {
        let registry = Registry::new();
        registry.cache("", "v1", "Pod").skipped_object();
        registry.cache("", "v1", "Pod").skipped_object();
        let text = registry.encode(Format::PrometheusText).expect("it encodes");
        let lines: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
        insta::assert_snapshot!(lines.join("\n"), @r#"
        controller_runtime_cache_lists_total{group="",version="v1",kind="Pod"} 0
        controller_runtime_cache_watches_total{group="",version="v1",kind="Pod"} 0
        controller_runtime_cache_undecodable_objects_total{group="",version="v1",kind="Pod"} 2
        controller_runtime_cache_undecodable_reads_total{group="",version="v1",kind="Pod"} 0
        "#);
    }
}
