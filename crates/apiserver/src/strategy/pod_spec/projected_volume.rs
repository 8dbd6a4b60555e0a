//! Rules for volumes whose files come from several sources, and for those from the pod itself.

use std::collections::BTreeSet;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::super::fields::{Fields, at, is_given, items, number, text};
use super::super::rules::{Errors, label_selector, named, one_of, required_texts};
use super::environment::{field_reference, resource_reference};
use super::volume::{file_mode, file_path, key_to_path};
use crate::metadata::names;

const FIELDS: &[&str] =
    &["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];

const KEY_TYPES: &[&str] = &["RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"];

/// `DownwardAPIVolumeSource`.
pub(super) fn downward_api(source: &Value, path: &FieldPath, errors: &mut Errors) {
    file_mode(at(source, "defaultMode"), &path.child("defaultMode"), errors);
    for file in items(source, "items") {
        downward_file(file, path, errors);
    }
}

/// `DownwardAPIVolumeFile`; the reference tells no index.
fn downward_file(file: &Value, path: &FieldPath, errors: &mut Errors) {
    required_texts(file, path, &["path"], errors);
    file_path(text(file, "path"), &path.child("path"), errors);
    let (field, resource) = (at(file, "fieldRef"), at(file, "resourceFieldRef"));
    if !field.is_null() {
        field_reference(field, FIELDS, &path.child("fieldRef"), errors);
        if !resource.is_null() {
            let detail = "fieldRef and resourceFieldRef can not be specified simultaneously";
            errors.push(FieldError::invalid(path, "resource", detail));
        }
    } else if !resource.is_null() {
        resource_reference(resource, true, &path.child("resourceFieldRef"), errors);
    } else {
        errors.push(FieldError::required(path, "one of fieldRef and resourceFieldRef is required"));
    }
    file_mode(at(file, "mode"), &path.child("mode"), errors);
}

/// `ProjectedVolumeSource`.
pub(super) fn projected(source: &Value, path: &FieldPath, errors: &mut Errors) {
    file_mode(at(source, "defaultMode"), &path.child("defaultMode"), errors);
    let mut files = Files { path: path.clone(), taken: BTreeSet::new() };
    for (index, source) in items(source, "sources").iter().enumerate() {
        let path = path.child("sources").index(index);
        for kind in ["secret", "configMap"] {
            keys(at(source, kind), &path.child(kind), &mut files, errors);
        }
        for file in items(source, "downwardAPI.items") {
            downward_file(file, &path.child("downwardAPI"), errors);
            let target = text(file, "path");
            files.take(target, target, errors);
        }
        account_token(at(source, "serviceAccountToken"), &path.child("serviceAccountToken"), &files.path, errors);
        trust_bundle(at(source, "clusterTrustBundle"), &path.child("clusterTrustBundle"), &mut files, errors);
        certificate(at(source, "podCertificate"), &path.child("podCertificate"), &mut files, errors);
        if source.as_object().map_or(0, Fields::len) > 1 {
            errors.push(FieldError::forbidden(&path, "may not specify more than 1 volume type per source"));
        }
    }
}

/// The files of a projected volume, of which no two may have the same path.
struct Files {
    path: FieldPath,
    taken: BTreeSet<String>,
}

impl Files {
    fn take(&mut self, target: &str, named: &str, errors: &mut Errors) {
        if !target.is_empty() && !self.taken.insert(target.to_owned()) {
            errors.push(FieldError::invalid(&self.path, named, "conflicting duplicate paths"));
        }
    }
}

fn keys(source: &Value, path: &FieldPath, files: &mut Files, errors: &mut Errors) {
    if source.is_null() {
        return;
    }
    required_texts(source, path, &["name"], errors);
    for (index, item) in items(source, "items").iter().enumerate() {
        key_to_path(item, &path.child("items").index(index), errors);
        files.take(text(item, "path"), text(source, "name"), errors);
    }
}

fn account_token(token: &Value, path: &FieldPath, volume: &FieldPath, errors: &mut Errors) {
    if token.is_null() {
        return;
    }
    let expires = path.child("expirationSeconds");
    match number(token, "expirationSeconds") {
        None => errors.push(FieldError::required(&expires, "")),
        Some(seconds) if seconds < 600 => {
            errors.push(FieldError::invalid(&expires, seconds, "may not specify a duration less than 10 minutes"));
        }
        Some(seconds) if seconds > 1 << 32 => {
            let detail = "may not specify a duration larger than 2^32 seconds";
            errors.push(FieldError::invalid(&expires, seconds, detail));
        }
        Some(_) => {}
    }
    let target = text(token, "path");
    if target.is_empty() {
        errors.push(FieldError::required(&volume.child("path"), ""));
    } else {
        file_path(target, &volume.child("path"), errors);
    }
}

fn trust_bundle(bundle: &Value, path: &FieldPath, files: &mut Files, errors: &mut Errors) {
    if bundle.is_null() {
        return;
    }
    let (name, signer) = (at(bundle, "name").as_str(), at(bundle, "signerName").as_str());
    match (name, signer) {
        (Some(_), Some(_)) => {
            errors.push(FieldError::invalid(path, bundle.clone(), "only one of name and signerName may be used"));
        }
        (Some(name), None) => {
            let name_path = path.child("name");
            if name.is_empty() {
                errors.push(FieldError::required(&name_path, "must be a valid object name"));
            }
            for text in trust_bundle_name(name) {
                let detail = format!("not a valid clustertrustbundlename: {text}");
                errors.push(FieldError::invalid(&name_path, name, detail));
            }
            let selector = at(bundle, "labelSelector");
            if !selector.is_null() {
                let detail = "labelSelector must be unset if name is specified";
                errors.push(FieldError::invalid(&path.child("labelSelector"), selector.clone(), detail));
            }
        }
        (None, Some(signer)) => {
            let signer_path = path.child("signerName");
            if signer.is_empty() {
                errors.push(FieldError::required(&signer_path, "must be a valid signer name"));
            }
            signer_name(signer, &signer_path, errors);
            label_selector(at(bundle, "labelSelector"), &path.child("labelSelector"), errors);
        }
        (None, None) => errors.push(FieldError::required(path, "either name or signerName must be specified")),
    }
    required_texts(bundle, path, &["path"], errors);
    file_path(text(bundle, "path"), &path.child("path"), errors);
    files.take(text(bundle, "path"), text(bundle, "path"), errors);
}

/// Bundles of a signer have its name before theirs.
fn trust_bundle_name(name: &str) -> Vec<String> {
    match name.rsplit_once(':') {
        Some((_, rest)) => names::dns_subdomain(rest, false),
        None => names::dns_subdomain(name, false),
    }
}

fn certificate(certificate: &Value, path: &FieldPath, files: &mut Files, errors: &mut Errors) {
    if certificate.is_null() {
        return;
    }
    let signer = text(certificate, "signerName");
    signer_name(signer, &path.child("signerName"), errors);
    for key in at(certificate, "userAnnotations").as_object().into_iter().flat_map(Fields::keys) {
        domain_prefixed(&key.to_lowercase(), &path.child("userAnnotations"), errors);
    }
    one_of(at(certificate, "keyType"), &path.child("keyType"), KEY_TYPES, errors);
    if let Some(seconds) = number(certificate, "maxExpirationSeconds") {
        let path = path.child("maxExpirationSeconds");
        let host = signer.split('/').next().unwrap_or_default();
        let of_kubernetes = host == "kubernetes.io" || host.ends_with(".kubernetes.io");
        let most = if of_kubernetes { 86_400 } else { 91 * 86_400 };
        if seconds < 3600 {
            let detail = "if provided, maxExpirationSeconds must be >= 3600";
            errors.push(FieldError::invalid(&path, seconds, detail));
        }
        if seconds > most {
            let detail = format!("if provided, maxExpirationSeconds must be <= {most}");
            errors.push(FieldError::invalid(&path, seconds, detail));
        }
    }
    let targets = ["credentialBundlePath", "keyPath", "certificateChainPath"];
    for key in targets {
        let target = text(certificate, key);
        if !target.is_empty() {
            file_path(target, &path.child(key), errors);
            files.take(target, target, errors);
        }
    }
    if !targets.iter().any(|key| is_given(certificate, key)) {
        let detail = "specify at least one of credentialBundlePath, keyPath, and certificateChainPath";
        errors.push(FieldError::required(path, detail));
    }
}

fn domain_prefixed(key: &str, path: &FieldPath, errors: &mut Errors) {
    let texts = names::qualified_name(key);
    if texts.is_empty() && key.split('/').count() != 2 {
        let detail = "must be a domain-prefixed key (such as \"acme.io/foo\")";
        errors.push(FieldError::invalid(path, key, detail));
    }
    named(key, path, texts, errors);
}

/// The name of a signer of certificates, as in `example.com/signer-name`.
fn signer_name(signer: &str, path: &FieldPath, errors: &mut Errors) {
    if signer.is_empty() {
        errors.push(FieldError::required(path, ""));
        return;
    }
    let Some((domain, name)) = signer.split_once('/').filter(|(_, name)| !name.contains('/')) else {
        let detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        errors.push(FieldError::invalid(path, signer, detail));
        return;
    };
    let first_wrong = |value: &str, check: fn(&str, bool) -> Vec<String>, errors: &mut Errors| {
        let wrong = value.split('.').map(|label| (label, check(label, false))).find(|(_, texts)| !texts.is_empty());
        if let Some((label, texts)) = wrong {
            for text in texts {
                errors.push(FieldError::invalid(path, value, format!("validating label \"{label}\": {text}")));
            }
        }
    };
    first_wrong(domain, names::dns_label, errors);
    if !domain.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        errors.push(FieldError::invalid(path, domain, detail));
    }
    first_wrong(name, names::dns_subdomain, errors);
}
