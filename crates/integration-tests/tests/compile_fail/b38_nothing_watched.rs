//! A controller that watches nothing cannot be run.

use controller_runtime_controller::{Controller, Host, Reconciler};
use controller_runtime_scheme::ObjectKey;

fn run(reconciler: impl Reconciler<ObjectKey>, host: &impl Host) {
    let _ = Controller::for_keys("example").run(reconciler, host);
}

fn main() {}
