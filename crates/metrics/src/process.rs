use std::fmt;

use procfs::process::{LimitValue, Process};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

/// The names under which [`ProcessCollector`] shows its metrics, counters without their `_total`.
pub(crate) const NAMES: [&str; 7] = [
    "process_cpu_seconds",
    "process_max_fds",
    "process_open_fds",
    "process_resident_memory_bytes",
    "process_start_time_seconds",
    "process_virtual_memory_bytes",
    "process_virtual_memory_max_bytes",
];

/// What the kernel says of this process, read at each scrape.
#[derive(Debug)]
pub(crate) struct ProcessCollector;

impl Collector for ProcessCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        // A process that may not look at itself has no such metrics; the others stay.
        let Ok(process) = Process::myself() else { return Ok(()) };
        let mut gauge = |name, help, value: Option<f64>| match value {
            Some(value) => put(&mut encoder, name, help, &ConstGauge::new(value)),
            None => Ok(()),
        };
        if let Ok(stat) = process.stat() {
            let start = procfs::boot_time_secs().ok().map(|boot| number(boot) + seconds(stat.starttime));
            let resident = number(stat.rss.saturating_mul(procfs::page_size()));
            gauge("process_resident_memory_bytes", "Memory that is in RAM", Some(resident))?;
            gauge("process_virtual_memory_bytes", "Memory that is mapped", Some(number(stat.vsize)))?;
            gauge("process_start_time_seconds", "When the process started, in seconds since 1970", start)?;
        }
        let open = process.fd_count().ok().and_then(|open| u64::try_from(open).ok());
        gauge("process_open_fds", "Files that are open", open.map(number))?;
        if let Ok(limits) = process.limits() {
            let files = limit(limits.max_open_files.soft_limit);
            let memory = limit(limits.max_address_space.soft_limit);
            gauge("process_max_fds", "How many files may be open", Some(files))?;
            gauge("process_virtual_memory_max_bytes", "How much memory may be mapped", Some(memory))?;
        }
        match process.stat() {
            Ok(stat) => {
                let time = ConstCounter::new(seconds(stat.utime.saturating_add(stat.stime)));
                put(&mut encoder, "process_cpu_seconds", "CPU time used, by user and system", &time)
            }
            Err(_) => Ok(()),
        }
    }
}

fn put(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, metric: &impl EncodeMetric) -> fmt::Result {
    metric.encode(encoder.encode_descriptor(name, &format!("{help}."), None, metric.metric_type())?)
}

#[allow(clippy::cast_precision_loss, reason = "metrics are doubles; what the kernel counts here stays below 2^53")]
fn number(value: u64) -> f64 {
    value as f64
}

fn seconds(ticks: u64) -> f64 {
    number(ticks) / number(procfs::ticks_per_second().max(1))
}

/// Infinite where there is no limit.
fn limit(value: LimitValue) -> f64 {
    match value {
        LimitValue::Unlimited => f64::INFINITY,
        LimitValue::Value(value) => number(value),
    }
}

#[cfg(test)]
mod tests {
    use super::NAMES;
    use crate::{Format, Registry};

    #[test]
    fn every_metric_of_the_process_has_a_sane_value() {
        let registry = Registry::new();
        registry.register_process();
        let text = registry.encode(Format::PrometheusText).expect("it encodes");
        let value = |name: &str| -> f64 {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.unwrap_or_else(|| panic!("{name}: {text}")).parse().expect("a number")
        };
        for name in NAMES.into_iter().filter(|name| *name != "process_cpu_seconds") {
            assert!(value(name) > 0.0, "{name}: {text}");
        }
        assert!(value("process_cpu_seconds_total") >= 0.0);
        assert!(value("process_resident_memory_bytes") <= value("process_virtual_memory_bytes"));
        assert!(value("process_open_fds") <= value("process_max_fds"));
        assert!(value("process_start_time_seconds") > 1.7e9, "{text}");
    }
}
