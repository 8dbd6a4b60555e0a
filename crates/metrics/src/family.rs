use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::RwLock;
use prometheus_client::encoding::{EncodeMetric, MetricEncoder};
use prometheus_client::metrics::{MetricType, TypedMetric};

/// The labels of one series, in the order in which they are written.
pub(crate) type Labels = Vec<(&'static str, String)>;

/// Metrics of one name that differ in their labels, written in the order of the labels' values.
///
/// prometheus-client's own family keeps its series in a hash map, whose order differs from run to run.
pub(crate) struct Family<M> {
    series: Arc<RwLock<BTreeMap<Labels, M>>>,
    make: fn() -> M,
}

impl<M: Clone> Family<M> {
    pub(crate) fn new(make: fn() -> M) -> Self {
        Self { series: Arc::default(), make }
    }

    /// The series with `labels`; it exists from now on.
    pub(crate) fn with(&self, labels: &[(&'static str, &str)]) -> M {
        let labels: Labels = labels.iter().map(|(key, value)| (*key, (*value).to_owned())).collect();
        if let Some(metric) = self.series.read().get(&labels) {
            return metric.clone();
        }
        self.series.write().entry(labels).or_insert_with(self.make).clone()
    }
}

impl<M> Clone for Family<M> {
    fn clone(&self) -> Self {
        Self { series: self.series.clone(), make: self.make }
    }
}

impl<M> fmt::Debug for Family<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Family").field("series", &self.series.read().len()).finish_non_exhaustive()
    }
}

impl<M: EncodeMetric + TypedMetric> EncodeMetric for Family<M> {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        for (labels, metric) in self.series.read().iter() {
            metric.encode(encoder.encode_family(labels)?)?;
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        M::TYPE
    }

    fn is_empty(&self) -> bool {
        self.series.read().is_empty()
    }
}
