//! A client needs both a server and options.

use controller_runtime_client::{Client, ClientError};

fn main() -> Result<(), ClientError> {
    let _client = Client::from_config(kube_client::Config::new("https://localhost".parse().unwrap()))?;
    Ok(())
}
