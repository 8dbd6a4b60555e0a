//! `batch/v1` CronJob.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::fields::{Fields, at, set_default, text};
use super::rules::{Errors, non_negative_fields, one_of};
use super::{Strategy, job};
use crate::metadata::names;

/// The longest name that leaves room for the suffix of its jobs.
const MAX_NAME: usize = 52;

/// `CronJobSpec`.
pub(super) fn defaults(spec: &mut Fields) {
    set_default(spec, "concurrencyPolicy", "Allow");
    set_default(spec, "suspend", false);
    set_default(spec, "successfulJobsHistoryLimit", 3);
    set_default(spec, "failedJobsHistoryLimit", 1);
}

/// What is special about cron jobs.
#[derive(Debug)]
pub(super) struct CronJob;

impl Strategy for CronJob {
    fn definition(&self) -> Option<&'static str> {
        Some("io.k8s.api.batch.v1.CronJob")
    }

    fn tracks_generation(&self) -> bool {
        true
    }

    fn validate_name(&self, name: &str, prefix: bool) -> Vec<String> {
        let mut texts = names::dns_subdomain(name, prefix);
        if name.len() > MAX_NAME {
            texts.push(format!("must be no more than {MAX_NAME} characters"));
        }
        texts
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        let spec = at(object, "spec");
        let path = FieldPath::new("spec");
        let schedule = text(spec, "schedule");
        let schedule_path = path.child("schedule");
        if schedule.is_empty() {
            errors.push(FieldError::required(&schedule_path, ""));
        } else if let Some(detail) = bad_schedule(schedule) {
            errors.push(FieldError::invalid(&schedule_path, schedule, detail));
        }
        non_negative_fields(spec, &path, &["startingDeadlineSeconds"], &mut errors);
        let policies = ["Allow", "Forbid", "Replace"];
        one_of(at(spec, "concurrencyPolicy"), &path.child("concurrencyPolicy"), &policies, &mut errors);
        job::validate_spec(at(spec, "jobTemplate.spec"), &path.child("jobTemplate.spec"), &mut errors);
        let limits = ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"];
        non_negative_fields(spec, &path, &limits, &mut errors);
        errors
    }
}

/// What is wrong with a schedule: a known word, a period, or five fields.
fn bad_schedule(schedule: &str) -> Option<String> {
    if schedule.contains("TZ") {
        return Some("cannot use TZ or CRON_TZ in schedule, use timeZone field instead".to_owned());
    }
    if let Some(word) = schedule.strip_prefix('@') {
        let known = ["yearly", "annually", "monthly", "weekly", "daily", "midnight", "hourly"].contains(&word);
        let period = word.strip_prefix("every ").is_some_and(|period| !period.trim().is_empty());
        return (!known && !period).then(|| format!("unrecognized descriptor: {schedule}"));
    }
    let found = schedule.split_whitespace().count();
    (found != 5).then(|| format!("expected exactly 5 fields, found {found}: [{schedule}]"))
}
