use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use prometheus_client::encoding::{EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;

use crate::family::Labels;

/// Gives the series of one owner at the moment of the scrape, or `None` once the owner is gone.
pub(crate) type Source = Arc<dyn Fn() -> Option<Vec<(Labels, f64)>> + Send + Sync>;

/// A gauge family whose values are asked for when they are scraped, so that keeping them costs nothing in between.
#[derive(Clone, Default)]
pub(crate) struct ComputedGauges {
    sources: Arc<Mutex<BTreeMap<Labels, Source>>>,
}

impl ComputedGauges {
    /// Asks `source` from now on; a source that was there under the same labels is replaced.
    pub(crate) fn set(&self, owner: Labels, source: Source) {
        self.sources.lock().insert(owner, source);
    }

    /// All series of all owners that are there.
    pub(crate) fn collect(&self) -> Vec<(Labels, f64)> {
        // A source may take its owner's lock: it is not called under ours.
        let sources = self.sources.lock().clone();
        let (mut series, mut gone) = (Vec::new(), Vec::new());
        for (owner, source) in sources {
            match source() {
                Some(values) => series.extend(values),
                None => gone.push((owner, source)),
            }
        }
        let mut sources = self.sources.lock();
        for (owner, source) in gone {
            // Somebody may have set a new source meanwhile.
            if sources.get(&owner).is_some_and(|current| Arc::ptr_eq(current, &source)) {
                sources.remove(&owner);
            }
        }
        series
    }
}

impl fmt::Debug for ComputedGauges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ComputedGauges").field("sources", &self.sources.lock().len()).finish()
    }
}

impl EncodeMetric for ComputedGauges {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        for (labels, value) in self.collect() {
            encoder.encode_family(&labels)?.encode_gauge(&value)?;
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Gauge
    }

    fn is_empty(&self) -> bool {
        self.sources.lock().is_empty()
    }
}
