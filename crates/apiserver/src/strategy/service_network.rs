//! `networking.k8s.io/v1` IPAddress and ServiceCIDR: the networks of services, and the addresses that are taken.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::Strategy;
use super::cidr::Cidr;
use super::fields::{at, items, text};
use super::rules::{Errors, ip_address, named};
use crate::metadata::names;

/// What is special about addresses.
#[derive(Debug)]
pub(super) struct IpAddress;

impl Strategy for IpAddress {
    fn definition(&self) -> Option<&'static str> {
        Some("io.k8s.api.networking.v1.IPAddress")
    }

    fn validate_name(&self, name: &str, _prefix: bool) -> Vec<String> {
        let mut errors = Errors::new();
        ip_address(name, &FieldPath::root(), &mut errors);
        let canonical = name.parse::<std::net::IpAddr>().map(|address| address.to_string());
        match canonical {
            Ok(canonical) if errors.is_empty() && canonical != name => {
                vec![format!("must be in canonical form ({})", crate::status::quote(&canonical))]
            }
            _ => errors.into_iter().map(|error| error.detail).collect(),
        }
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        let parent = at(object, "spec.parentRef");
        let path = FieldPath::new("spec.parentRef");
        if parent.is_null() {
            errors.push(FieldError::required(&path, ""));
            return errors;
        }
        let group = text(parent, "group");
        if !group.is_empty() {
            named(group, &path.child("group"), names::dns_subdomain(group, false), &mut errors);
        }
        for (key, is_needed) in [("resource", true), ("name", true), ("namespace", false)] {
            match text(parent, key) {
                "" if is_needed => errors.push(FieldError::required(&path.child(key), "")),
                "" => {}
                name => named(name, &path.child(key), names::path_segment(name, false), &mut errors),
            }
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value, _subresource: Option<&str>) -> Errors {
        if at(new, "spec.parentRef") == at(old, "spec.parentRef") {
            return Errors::new();
        }
        // The reference shows no value here.
        vec![FieldError::invalid(&FieldPath::new("spec.parentRef"), Value::Null, "field is immutable")]
    }
}

/// Rules for `ServiceCIDR`.
pub(super) fn service_cidr(new: &Value, old: Option<&Value>) -> Errors {
    let mut errors = Errors::new();
    let path = FieldPath::new("spec.cidrs");
    let (blocks, before) = (items(new, "spec.cidrs"), old.map_or(&[][..], |old| items(old, "spec.cidrs")));
    let fixed =
        |index: usize, block: &Value| FieldError::invalid(&path.index(index), block.clone(), "field is immutable");
    match (before.len(), blocks.len()) {
        (0, _) => networks(blocks, &path, &mut errors),
        (one, other) if one == other => {
            let changed = blocks.iter().zip(before).enumerate().filter(|(_, (block, before))| block != before);
            errors.extend(changed.map(|(index, (block, _))| fixed(index, block)));
        }
        (1, 2) => {
            let changed = blocks.first().filter(|block| before.first() != Some(block));
            errors.extend(changed.map(|block| fixed(0, block)));
            networks(blocks, &path, &mut errors);
        }
        _ => errors.push(FieldError::invalid(&path, at(new, "spec.cidrs").clone(), "field is immutable")),
    }
    errors
}

fn networks(blocks: &[Value], path: &FieldPath, errors: &mut Errors) {
    if blocks.is_empty() {
        errors.push(FieldError::required(path, "at least one CIDR required"));
    }
    if blocks.len() > 2 {
        errors.push(FieldError::invalid(path, Value::Array(blocks.to_vec()), "may only hold up to 2 values"));
        return;
    }
    let texts = blocks.iter().filter_map(Value::as_str).enumerate();
    let mut read = Vec::new();
    for (index, text) in texts {
        let path = path.index(index);
        let before = errors.len();
        let Some(block) = Cidr::checked(text, &path, errors) else { continue };
        if errors.len() == before && block.to_string() != text {
            let canonical = crate::status::quote(&block.to_string());
            errors.push(FieldError::invalid(&path, text, format!("must be in canonical form ({canonical})")));
        }
        read.push(block);
    }
    if let [one, other] = read.as_slice()
        && one.is_ipv4() == other.is_ipv4()
    {
        let detail = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
        errors.push(FieldError::invalid(path, Value::Array(blocks.to_vec()), detail));
    }
}
