//! Rules for `spec.conversion`.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use crate::metadata::names;
use crate::status::quote;

pub(super) fn validate(conversion: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let strategy = conversion.get("strategy").and_then(Value::as_str).unwrap_or_default();
    match strategy {
        "" => errors.push(FieldError::required(&path.child("strategy"), "")),
        "None" | "Webhook" => {}
        other => errors.push(FieldError::not_supported(&path.child("strategy"), other, &["None", "Webhook"])),
    }
    let webhook = conversion.get("webhook").filter(|webhook| !webhook.is_null());
    let client = webhook.and_then(|webhook| webhook.get("clientConfig")).filter(|client| !client.is_null());
    let reviews = webhook.and_then(|webhook| webhook.get("conversionReviewVersions")).and_then(Value::as_array);
    let client_at = path.child("webhookClientConfig");
    let reviews_at = path.child("conversionReviewVersions");
    if strategy == "Webhook" {
        match client {
            None => errors.push(FieldError::required(&client_at, "required when strategy is set to Webhook")),
            Some(client) => validate_client(client, &client_at, &mut errors),
        }
        validate_reviews(reviews.map(Vec::as_slice).unwrap_or_default(), &reviews_at, &mut errors);
    } else {
        let detail = "should not be set when strategy is not set to Webhook";
        if client.is_some() {
            errors.push(FieldError::forbidden(&client_at, detail));
        }
        if reviews.is_some_and(|reviews| !reviews.is_empty()) {
            errors.push(FieldError::forbidden(&reviews_at, detail));
        }
    }
    errors
}

/// Rules for how a webhook is reached.
pub(crate) fn validate_client(client: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let given = |key: &str| client.get(key).filter(|value| !value.is_null());
    match (given("url").and_then(Value::as_str), given("service")) {
        (Some(url), None) => validate_url(url, &path.child("url"), errors),
        (None, Some(service)) => validate_service(service, &path.child("service"), errors),
        _ => errors.push(FieldError::required(path, "exactly one of url or service is required")),
    }
}

fn validate_url(url: &str, path: &FieldPath, errors: &mut Vec<FieldError>) {
    const FORM: &str = "; desired format: https://host[/path]";
    if url.starts_with(':') {
        let detail = format!("url must be a valid URL: parse {}: missing protocol scheme{FORM}", quote(url));
        errors.push(FieldError::required(path, detail));
        return;
    }
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    if scheme != "https" {
        errors.push(FieldError::invalid(path, scheme, format!("'https' is the only allowed URL scheme{FORM}")));
    }
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let authority = rest.split('/').next().unwrap_or_default();
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    if host.is_empty() || scheme.is_empty() {
        errors.push(FieldError::invalid(path, "", format!("host must be specified{FORM}")));
    }
    for (value, detail) in [
        (user, "user information is not permitted in the URL"),
        (fragment, "fragments are not permitted in the URL"),
        (query, "query parameters are not permitted in the URL"),
    ] {
        if !value.is_empty() {
            errors.push(FieldError::invalid(path, value, detail));
        }
    }
}

fn validate_service(service: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    // As in kube-apiserver, a missing name is reported for the namespace and the other way round.
    for (key, reported) in [("namespace", "name"), ("name", "namespace")] {
        if service.get(key).and_then(Value::as_str).is_none_or(str::is_empty) {
            errors.push(FieldError::required(&path.child(reported), ""));
        }
    }
    if let Some(port) = service.get("port").and_then(Value::as_i64).filter(|port| !(1..=65535).contains(port)) {
        let detail = "port is not valid: must be between 1 and 65535, inclusive";
        errors.push(FieldError::invalid(&path.child("port"), port, detail));
    }
    if let Some(url_path) = service.get("path").and_then(Value::as_str) {
        validate_path(url_path, &path.child("path"), errors);
    }
}

fn validate_path(url_path: &str, path: &FieldPath, errors: &mut Vec<FieldError>) {
    if url_path.is_empty() || url_path == "/" {
        return;
    }
    let inner = url_path.strip_prefix('/').unwrap_or_else(|| {
        errors.push(FieldError::invalid(path, url_path, "must start with a '/'"));
        // As in kube-apiserver, the first letter counts as the slash.
        let mut letters = url_path.chars();
        letters.next();
        letters.as_str()
    });
    let mut steps: Vec<&str> = inner.split('/').collect();
    if inner.ends_with('/') {
        steps.pop();
    }
    for (index, step) in steps.into_iter().enumerate() {
        if step.is_empty() {
            errors.push(FieldError::invalid(path, url_path, format!("segment[{index}] may not be empty")));
            continue;
        }
        for problem in names::dns_subdomain(step, false) {
            errors.push(FieldError::invalid(path, url_path, format!("segment[{index}]: {problem}")));
        }
    }
}

fn validate_reviews(versions: &[Value], path: &FieldPath, errors: &mut Vec<FieldError>) {
    if versions.is_empty() {
        errors.push(FieldError::required(path, ""));
        return;
    }
    for (index, version) in versions.iter().enumerate() {
        let at = path.index(index);
        if versions.iter().take(index).any(|earlier| earlier == version) {
            errors.push(FieldError::invalid(&at, version.clone(), "duplicate version"));
            continue;
        }
        for problem in names::dns_1035_label(version.as_str().unwrap_or_default(), false) {
            errors.push(FieldError::invalid(&at, version.clone(), problem));
        }
    }
    if !versions.iter().any(|version| matches!(version.as_str(), Some("v1" | "v1beta1"))) {
        errors.push(FieldError::invalid(path, versions.to_vec(), "must include at least one of v1, v1beta1"));
    }
}
