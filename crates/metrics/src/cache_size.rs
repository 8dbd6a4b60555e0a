use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use prometheus_client::encoding::{EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;

use crate::family::Labels;
use crate::registry::Registry;

/// What a cache holds of one kind at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheSnapshot {
    /// How many objects.
    pub objects: usize,
    /// How many bytes they have as JSON.
    pub bytes: usize,
    /// The version up to which it has seen all changes; 0 before it has its first list.
    pub resource_version: u64,
}

type Source = Arc<dyn Fn() -> Option<CacheSnapshot> + Send + Sync>;

/// Who is asked at a scrape. A kind may have more than one: typed, metadata only, or of some objects.
#[derive(Clone, Default)]
pub(crate) struct CacheSizes {
    sources: Arc<Mutex<Vec<(Labels, Source)>>>,
}

/// One gauge family over [`CacheSizes`].
#[derive(Clone)]
struct SizeGauge {
    sizes: CacheSizes,
    value: fn(&CacheSnapshot) -> usize,
}

/// How new the caches of a kind are: as new as the one that lags most.
#[derive(Clone)]
struct VersionGauge {
    sizes: CacheSizes,
}

impl CacheSizes {
    pub(crate) fn new(registry: &Registry) -> Self {
        let sizes = Self::default();
        let gauge = |value| SizeGauge { sizes: sizes.clone(), value };
        registry.register_own(
            "controller_runtime_cache_objects",
            "Objects that caches hold, by kind",
            gauge(|now| now.objects),
        );
        registry.register_own(
            "controller_runtime_cache_bytes",
            "Size as JSON of the objects that caches hold, estimated from a sample, by kind",
            gauge(|now| now.bytes),
        );
        registry.register_own(
            "controller_runtime_cache_resource_version",
            "Resource version up to which caches have seen all changes, by kind",
            VersionGauge { sizes: sizes.clone() },
        );
        sizes
    }

    pub(crate) fn add(&self, labels: Labels, source: Source) {
        self.sources.lock().push((labels, source));
    }

    /// What the caches hold now. Those that are gone are forgotten.
    fn collect(&self) -> BTreeMap<Labels, Vec<CacheSnapshot>> {
        // A source may take its owner's lock: it is not called under ours.
        let sources = self.sources.lock().clone();
        let mut found: BTreeMap<Labels, Vec<CacheSnapshot>> = BTreeMap::new();
        let mut gone = Vec::new();
        for (labels, source) in sources {
            match source() {
                Some(snapshot) => found.entry(labels).or_default().push(snapshot),
                None => gone.push(source),
            }
        }
        if !gone.is_empty() {
            self.sources.lock().retain(|(_, source)| !gone.iter().any(|gone| Arc::ptr_eq(gone, source)));
        }
        found
    }

    fn is_empty(&self) -> bool {
        self.sources.lock().is_empty()
    }
}

impl EncodeMetric for SizeGauge {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        for (labels, snapshots) in self.sizes.collect() {
            let sum: usize = snapshots.iter().map(self.value).sum();
            encoder.encode_family(&labels)?.encode_gauge(&(sum as u64))?;
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Gauge
    }

    fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }
}

impl EncodeMetric for VersionGauge {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        for (labels, snapshots) in self.sizes.collect() {
            let oldest = snapshots.iter().map(|now| now.resource_version).min().unwrap_or_default();
            encoder.encode_family(&labels)?.encode_gauge(&oldest)?;
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Gauge
    }

    fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }
}

impl fmt::Debug for CacheSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CacheSizes").field("sources", &self.sources.lock().len()).finish()
    }
}

impl fmt::Debug for SizeGauge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SizeGauge").field("sizes", &self.sizes).finish_non_exhaustive()
    }
}

impl fmt::Debug for VersionGauge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VersionGauge").field("sizes", &self.sizes).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::CacheSnapshot;
    use crate::{Format, Registry};

    #[test]
    fn sizes_are_summed_by_kind_while_their_caches_live() {
        let registry = Registry::new();
        let pods = registry.cache("", "v1", "Pod");
        let alive = Arc::new(());
        let snapshot = |objects, bytes, resource_version| CacheSnapshot { objects, bytes, resource_version };
        pods.observe_with(move || Some(snapshot(3, 300, 7)));
        registry.cache("", "v1", "Pod").observe_with({
            let alive = Arc::downgrade(&alive);
            move || alive.upgrade().map(|_| snapshot(2, 20, 5))
        });
        let lines = || {
            let text = registry.encode(Format::PrometheusText).expect("it encodes");
            let gauges = ["cache_objects{", "cache_bytes{", "cache_resource_version{"];
            let is_gauge = |line: &&str| gauges.iter().any(|gauge| line.contains(gauge));
            text.lines().filter(is_gauge).collect::<Vec<_>>().join("\n")
        };
        insta::assert_snapshot!(lines(), @r#"
        controller_runtime_cache_objects{group="",version="v1",kind="Pod"} 5
        controller_runtime_cache_bytes{group="",version="v1",kind="Pod"} 320
        controller_runtime_cache_resource_version{group="",version="v1",kind="Pod"} 5
        "#);
        drop(alive);
        insta::assert_snapshot!(lines(), @r#"
        controller_runtime_cache_objects{group="",version="v1",kind="Pod"} 3
        controller_runtime_cache_bytes{group="",version="v1",kind="Pod"} 300
        controller_runtime_cache_resource_version{group="",version="v1",kind="Pod"} 7
        "#);
    }
}
