//! Each option of a manager is set once: a second time would silently win over the first.

use controller_runtime_manager::{Manager, ManagerError};
use kube_client::Config;

async fn build(config: Config) -> Result<Manager, ManagerError> {
    Manager::builder(config).health_address(":8081").health_address(":8082").build().await
}

fn main() {}
