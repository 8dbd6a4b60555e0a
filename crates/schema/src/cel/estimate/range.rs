/// A cost, or a size, that isn't known exactly: at least `min`, at most `max`. Arithmetic saturates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Estimate {
    pub(crate) min: u64,
    pub(crate) max: u64,
}

impl Estimate {
    /// Nothing is known.
    pub(crate) const UNKNOWN: Self = Self { min: 0, max: u64::MAX };

    /// From `min` to `max`.
    pub(crate) const fn between(min: u64, max: u64) -> Self {
        Self { min, max }
    }

    /// Exactly this.
    pub(crate) const fn fixed(value: u64) -> Self {
        Self { min: value, max: value }
    }

    #[must_use]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }

    #[must_use]
    pub(crate) fn times(self, other: Self) -> Self {
        Self { min: self.min.saturating_mul(other.min), max: self.max.saturating_mul(other.max) }
    }

    /// Each bound times `factor`, rounded up.
    #[must_use]
    pub(crate) fn scaled(self, factor: f64) -> Self {
        Self { min: scale(self.min, factor), max: scale(self.max, factor) }
    }

    /// What holds both.
    #[must_use]
    pub(crate) fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

/// Rounds up; a cast from a float saturates.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "cel-go computes costs in floats"
)]
fn scale(value: u64, factor: f64) -> u64 {
    (value as f64 * factor).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::Estimate;

    #[test]
    fn arithmetic_saturates_and_rounds_up() {
        let most = Estimate::UNKNOWN;
        assert_eq!(most.plus(Estimate::fixed(1)), Estimate::between(1, u64::MAX));
        assert_eq!(most.times(Estimate::fixed(3)), Estimate::between(0, u64::MAX));
        assert_eq!(most.scaled(2.0), most);
        assert_eq!(Estimate::fixed(11).scaled(0.1), Estimate::fixed(2));
        assert_eq!(Estimate::fixed(11).union(Estimate::fixed(2)), Estimate::between(2, 11));
    }
}
