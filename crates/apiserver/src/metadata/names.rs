//! Rules for names: DNS subdomains, DNS labels, qualified names, path segments.
//!
//! Each function returns the texts of what is wrong, empty when the name is fine. With `prefix` a trailing dash is
//! allowed, as `generateName` may have.

const DNS_LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const DNS_SUBDOMAIN: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const DNS_1035: &str = "[a-z]([-a-z0-9]*[a-z0-9])?";
const QUALIFIED: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_VALUE: &str = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";

/// RFC 1123 subdomain, at most 253 characters: the rule for most names.
pub(crate) fn dns_subdomain(name: &str, prefix: bool) -> Vec<String> {
    let name = masked(name, prefix);
    let mut errors = too_long(&name, 253);
    if !name.split('.').all(is_dns_label) {
        errors.push(pattern_text(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
             start and end with an alphanumeric character",
            DNS_SUBDOMAIN,
            &["example.com"],
        ));
    }
    errors
}

/// RFC 1123 subdomain whose labels may have underscores, but not at the end: search paths of DNS.
pub(crate) fn dns_subdomain_with_underscore(name: &str) -> Vec<String> {
    let label = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
    let outer = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_label = |label: &str| {
        let bytes = label.strip_prefix('_').unwrap_or(label).as_bytes();
        bytes.first().is_some_and(|byte| outer(*byte))
            && bytes.last().is_some_and(|byte| outer(*byte))
            && bytes.iter().all(|byte| outer(*byte) || matches!(byte, b'-' | b'_'))
    };
    let mut errors = Vec::new();
    if name.len() > 253 {
        errors.push("must be no more than 253 characters".to_owned());
    }
    if !name.split('.').all(is_label) {
        errors.push(pattern_text(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and \
             must start and end with an alphanumeric character",
            &format!("{label}(\\.{label})*"),
            &["example.com"],
        ));
    }
    errors
}

/// RFC 1123 label, at most 63 characters: namespaces.
pub(crate) fn dns_label(name: &str, prefix: bool) -> Vec<String> {
    let name = masked(name, prefix);
    let mut errors = too_long(&name, 63);
    if !is_dns_label(&name) && name.split('.').all(is_dns_label) {
        errors.push("must not contain dots".to_owned());
    } else if !is_dns_label(&name) {
        errors.push(pattern_text(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and \
             end with an alphanumeric character",
            DNS_LABEL,
            &["my-name", "123-abc"],
        ));
    }
    errors
}

/// RFC 1035 label, at most 63 characters: services.
pub(crate) fn dns_1035_label(name: &str, prefix: bool) -> Vec<String> {
    let name = masked(name, prefix);
    let mut errors = too_long(&name, 63);
    if !is_dns_label(&name) || !name.starts_with(|first: char| first.is_ascii_lowercase()) {
        errors.push(pattern_text(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
             character, and end with an alphanumeric character",
            DNS_1035,
            &["my-name", "abc-123"],
        ));
    }
    errors
}

/// Anything that can be one segment of a path: roles and role bindings.
pub(crate) fn path_segment(name: &str, prefix: bool) -> Vec<String> {
    if !prefix && (name == "." || name == "..") {
        return vec![format!("may not be '{name}'")];
    }
    ["/", "%"].iter().filter(|bad| name.contains(**bad)).map(|bad| format!("may not contain '{bad}'")).collect()
}

/// A label or annotation key: a name, optionally with a DNS subdomain and a slash before it.
pub(crate) fn qualified_name(key: &str) -> Vec<String> {
    let mut errors = Vec::new();
    let mut parts = key.split('/');
    let (first, second, more) = (parts.next().unwrap_or_default(), parts.next(), parts.next().is_some());
    if more {
        let text = "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end \
                    with an alphanumeric character";
        errors.push(
            pattern_text(text, QUALIFIED, &["MyName", "my.name", "123-abc"])
                + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
        );
        return errors;
    }
    let name = match second {
        Some(name) => {
            if first.is_empty() {
                errors.push("prefix part must be non-empty".to_owned());
            } else {
                errors.extend(dns_subdomain(first, false).iter().map(|text| format!("prefix part {text}")));
            }
            name
        }
        None => first,
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        errors.push("name part must be no more than 63 bytes".to_owned());
    }
    if !is_qualified(name) {
        errors.push(pattern_text(
            "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
             alphanumeric character",
            QUALIFIED,
            &["MyName", "my.name", "123-abc"],
        ));
    }
    errors
}

/// A label's value.
pub(crate) fn label_value(value: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if value.len() > 63 {
        errors.push("must be no more than 63 bytes".to_owned());
    }
    if !value.is_empty() && !is_qualified(value) {
        errors.push(pattern_text(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
             start and end with an alphanumeric character",
            LABEL_VALUE,
            &["MyValue", "my_value", "12345"],
        ));
    }
    errors
}

fn masked(name: &str, prefix: bool) -> String {
    match name.strip_suffix('-') {
        Some(stem) if prefix && !stem.is_empty() => format!("{stem}a"),
        _ => name.to_owned(),
    }
}

fn too_long(name: &str, max: usize) -> Vec<String> {
    if name.len() > max { vec![format!("must be no more than {max} characters")] } else { Vec::new() }
}

fn is_dns_label(label: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = label.as_bytes();
    bytes.first().is_some_and(|byte| inner(*byte))
        && bytes.last().is_some_and(|byte| inner(*byte))
        && bytes.iter().all(|byte| inner(*byte) || *byte == b'-')
}

fn is_qualified(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

/// A reason of a condition.
pub(crate) fn condition_reason(reason: &str) -> Vec<String> {
    let bytes = reason.as_bytes();
    let is_one = bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.last().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b',' | b':'));
    if is_one {
        return Vec::new();
    }
    let text = "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric \
                characters or '_,:', and must end with an alphanumeric character or '_'";
    let examples = ["my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB"];
    vec![pattern_text(text, "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?", &examples)]
}

/// The text with which apimachinery reports a pattern that does not match.
fn pattern_text(text: &str, pattern: &str, examples: &[&str]) -> String {
    let examples: Vec<String> = examples.iter().map(|example| format!("'{example}'")).collect();
    let listed = examples.join(",  or ");
    format!("{text} (e.g. {listed}, regex used for validation is '{pattern}')")
}
