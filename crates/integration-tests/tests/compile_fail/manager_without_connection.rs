//! A manager is one of an API server: without a way to it there is no builder.

use controller_runtime_manager::{Manager, ManagerError};

async fn build() -> Result<Manager, ManagerError> {
    Manager::builder().health_address(":8081").build().await
}

fn main() {}
