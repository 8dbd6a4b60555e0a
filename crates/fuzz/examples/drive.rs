//! Runs targets with inputs of a seed: `cargo xtask fuzz`.
//!
//! Arguments: the seed of chance, how many inputs each target gets, and the targets' names (all when there are none).

use std::process::ExitCode;

use controller_runtime_fuzz::{TARGETS, drive};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mut number = || arguments.next().and_then(|text| text.parse::<u64>().ok());
    let (Some(seed), Some(count)) = (number(), number()) else {
        eprintln!("usage: drive SEED COUNT [TARGET…]");
        return ExitCode::FAILURE;
    };
    let names: Vec<String> = arguments.collect();
    if let Some(unknown) = names.iter().find(|name| TARGETS.iter().all(|target| target.name != **name)) {
        eprintln!("no target {unknown}");
        return ExitCode::FAILURE;
    }
    for target in TARGETS.iter().filter(|target| names.is_empty() || names.iter().any(|name| name == target.name)) {
        println!("{}: {count} inputs of seed {seed}", target.name);
        drive(target, seed, usize::try_from(count).unwrap_or(usize::MAX));
    }
    ExitCode::SUCCESS
}
