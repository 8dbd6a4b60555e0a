//! A type that does not state its kind has no verbs on the client itself: `Client::api` takes the kind at run time.

use controller_runtime_client::{Client, ClientError};
use controller_runtime_scheme::Unstructured;

async fn read(client: &Client) -> Result<Unstructured, ClientError> {
    client.get(("default", "one")).await
}

fn main() {}
