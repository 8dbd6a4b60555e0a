//! An operator for the custom resource `Database`, run against the cluster of the usual kubeconfig:
//! `cargo run --example database`. `cargo xtask demo` runs the same operator with everything around it.

mod operator;

use controller_runtime::prelude::*;

#[tokio::main]
async fn main() -> Result<()> {
    init_logs(LogFormat::Human)?;
    let manager = Manager::builder(Config::infer().await?).build().await?;
    operator::add_to(&manager)?;
    manager.start(shutdown_signals()).await?;
    Ok(())
}
