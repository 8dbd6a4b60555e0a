//! How long an embedded environment takes from the call to its first answer: median of 20 starts, at most 50 ms.

use std::process::ExitCode;
use std::time::Duration;

use controller_runtime_testenv::{Backend, Door, Environment};
use k8s_openapi::api::core::v1::Namespace;
use kube_client::Api;
use kube_client::api::ListParams;
use tokio::time::Instant;

const STARTS: usize = 20;
const AIM: Duration = Duration::from_millis(50);

#[tokio::main]
async fn main() -> ExitCode {
    let mut met = true;
    for door in [Door::InProcess, Door::Http, Door::Https] {
        let mut times = Vec::new();
        for _ in 0..STARTS {
            match start(door).await {
                Ok(time) => times.push(time),
                Err(error) => {
                    eprintln!("error: {error}");
                    return ExitCode::FAILURE;
                }
            }
        }
        times.sort();
        let [best, median, worst] =
            [0, STARTS / 2, STARTS - 1].map(|index| times.get(index).copied().unwrap_or_default());
        println!("{door:?}: median {median:.2?}, best {best:.2?}, worst {worst:.2?} of {STARTS} starts");
        met &= median <= AIM;
    }
    if met {
        ExitCode::SUCCESS
    } else {
        eprintln!("error: the aim is a median of at most {AIM:?}");
        ExitCode::FAILURE
    }
}

async fn start(door: Door) -> Result<Duration, Box<dyn std::error::Error>> {
    let begun = Instant::now();
    let env = Environment::builder().backend(Backend::Embedded).door(door).start().await?;
    Api::<Namespace>::all(env.kube_client()).list(&ListParams::default()).await?;
    let taken = begun.elapsed();
    env.stop().await?;
    Ok(taken)
}
