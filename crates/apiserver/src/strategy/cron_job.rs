//! `batch/v1` CronJob.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::fields::{Fields, at, set_default, text};
use super::rules::{Errors, non_negative_fields, one_of};
use super::workload::name_warning;
use super::{Strategy, StrategyContext, job, schedule};

/// The longest name that leaves room for the suffix of its jobs.
const MAX_NAME: usize = 52;

const JOB: &str = "spec.jobTemplate.spec";

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

    fn status_keeps_metadata(&self) -> bool {
        false
    }

    fn prepare_create(&self, object: &mut Value, _cx: &StrategyContext<'_>) {
        job::drop_disabled(object, JOB);
    }

    fn prepare_update(&self, new: &mut Value, _old: &Value, subresource: Option<&str>) {
        if subresource.is_none() {
            job::drop_disabled(new, JOB);
        }
    }

    fn warnings(&self, new: &Value, old: Option<&Value>) -> Vec<String> {
        let mut warnings = name_warning(new, old);
        if old.is_none_or(|old| at(old, "metadata.generation") != at(new, "metadata.generation")) {
            warnings.extend(job::spec_warnings(at(new, JOB), &FieldPath::new(JOB)));
        }
        if old.is_some() && text(new, "spec.schedule").contains("TZ") {
            warnings.push(
                "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see \
                 https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
                    .to_owned(),
            );
        }
        warnings
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        validate_spec(at(object, "spec"), None, &mut errors);
        let name = text(object, "metadata.name");
        if name.len() > MAX_NAME {
            let detail = format!("must be no more than {MAX_NAME} characters");
            errors.push(FieldError::invalid(&FieldPath::new("metadata.name"), name, detail));
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value, subresource: Option<&str>) -> Errors {
        let mut errors = Errors::new();
        if subresource.is_none() {
            validate_spec(at(new, "spec"), Some(at(old, "spec")), &mut errors);
        }
        errors
    }
}

fn validate_spec(spec: &Value, old: Option<&Value>, errors: &mut Errors) {
    let path = FieldPath::new("spec");
    let schedule = text(spec, "schedule");
    let schedule_path = path.child("schedule");
    let zone = at(spec, "timeZone");
    if schedule.is_empty() {
        errors.push(FieldError::required(&schedule_path, ""));
    } else {
        if let Err(error) = schedule::check(schedule) {
            errors.push(FieldError::invalid(&schedule_path, schedule, error));
        }
        let had_zone = old.is_some_and(|old| text(old, "schedule").contains("TZ"));
        if schedule.contains("TZ") && !had_zone {
            let detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
            errors.push(FieldError::invalid(&schedule_path, schedule, detail));
        } else if schedule.contains("TZ") && !zone.is_null() {
            let detail = "cannot use both timeZone field and TZ or CRON_TZ in schedule";
            errors.push(FieldError::invalid(&schedule_path, schedule, detail));
        }
    }
    non_negative_fields(spec, &path, &["startingDeadlineSeconds"], errors);
    if let Some(zone) = zone.as_str().filter(|_| old.is_none_or(|old| at(old, "timeZone") != zone)) {
        time_zone(zone, &path.child("timeZone"), errors);
    }
    let policies = ["Allow", "Forbid", "Replace"];
    one_of(at(spec, "concurrencyPolicy"), &path.child("concurrencyPolicy"), &policies, errors);
    let (job, job_path) = (at(spec, "jobTemplate.spec"), path.child("jobTemplate.spec"));
    job::validate_spec(job, &job_path, errors);
    let selector = at(job, "selector");
    if !selector.is_null() {
        let detail = "`selector` will be auto-generated";
        errors.push(FieldError::invalid(&job_path.child("selector"), selector.clone(), detail));
    }
    if at(job, "manualSelector") == &Value::Bool(true) {
        errors.push(FieldError::not_supported(&job_path.child("manualSelector"), true, &["nil", "false"]));
    }
    non_negative_fields(spec, &path, &["successfulJobsHistoryLimit", "failedJobsHistoryLimit"], errors);
}

/// A time zone by its name in the database of IANA.
fn time_zone(zone: &str, path: &FieldPath, errors: &mut Errors) {
    if zone.is_empty() {
        errors.push(FieldError::invalid(path, zone, "timeZone must be nil or non-empty string"));
        return;
    }
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'+');
    let is_part = |part: &str| {
        let length = (1..=14).contains(&part.len());
        length && part != "." && part != ".." && !part.starts_with('-') && part.bytes().all(allowed)
    };
    if !zone.split('/').all(is_part) {
        errors.push(FieldError::invalid(path, zone, format!("unknown time zone {zone}")));
        return;
    }
    if zone.eq_ignore_ascii_case("Local") {
        let detail = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
        errors.push(FieldError::invalid(path, zone, detail));
        if zone == "Local" {
            return;
        }
    }
    if zone != "UTC" && !schedule::is_zone(zone) {
        errors.push(FieldError::invalid(path, zone, format!("unknown time zone {zone}")));
    }
}
