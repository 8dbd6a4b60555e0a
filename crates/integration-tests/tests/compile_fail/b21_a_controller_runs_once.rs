//! A controller is run once.

use controller_runtime_controller::{Controller, Host, Reconciler};
use k8s_openapi::api::core::v1::ConfigMap;

fn run<R: Reconciler<ConfigMap>>(first: R, second: R, host: &impl Host) {
    let controller = Controller::for_kind::<ConfigMap>();
    let _ = controller.run(first, host);
    let _ = controller.run(second, host);
}

fn main() {}
