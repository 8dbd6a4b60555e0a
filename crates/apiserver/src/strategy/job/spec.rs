//! Rules for the spec of a job, in a job and in the template of a cron job.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::super::fields::{at, number, text};
use super::super::pod_spec;
use super::super::rules::{Errors, named, non_negative_fields, one_of_given};
use super::policy;
use crate::metadata::names;

/// Indexes of which the server keeps track one by one.
const MANY: i64 = 100_000;
/// Most indexes at a time and failed ones, where there are more than those.
const MANY_AT_A_TIME: i64 = 10_000;

/// Rules for a `JobSpec` but for its selector.
pub(in crate::strategy) fn validate(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let counts = [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ];
    non_negative_fields(spec, path, &counts, errors);
    if !at(spec, "maxFailedIndexes").is_null() && at(spec, "backoffLimitPerIndex").is_null() {
        let detail = "when maxFailedIndexes is specified";
        errors.push(FieldError::required(&path.child("backoffLimitPerIndex"), detail));
    }
    if let Some(manager) = at(spec, "managedBy").as_str() {
        managed_by(manager, &path.child("managedBy"), errors);
    }
    completion_mode(spec, path, errors);
    if !at(spec, "podFailurePolicy").is_null() {
        policy::failure(spec, &path.child("podFailurePolicy"), errors);
    }
    if !at(spec, "successPolicy").is_null() {
        policy::success(spec, &path.child("successPolicy"), errors);
    }
    let replacement = at(spec, "podReplacementPolicy");
    let replacements: &[&str] =
        if at(spec, "podFailurePolicy").is_null() { &["Failed", "TerminatingOrFailed"] } else { &["Failed"] };
    one_of_given(replacement, &path.child("podReplacementPolicy"), replacements, errors);
    pod_spec::template(at(spec, "template"), &path.child("template"), errors);
    restart_policy(spec, &path.child("template.spec.restartPolicy"), errors);
}

fn restart_policy(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    match text(spec, "template.spec.restartPolicy") {
        "" | "Always" => errors.push(FieldError::required(path, "valid values: \"OnFailure\", \"Never\"")),
        "OnFailure" if !at(spec, "podFailurePolicy").is_null() => {
            let detail = "only \"Never\" is supported when podFailurePolicy is specified";
            errors.push(FieldError::invalid(path, "OnFailure", detail));
        }
        "OnFailure" | "Never" => {}
        policy => errors.push(FieldError::not_supported(path, policy, &["OnFailure", "Never"])),
    }
}

fn managed_by(manager: &str, path: &FieldPath, errors: &mut Errors) {
    match manager.split_once('/') {
        _ if manager.is_empty() => errors.push(FieldError::required(path, "")),
        Some((host, rest)) if !host.is_empty() && !rest.is_empty() => {
            named(host, path, names::dns_subdomain(host, false), errors);
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~%!$&'()*+,;=:".contains(&byte);
            if !rest.bytes().all(allowed) {
                let detail = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";
                errors.push(FieldError::invalid(path, rest, detail));
            }
        }
        _ => {
            let detail = "must be a domain-prefixed path (such as \"acme.io/foo\")";
            errors.push(FieldError::invalid(path, manager, detail));
        }
    }
    if manager.len() > 63 {
        errors.push(FieldError::too_long(path, 63));
    }
}

fn completion_mode(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    match text(spec, "completionMode") {
        "Indexed" => indexed(spec, path, errors),
        "" | "NonIndexed" => {
            for key in ["backoffLimitPerIndex", "maxFailedIndexes"] {
                if !at(spec, key).is_null() {
                    let detail = "requires indexed completion mode";
                    errors.push(FieldError::invalid(&path.child(key), at(spec, key).clone(), detail));
                }
            }
        }
        mode => {
            errors.push(FieldError::not_supported(&path.child("completionMode"), mode, &["NonIndexed", "Indexed"]));
        }
    }
}

fn indexed(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let completions = number(spec, "completions");
    let parallelism = number(spec, "parallelism");
    let failed = number(spec, "maxFailedIndexes");
    let parallelism_path = path.child("parallelism");
    let failed_path = path.child("maxFailedIndexes");
    if completions.is_none() {
        errors.push(FieldError::required(&path.child("completions"), "when completion mode is Indexed"));
    }
    if let Some(parallelism) = parallelism.filter(|parallelism| *parallelism > MANY) {
        let detail = format!("must be less than or equal to {MANY} when completion mode is Indexed");
        errors.push(FieldError::invalid(&parallelism_path, parallelism, detail));
    }
    if let (Some(completions), Some(failed)) = (completions, failed)
        && failed > completions
    {
        errors.push(FieldError::invalid(&failed_path, failed, "must be less than or equal to completions"));
    }
    if let Some(failed) = failed.filter(|failed| *failed > MANY) {
        errors.push(FieldError::invalid(&failed_path, failed, format!("must be less than or equal to {MANY}")));
    }
    if completions.is_none_or(|completions| completions <= MANY) || at(spec, "backoffLimitPerIndex").is_null() {
        return;
    }
    if failed.is_none() {
        let detail = format!("must be specified when completions is above {MANY}");
        errors.push(FieldError::required(&failed_path, detail));
    }
    let detail = format!(
        "must be less than or equal to {MANY_AT_A_TIME} when completions are above {MANY} and used with backoff limit \
         per index"
    );
    for (value, path) in [(parallelism, parallelism_path), (failed, failed_path)] {
        if let Some(value) = value.filter(|value| *value > MANY_AT_A_TIME) {
            errors.push(FieldError::invalid(&path, value, detail.as_str()));
        }
    }
}

/// What clients should know of a `JobSpec`.
pub(in crate::strategy) fn warnings(spec: &Value, path: &FieldPath) -> Vec<String> {
    let mut warnings = Vec::new();
    let number = |key: &str| number(spec, key).unwrap_or_default();
    let indexed = text(spec, "completionMode") == "Indexed";
    if indexed && number("completions") > MANY && number("parallelism") > MANY_AT_A_TIME {
        warnings.push(format!(
            "{path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, \
             Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
        ));
    }
    warnings.extend(pod_spec::warnings(at(spec, "template"), &path.child("template")));
    warnings
}
