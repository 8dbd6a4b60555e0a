use parking_lot::Mutex;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};

/// A cryptographic generator, seeded by the machine or by a number.
#[derive(Debug)]
pub(crate) struct Random(Mutex<ChaCha12Rng>);

impl Random {
    pub(crate) fn system() -> Self {
        let mut seed = [0; 32];
        // A machine without entropy can't make uids or tokens that are worth anything.
        #[allow(clippy::expect_used, reason = "nothing can go on without entropy, and no input leads here")]
        getrandom::fill(&mut seed).expect("the operating system gives entropy");
        Self(Mutex::new(ChaCha12Rng::from_seed(seed)))
    }

    pub(crate) fn seeded(seed: u64) -> Self {
        Self(Mutex::new(ChaCha12Rng::seed_from_u64(seed)))
    }

    pub(crate) fn next(&self) -> u64 {
        self.0.lock().next_u64()
    }

    pub(crate) fn fill(&self, bytes: &mut [u8]) {
        self.0.lock().fill_bytes(bytes);
    }
}
