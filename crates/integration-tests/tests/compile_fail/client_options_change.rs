//! A client's options stay as they were built.

use std::time::Duration;

use controller_runtime_client::ClientOptions;

fn main() {
    let mut options = ClientOptions::builder().field_manager("test").build();
    options.timeout = Duration::from_secs(1);
}
