//! A controller without a kind of its own is nobody's owner.

use controller_runtime_controller::{Controller, Watch, handler};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};

fn main() {
    let watching = Controller::for_keys("example").watches_with(Watch::<ConfigMap>::new(), handler::itself());
    let _ = watching.owns::<Secret>();
}
