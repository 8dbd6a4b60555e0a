use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tokio::time::Instant;

use crate::mutate::mutate;
use crate::target::Target;

/// What one input may take, at most. It is far above what any takes: machines are busy, and only growth without bound
/// has to be seen.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);

/// Gives `target` its seeds, then `count` inputs that came from them by chance. The same `seed` gives the same inputs.
///
/// Panics when the target does, or takes more than twenty seconds for one input; the report has the input, as a Rust
/// byte string.
pub fn drive(target: &Target, seed: u64, count: usize) {
    let mut chance = ChaCha8Rng::seed_from_u64(seed);
    let seeds = (target.seeds)();
    for input in &seeds {
        run(target, input);
    }
    for _ in 0..count {
        run(target, &mutate(&seeds, &mut chance));
    }
}

fn run(target: &Target, input: &[u8]) {
    let start = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    let shown = || input.escape_ascii().to_string();
    assert!(result.is_ok(), "{} fails on b\"{}\"", target.name, shown());
    let took = start.elapsed();
    assert!(took < PATIENCE, "{} takes {took:?} on b\"{}\"", target.name, shown());
}
