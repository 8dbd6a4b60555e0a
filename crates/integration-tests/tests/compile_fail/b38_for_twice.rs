//! A controller has one kind of its own.

use controller_runtime_controller::Controller;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};

fn main() {
    let _ = Controller::for_kind::<ConfigMap>().for_kind::<Secret>();
}
