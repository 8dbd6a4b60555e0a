use crate::field_error::FieldError;

/// What validating a value against one schema gave.
#[derive(Default)]
pub(super) struct Outcome {
    failures: Vec<Failure>,
    /// How many checks were made and passed; tells which alternative of anyOf and oneOf came closest.
    pub(super) matches: usize,
}

pub(super) struct Failure {
    pub(super) error: FieldError,
    /// The validator's own message, by which doubles are known.
    pub(super) message: String,
}

impl Outcome {
    pub(super) fn is_valid(&self) -> bool {
        self.failures.is_empty()
    }

    pub(super) fn add(&mut self, failure: Failure) {
        if !self.failures.iter().any(|known| known.message == failure.message) {
            self.failures.push(failure);
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.matches += other.matches;
        for failure in other.failures {
            self.add(failure);
        }
    }

    /// Drops what failed but keeps the count, for values that were already so before an update.
    pub(super) fn forgive(&mut self) {
        self.failures.clear();
    }

    pub(super) fn into_errors(self) -> Vec<FieldError> {
        self.failures.into_iter().map(|failure| failure.error).collect()
    }
}
