//! Formats with names: what Kubernetes demands of names, labels and the like.

use super::{Outcome, gives};
use crate::cel::value::{CelValue, Opaque};
use crate::validate::is_of_format;

const LABEL_TEXT: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
                          start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for \
                          validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN_TEXT: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
                              '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used \
                              for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_1035_TEXT: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an \
                               alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or \
                               'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const NAME_TEXT: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                         alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
                         '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_TEXT: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and \
                          must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', \
                          regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

const NAMES: [&str; 13] = [
    "dns1123Label",
    "dns1123Subdomain",
    "dns1035Label",
    "qualifiedName",
    "dns1123LabelPrefix",
    "dns1123SubdomainPrefix",
    "dns1035LabelPrefix",
    "labelValue",
    "uri",
    "uuid",
    "byte",
    "date",
    "datetime",
];

pub(super) fn call<'a>(function: &str, arguments: &[CelValue<'a>]) -> Outcome<'a> {
    match (function, arguments) {
        ("format.named", [CelValue::String(name)]) => {
            let known = NAMES.iter().find(|known| **known == name);
            gives(CelValue::Optional(known.map(|name| std::rc::Rc::new(CelValue::Opaque(Opaque::Format(name))))))
        }
        ("validate", [CelValue::Opaque(Opaque::Format(name)), CelValue::String(text)]) => {
            let wrong = violations(name, text);
            gives(if wrong.is_empty() {
                CelValue::Optional(None)
            } else {
                CelValue::some(CelValue::list(wrong.into_iter().map(CelValue::text).collect()))
            })
        }
        (_, []) => {
            let name = function.strip_prefix("format.")?;
            let known = NAMES.iter().find(|known| **known == name)?;
            gives(CelValue::Opaque(Opaque::Format(known)))
        }
        _ => None,
    }
}

fn violations(name: &str, text: &str) -> Vec<String> {
    let masked = |text: &str| match text.strip_suffix('-') {
        Some(stem) => format!("{stem}a"),
        None => text.to_owned(),
    };
    match name {
        "dns1123Label" => label(text),
        "dns1123LabelPrefix" => label(&masked(text)),
        "dns1123Subdomain" => subdomain(text),
        "dns1123SubdomainPrefix" => subdomain(&masked(text)),
        "dns1035Label" => label_1035(text),
        "dns1035LabelPrefix" => label_1035(&masked(text)),
        "qualifiedName" => qualified_name(text),
        "labelValue" => {
            let mut wrong = longer(text, 63, "must be no more than 63 bytes");
            wrong.extend((!text.is_empty() && !is_name(text)).then(|| VALUE_TEXT.to_owned()));
            wrong
        }
        "uri" => {
            if is_of_format(text, "uri") {
                Vec::new()
            } else {
                vec!["invalid URI".to_owned()]
            }
        }
        "uuid" => {
            if is_of_format(text, "uuid") {
                Vec::new()
            } else {
                vec!["does not match the UUID format".to_owned()]
            }
        }
        "byte" => {
            if is_of_format(text, "byte") {
                Vec::new()
            } else {
                vec!["invalid base64".to_owned()]
            }
        }
        "date" => {
            if is_of_format(text, "date") {
                Vec::new()
            } else {
                vec!["invalid date".to_owned()]
            }
        }
        "datetime" => {
            if is_of_format(text, "date-time") {
                Vec::new()
            } else {
                vec!["invalid datetime".to_owned()]
            }
        }
        _ => Vec::new(),
    }
}

fn longer(text: &str, most: usize, why: &str) -> Vec<String> {
    if text.len() > most { vec![why.to_owned()] } else { Vec::new() }
}

fn is_label(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let (first, last) = (text.bytes().next(), text.bytes().next_back());
    first.is_some_and(inner) && last.is_some_and(inner) && text.bytes().all(|byte| inner(byte) || byte == b'-')
}

fn is_name(text: &str) -> bool {
    let (first, last) = (text.bytes().next(), text.bytes().next_back());
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    first.is_some_and(|byte| byte.is_ascii_alphanumeric())
        && last.is_some_and(|byte| byte.is_ascii_alphanumeric())
        && text.bytes().all(inner)
}

fn label(text: &str) -> Vec<String> {
    let mut wrong = longer(text, 63, "must be no more than 63 characters");
    wrong.extend((!is_label(text)).then(|| {
        if text.split('.').all(is_label) { "must not contain dots".to_owned() } else { LABEL_TEXT.to_owned() }
    }));
    wrong
}

fn subdomain(text: &str) -> Vec<String> {
    let mut wrong = longer(text, 253, "must be no more than 253 characters");
    wrong.extend((!text.split('.').all(is_label)).then(|| SUBDOMAIN_TEXT.to_owned()));
    wrong
}

fn label_1035(text: &str) -> Vec<String> {
    let mut wrong = longer(text, 63, "must be no more than 63 characters");
    let right = is_label(text) && text.starts_with(|first: char| first.is_ascii_lowercase());
    wrong.extend((!right).then(|| LABEL_1035_TEXT.to_owned()));
    wrong
}

fn qualified_name(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let name = match text.split_once('/') {
        Some((_, rest)) if rest.contains('/') => return vec![NAME_TEXT.to_owned()],
        Some((prefix, name)) => {
            if prefix.is_empty() {
                wrong.push("prefix part must be non-empty".to_owned());
            } else {
                wrong.extend(subdomain(prefix).into_iter().map(|why| format!("prefix part {why}")));
            }
            name
        }
        None => text,
    };
    if name.is_empty() {
        wrong.push("name part must be non-empty".to_owned());
    }
    wrong.extend(longer(name, 63, "name part must be no more than 63 bytes"));
    wrong.extend((!is_name(name)).then(|| NAME_TEXT.to_owned()));
    wrong
}
