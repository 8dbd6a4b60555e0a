//! What a host runs is started once.

use controller_runtime_ambient::CancellationToken;
use controller_runtime_controller::Runnable;

async fn run(runnable: Runnable, token: CancellationToken) {
    let _ = runnable.run(token.clone()).await;
    let _ = runnable.run(token).await;
}

fn main() {}
