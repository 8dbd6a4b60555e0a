//! Rules that many kinds share, with the reference's texts.

use std::net::{IpAddr, Ipv4Addr};
use std::ops::RangeInclusive;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::fields::{at, items};
use crate::metadata::names;

/// What is wrong with an object.
pub(crate) type Errors = Vec<FieldError>;

/// A number that must be 0 or more.
pub(crate) fn non_negative(value: &Value, path: &FieldPath, errors: &mut Errors) {
    if value.as_i64().is_some_and(|number| number < 0) {
        errors.push(FieldError::invalid(path, value.clone(), "must be greater than or equal to 0"));
    }
}

/// Numbers of an object that must be 0 or more.
pub(crate) fn non_negative_fields(object: &Value, path: &FieldPath, keys: &[&str], errors: &mut Errors) {
    for key in keys {
        non_negative(at(object, key), &path.child(key), errors);
    }
}

/// A field at a dotted path that an update must leave as it is.
pub(crate) fn immutable(new: &Value, old: &Value, path: &str, errors: &mut Errors) {
    let (new, old) = (at(new, path), at(old, path));
    if new != old {
        errors.push(FieldError::invalid(&FieldPath::new(path), new.clone(), "field is immutable"));
    }
}

/// A text that must be one of a few; the reference tells them in order.
pub(crate) fn one_of(value: &Value, path: &FieldPath, supported: &[&str], errors: &mut Errors) {
    let text = value.as_str().unwrap_or_default();
    if !supported.contains(&text) {
        errors.push(FieldError::not_supported(path, text, supported));
    }
}

/// A text that may be absent, and must be one of a few where it is given.
pub(crate) fn one_of_given(value: &Value, path: &FieldPath, supported: &[&str], errors: &mut Errors) {
    if !value.is_null() {
        one_of(value, path, supported, errors);
    }
}

/// Texts of an object that must not be empty.
pub(crate) fn required_texts(object: &Value, path: &FieldPath, keys: &[&str], errors: &mut Errors) {
    for key in keys {
        if at(object, key).as_str().unwrap_or_default().is_empty() {
            errors.push(FieldError::required(&path.child(key), ""));
        }
    }
}

/// A number that must be within a range, where it is given.
pub(crate) fn within(value: &Value, range: RangeInclusive<i64>, path: &FieldPath, errors: &mut Errors) {
    if value.as_i64().is_some_and(|number| !range.contains(&number)) {
        let detail = format!("must be between {} and {}, inclusive", range.start(), range.end());
        errors.push(FieldError::invalid(path, value.clone(), detail));
    }
}

/// The id of a user or group, where it is given.
pub(crate) fn user_or_group(id: &Value, path: &FieldPath, errors: &mut Errors) {
    within(id, 0..=i64::from(i32::MAX), path, errors);
}

/// A number that must be 1 or more.
pub(crate) fn positive(number: i64, path: &FieldPath, errors: &mut Errors) {
    if number <= 0 {
        errors.push(FieldError::invalid(path, number, "must be greater than zero"));
    }
}

/// An IP address in any form that isn't ambiguous.
pub(crate) fn ip_address(address: &str, path: &FieldPath, errors: &mut Errors) {
    let detail = match address.parse::<IpAddr>() {
        Ok(IpAddr::V6(address)) if address.to_ipv4_mapped().is_some() => "must not be an IPv4-mapped IPv6 address",
        Ok(_) => return,
        Err(_) if without_leading_zeros(address).parse::<Ipv4Addr>().is_ok() => "must not have leading 0s",
        Err(_) => "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
    };
    errors.push(FieldError::invalid(path, address, detail));
}

fn without_leading_zeros(address: &str) -> String {
    let stripped = |part: &str| match part.trim_start_matches('0') {
        "" if !part.is_empty() => "0".to_owned(),
        rest => rest.to_owned(),
    };
    address.split('.').map(stripped).collect::<Vec<_>>().join(".")
}

/// Texts of what is wrong with a name become errors on it.
pub(crate) fn named(value: &str, path: &FieldPath, texts: Vec<String>, errors: &mut Errors) {
    errors.extend(texts.into_iter().map(|text| FieldError::invalid(path, value, text)));
}

/// A number or a percentage, 0 or more.
pub(crate) fn count_or_percent(value: &Value, path: &FieldPath, errors: &mut Errors) {
    match value {
        Value::String(text) if percent(text).is_none() => errors.push(FieldError::invalid(
            path,
            value.clone(),
            "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex \
             used for validation is '[0-9]+%')",
        )),
        _ => non_negative(value, path, errors),
    }
}

/// A percentage of at most 100.
pub(crate) fn at_most_all(value: &Value, path: &FieldPath, errors: &mut Errors) {
    if value.as_str().and_then(percent).is_some_and(|percent| percent > 100) {
        errors.push(FieldError::invalid(path, value.clone(), "must not be greater than 100%"));
    }
}

/// The number, of whatever it is, in a number or percentage.
pub(crate) fn count_of(value: &Value) -> i64 {
    match value {
        Value::String(text) => percent(text).or_else(|| text.parse().ok()).unwrap_or_default(),
        _ => value.as_i64().unwrap_or_default(),
    }
}

fn percent(text: &str) -> Option<i64> {
    let digits = text.strip_suffix('%')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(i64::MAX))
}

/// The keys and values of labels.
pub(crate) fn labels(labels: &Value, path: &FieldPath, errors: &mut Errors) {
    for (key, value) in labels.as_object().into_iter().flatten() {
        named(key, path, names::qualified_name(key), errors);
        let value = value.as_str().unwrap_or_default();
        named(value, path, names::label_value(value), errors);
    }
}

/// A `LabelSelector`.
pub(crate) fn label_selector(selector: &Value, path: &FieldPath, errors: &mut Errors) {
    labels(at(selector, "matchLabels"), &path.child("matchLabels"), errors);
    for (index, requirement) in items(selector, "matchExpressions").iter().enumerate() {
        let path = path.child("matchExpressions").index(index);
        let given = !items(requirement, "values").is_empty();
        match at(requirement, "operator").as_str().unwrap_or_default() {
            "In" | "NotIn" if !given => errors.push(FieldError::required(
                &path.child("values"),
                "must be specified when `operator` is 'In' or 'NotIn'",
            )),
            "Exists" | "DoesNotExist" if given => errors.push(FieldError::forbidden(
                &path.child("values"),
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            )),
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            operator => {
                errors.push(FieldError::invalid(&path.child("operator"), operator, "not a valid selector operator"));
            }
        }
        let key = at(requirement, "key").as_str().unwrap_or_default();
        named(key, &path.child("key"), names::qualified_name(key), errors);
        for (index, value) in items(requirement, "values").iter().enumerate() {
            let value = value.as_str().unwrap_or_default();
            named(value, &path.child("values").index(index), names::label_value(value), errors);
        }
    }
}

/// Whether a `LabelSelector` selects labels; one that isn't there selects nothing.
pub(crate) fn selects(selector: &Value, labels: &Value) -> bool {
    if selector.is_null() {
        return false;
    }
    let equal = at(selector, "matchLabels").as_object().into_iter().flatten();
    let mut equal = equal.map(|(key, value)| labels.get(key) == Some(value));
    equal.all(|selected| selected)
        && items(selector, "matchExpressions").iter().all(|requirement| {
            let label = at(requirement, "key").as_str().and_then(|key| labels.get(key));
            let listed = || label.is_some_and(|label| items(requirement, "values").contains(label));
            match at(requirement, "operator").as_str().unwrap_or_default() {
                "In" => listed(),
                "NotIn" => !listed(),
                "Exists" => label.is_some(),
                "DoesNotExist" => label.is_none(),
                _ => false,
            }
        })
}

/// Whether a `LabelSelector` can be asked for what it selects.
pub(crate) fn is_valid_selector(selector: &Value) -> bool {
    let mut errors = Errors::new();
    label_selector(selector, &FieldPath::root(), &mut errors);
    errors.is_empty()
}

/// Whether a `LabelSelector` says nothing.
pub(crate) fn selects_everything(selector: &Value) -> bool {
    let says = |key: &str| match at(selector, key) {
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    };
    !says("matchLabels") && !says("matchExpressions")
}

/// Replica counts of a status that must not be greater than another count of it.
pub(crate) fn not_greater(status: &Value, keys: &[&str], most: &str, called: &str, errors: &mut Errors) {
    let limit = at(status, most).as_i64().unwrap_or_default();
    for key in keys {
        if at(status, key).as_i64().unwrap_or_default() > limit {
            let detail = format!("cannot be greater than {called}");
            let count = at(status, key).as_i64().unwrap_or_default();
            errors.push(FieldError::invalid(&FieldPath::new("status").child(key), count, detail));
        }
    }
}
