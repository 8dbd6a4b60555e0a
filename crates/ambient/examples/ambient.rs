//! A run that repeats exactly: seeded, on one thread and on a paused clock.
//!
//! `cargo run -p controller-runtime-ambient --example ambient`

use std::time::Duration;

use controller_runtime_ambient::{Ambient, CancellationToken, TaskGroup};

/// Three tasks that sleep for random times, and what each says when it wakes up.
async fn run(ambient: Ambient) {
    let group = TaskGroup::new(&ambient, &CancellationToken::new());
    for i in 0..3 {
        let (ambient, token) = (ambient.clone(), group.token().clone());
        let pause = Duration::from_millis(ambient.random() % 1000);
        group.spawn("sleeper", async move {
            tokio::select! {
                biased;
                () = token.cancelled() => println!("{} task {i} is told to stop", ambient.now()),
                () = tokio::time::sleep(pause) => println!("{} task {i} is {}", ambient.now(), ambient.uuid()),
            }
        });
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    // Tasks have an owner, which tells them to stop and waits for them.
    group.shutdown().await;
}

fn main() -> std::io::Result<()> {
    for seed in [8, 8, 9] {
        println!("seed {seed}");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
        runtime.block_on(async { run(Ambient::seeded(seed)).await });
    }
    Ok(())
}
