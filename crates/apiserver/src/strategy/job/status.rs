//! Rules for what a controller says of a job.

use std::collections::BTreeSet;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::super::fields::{at, items, number, text};
use super::super::rules::{Errors, non_negative_fields};
use super::indexes;

/// A job before and after a change of its status.
struct Change<'a> {
    new: &'a Value,
    old: &'a Value,
}

impl Change<'_> {
    fn new_status(&self, key: &str) -> &Value {
        at(at(self.new, "status"), key)
    }

    fn count(&self, key: &str) -> i64 {
        self.new_status(key).as_i64().unwrap_or_default()
    }

    fn is(&self, condition: &str) -> bool {
        holds(self.new, condition, "True")
    }

    fn changes(&self, condition: &str) -> bool {
        self.is(condition) != holds(self.old, condition, "True")
    }

    fn differs(&self, key: &str) -> bool {
        self.new_status(key) != at(at(self.old, "status"), key)
    }

    fn is_finished(&self) -> bool {
        self.is("Complete") || self.is("Failed")
    }

    fn finishes(&self) -> bool {
        self.is_finished() != (holds(self.old, "Complete", "True") || holds(self.old, "Failed", "True"))
    }
}

fn holds(job: &Value, condition: &str, status: &str) -> bool {
    let is = |other: &Value| text(other, "type") == condition && text(other, "status") == status;
    items(job, "status.conditions").iter().any(is)
}

/// Rules for a changed status.
pub(super) fn validate(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    let change = Change { new, old };
    let path = FieldPath::new("status");
    let counts = ["active", "succeeded", "failed", "ready", "terminating"];
    non_negative_fields(at(new, "status"), &path, &counts, &mut errors);
    uncounted(new, &path.child("uncountedTerminatedPods"), &mut errors);
    conditions(&change, &path.child("conditions"), &mut errors);
    times(&change, &path, &mut errors);
    finished(&change, &path, &mut errors);
    index_texts(&change, &path, &mut errors);
    let ready = change.count("ready");
    if (change.differs("ready") || change.differs("active")) && ready > change.count("active") {
        errors.push(FieldError::invalid(&path.child("ready"), ready, "cannot set more ready pods than active"));
    }
    counters(&change, &path, &mut errors);
    errors
}

/// Pods that are counted later are named once.
fn uncounted(job: &Value, path: &FieldPath, errors: &mut Errors) {
    let mut seen = BTreeSet::new();
    for list in ["succeeded", "failed"] {
        let pods = at(job, "status.uncountedTerminatedPods");
        for (index, uid) in items(pods, list).iter().enumerate() {
            let path = path.child(list).index(index);
            let uid = uid.as_str().unwrap_or_default();
            if uid.is_empty() {
                errors.push(FieldError::invalid(&path, uid, "must not be empty"));
            } else if !seen.insert(uid) {
                errors.push(FieldError::duplicate(&path, uid));
            }
        }
    }
}

fn invalid_whole(path: &FieldPath, detail: &str, errors: &mut Errors) {
    let mut error = FieldError::invalid(path, Value::Null, detail);
    error.value = None;
    errors.push(error);
}

fn conditions(change: &Change<'_>, path: &FieldPath, errors: &mut Errors) {
    let (complete, failed) = (change.is("Complete"), change.is("Failed"));
    let (target, met) = (change.is("FailureTarget"), change.is("SuccessCriteriaMet"));
    let mut check = |wrong: bool, detail: &str| {
        if wrong {
            invalid_whole(path, detail, errors);
        }
    };
    let (completes, fails) = (change.changes("Complete"), change.changes("Failed"));
    check((completes || fails) && complete && failed, "cannot set Complete=True and Failed=true conditions");
    check(
        (completes || change.changes("FailureTarget")) && complete && target,
        "cannot set Complete=True and FailureTarget=true conditions",
    );
    check(
        (fails || change.differs("failedIndexes")) && failed && !target,
        "cannot set Failed=True condition without the FailureTarget=true condition",
    );
    check(
        (completes || change.changes("SuccessCriteriaMet")) && complete && !met,
        "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
    );
    check(met && failed, "cannot set SuccessCriteriaMet=True and Failed=true conditions");
    check(met && target, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions");
    check(
        !at(change.new, "spec.successPolicy").is_null() && !met && complete,
        "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True",
    );
    for condition in ["Failed", "Complete", "FailureTarget"] {
        let was = holds(change.old, condition, "True");
        check(was && !change.is(condition), &format!("cannot disable the terminal {condition}=True condition"));
    }
    let was_met = holds(change.old, "SuccessCriteriaMet", "True");
    check(was_met && !met, "cannot disable the SuccessCriteriaMet=True condition");
    check(
        holds(change.old, "Complete", "True") && !was_met && met,
        "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions",
    );
}

fn times(change: &Change<'_>, path: &FieldPath, errors: &mut Errors) {
    let (start, end) = (change.new_status("startTime"), change.new_status("completionTime"));
    let end_path = path.child("completionTime");
    let ends = change.changes("Complete") || change.differs("completionTime");
    let starts = change.differs("startTime");
    if ends && !end.is_null() && !change.is("Complete") {
        let detail = "cannot set completionTime when there is no Complete=True condition";
        errors.push(FieldError::invalid(&end_path, end.clone(), detail));
    }
    if ends && end.is_null() && change.is("Complete") {
        errors.push(FieldError::required(&end_path, "completionTime is required for Complete jobs"));
    }
    // Times are UTC without decimals here, and so ordered as texts.
    let is_before = end.as_str().zip(start.as_str()).is_some_and(|(end, start)| end < start);
    if (starts || change.differs("completionTime")) && is_before {
        errors.push(FieldError::invalid(&end_path, end.clone(), "must be equal to or after `startTime`"));
    }
    let before = at(change.old, "status.completionTime");
    if !end.is_null() && !before.is_null() && end != before {
        errors.push(FieldError::invalid(&end_path, end.clone(), "field is immutable"));
    }
    let resumes = holds(change.old, "Suspended", "True") && holds(change.new, "Suspended", "False");
    let suspended = at(change.new, "spec.suspend") == &Value::Bool(true);
    if starts && !resumes && !suspended && !at(change.old, "status.startTime").is_null() {
        let detail = "field is immutable for unsuspended job once set";
        errors.push(FieldError::invalid(&path.child("startTime"), start.clone(), detail));
    }
}

fn finished(change: &Change<'_>, path: &FieldPath, errors: &mut Errors) {
    if !change.is_finished() {
        return;
    }
    let finishes = change.finishes();
    for key in ["active", "terminating"] {
        let count = change.count(key);
        if (finishes || change.differs(key)) && count > 0 {
            let detail = format!("{key}>0 is invalid for finished job");
            errors.push(FieldError::invalid(&path.child(key), count, detail));
        }
    }
    let nothing_to_do =
        at(change.new, "spec.suspend") == &Value::Bool(true) && number(change.new, "spec.completions") == Some(0);
    if (finishes || change.differs("startTime")) && !nothing_to_do && change.new_status("startTime").is_null() {
        errors.push(FieldError::required(&path.child("startTime"), "startTime is required for finished job"));
    }
    let pods = change.new_status("uncountedTerminatedPods");
    let any = !items(pods, "failed").is_empty() || !items(pods, "succeeded").is_empty();
    if (finishes || change.differs("uncountedTerminatedPods")) && any {
        let path = path.child("uncountedTerminatedPods");
        errors.push(FieldError::invalid(&path, pods.clone(), "must be empty for finished job"));
    }
}

fn index_texts(change: &Change<'_>, path: &FieldPath, errors: &mut Errors) {
    let completions = number(change.new, "spec.completions");
    let (completed, failed) = (change.new_status("completedIndexes"), change.new_status("failedIndexes"));
    let per_index = !at(change.new, "spec.backoffLimitPerIndex").is_null();
    let mut check = |key: &str, text: &Value, wanted: bool| {
        let wrong = completions.zip(text.as_str()).and_then(|(most, text)| indexes::count(text, most).err());
        if let Some(error) = wrong.filter(|_| wanted && change.differs(key)) {
            let detail = format!("error parsing {key}: {error}");
            errors.push(FieldError::invalid(&path.child(key), text.clone(), detail));
        }
    };
    check("completedIndexes", completed, true);
    check("failedIndexes", failed, per_index);
    let (counts, counts_failed) = (change.differs("completedIndexes"), change.differs("failedIndexes"));
    if counts && !completed.is_null() && text(change.new, "spec.completionMode") != "Indexed" {
        let detail = "cannot set non-empty completedIndexes when non-indexed completion mode";
        errors.push(FieldError::invalid(&path.child("completedIndexes"), completed.clone(), detail));
    }
    if counts_failed && !failed.is_null() && !per_index {
        let detail = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
        errors.push(FieldError::invalid(&path.child("failedIndexes"), failed.clone(), detail));
    }
    if let (Some(completed), Some(text), Some(most), true) =
        (completed.as_str(), failed.as_str(), completions, counts || counts_failed)
        && let Some(index) = indexes::overlap(completed, text, most)
    {
        let detail = format!("failedIndexes and completedIndexes overlap at index: {index}");
        errors.push(FieldError::invalid(&path.child("failedIndexes"), text, detail));
    }
}

fn counters(change: &Change<'_>, path: &FieldPath, errors: &mut Errors) {
    let spec = at(change.new, "spec");
    let elastic = text(spec, "completionMode") == "Indexed" && at(spec, "completions") == at(spec, "parallelism");
    for (key, checked) in [("failed", true), ("succeeded", !elastic)] {
        let before = number(at(change.old, "status"), key).unwrap_or_default();
        if checked && change.count(key) < before {
            let detail = format!("cannot decrease the {key} counter");
            errors.push(FieldError::invalid(&path.child(key), change.count(key), detail));
        }
    }
}
