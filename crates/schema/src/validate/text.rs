use super::{Failure, Outcome, Trail, Validator, format};
use crate::field_error::FieldError;
use crate::schema::Schema;

impl Validator<'_> {
    /// Length and pattern; only the first that fails is reported.
    pub(super) fn text(&self, text: &str, schema: &Schema, trail: Trail<'_>, outcome: &mut Outcome) {
        let rules = &schema.validation;
        let length = || i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        if let Some(most) = rules.max_length.filter(|most| length() > *most) {
            let message = format!("{trail} in body should be at most {most} chars long");
            outcome.add(Failure { error: FieldError::too_long(&self.path(&trail), most), message });
            return;
        }
        if let Some(least) = rules.min_length.filter(|least| length() < *least) {
            let message = format!("{trail} in body should be at least {least} chars long");
            outcome.add(self.invalid(&trail, text, message));
            return;
        }
        let Some(pattern) = &rules.pattern else { return };
        match pattern.is_match(text) {
            Ok(true) => {}
            Ok(false) => {
                let message = format!("{trail} in body should match '{pattern}'");
                outcome.add(self.invalid(&trail, text, message));
            }
            Err(error) => {
                let message = format!("{trail} in body should match '{pattern}, but pattern is invalid: {error}'");
                outcome.add(self.invalid(&trail, text, message));
            }
        }
    }

    /// The format, where kube-apiserver knows how to check it.
    pub(super) fn format(&self, text: &str, schema: &Schema, trail: Trail<'_>, outcome: &mut Outcome) {
        let Some(format) = schema.checked_format() else { return };
        match format::holds(format, text) {
            None => {}
            Some(true) => outcome.matches += 1,
            Some(false) => {
                outcome.matches += 1;
                outcome.add(self.wrong_type(&trail, format, text));
            }
        }
    }
}
