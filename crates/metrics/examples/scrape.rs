//! A registry with metrics of a controller, of the process and of one's own, in both text formats.
//!
//! `cargo run -p controller-runtime-metrics --example scrape`

use std::time::Duration;

use controller_runtime_metrics::prometheus_client::metrics::counter::Counter;
use controller_runtime_metrics::{Format, Outcome, Registry};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let registry = Registry::new();
    registry.register_process();
    registry.register_short_names();
    let backups = Counter::<u64>::default();
    registry.register("backups", "Backups that were taken", backups.clone())?;

    let controller = registry.controller("databases", 4);
    let active = controller.started();
    backups.inc();
    controller.ended(Outcome::Success, Duration::from_millis(12));
    drop(active);

    for accept in [None, Some("application/openmetrics-text; version=1.0.0")] {
        let format = Format::from_accept(accept);
        let text = registry.encode(format)?;
        println!("--- {}", format.content_type());
        for line in text.lines().filter(|line| !line.contains("_bucket{") && !line.starts_with("# HELP")) {
            println!("{line}");
        }
    }
    Ok(())
}
