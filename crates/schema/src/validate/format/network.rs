//! Names and addresses of hosts, resources and people.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::LazyLock;

use regex::Regex;

static HOSTNAME: LazyLock<Regex> = LazyLock::new(|| {
    super::fixed(
        r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$",
    )
});

/// RFC 1034, with digits first (RFC 1123) and symbols allowed.
pub(super) fn is_hostname(text: &str) -> bool {
    text.len() <= 255 && text.split('.').all(|label| label.len() <= 63) && HOSTNAME.is_match(text)
}

/// Four numbers; leading zeros are tolerated, as they always were.
pub(super) fn is_ipv4(text: &str) -> bool {
    sloppy_ipv4(text) || (text.contains('.') && text.parse::<Ipv6Addr>().is_ok())
}

fn sloppy_ipv4(text: &str) -> bool {
    let mut count = 0;
    for part in text.split('.') {
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let value = part.trim_start_matches('0');
        if !digits || (!value.is_empty() && value.parse::<u8>().is_err()) {
            return false;
        }
        count += 1;
    }
    count == 4
}

pub(super) fn is_ipv6(text: &str) -> bool {
    text.contains(':') && text.parse::<Ipv6Addr>().is_ok()
}

pub(super) fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else { return false };
    let most = match address.parse::<IpAddr>() {
        Ok(IpAddr::V6(_)) => 128,
        Ok(IpAddr::V4(_)) => 32,
        Err(_) if sloppy_ipv4(address) => 32,
        Err(_) => return false,
    };
    !bits.is_empty()
        && bits.bytes().all(|byte| byte.is_ascii_digit())
        && bits.parse::<u32>().is_ok_and(|bits| bits <= most)
}

/// 6, 8 or 20 bytes: pairs of digits with colons or dashes, or fours with dots.
pub(super) fn is_mac(text: &str) -> bool {
    let groups = |separator: char, size: usize| {
        let parts: Vec<&str> = text.split(separator).collect();
        let valid = parts.iter().all(|part| part.len() == size && part.bytes().all(|byte| byte.is_ascii_hexdigit()));
        valid && matches!(parts.len() * size / 2, 6 | 8 | 20)
    };
    groups(':', 2) || groups('-', 2) || groups('.', 4)
}

/// An absolute URI or an absolute path, without a fragment's meaning, as it stands in a request line.
pub(super) fn is_request_uri(text: &str) -> bool {
    if text.is_empty() || text.bytes().any(|byte| byte.is_ascii_control()) {
        return false;
    }
    if text == "*" {
        return true;
    }
    let (scheme, rest) = match scheme_of(text) {
        Some(Ok(split)) => split,
        Some(Err(())) => return false,
        None => ("", text),
    };
    let path = rest.split('?').next().unwrap_or_default();
    if !path.starts_with('/') {
        // `mailto:a@b` is opaque; a relative path without a scheme is refused.
        return !scheme.is_empty();
    }
    match path.strip_prefix("//") {
        Some(after) if !scheme.is_empty() || !path.starts_with("///") => {
            let (authority, path) = after.split_at(after.find('/').unwrap_or(after.len()));
            is_authority(authority) && escapes_are_complete(path)
        }
        _ => escapes_are_complete(path),
    }
}

/// The scheme and what follows it; `Some(Err)` when there is a colon that a scheme can't precede.
fn scheme_of(text: &str) -> Option<Result<(&str, &str), ()>> {
    for (index, c) in text.char_indices() {
        match c {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if index > 0 => {}
            ':' if index > 0 => {
                return Some(
                    Ok(text.split_at(index)).map(|(scheme, rest)| (scheme, rest.get(1..).unwrap_or_default())),
                );
            }
            ':' => return Some(Err(())),
            _ => return None,
        }
    }
    None
}

fn is_authority(authority: &str) -> bool {
    let host = match authority.rsplit_once('@') {
        Some((user, host)) => {
            let allowed = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
            if !user.chars().all(allowed) || !escapes_are_complete(user) {
                return false;
            }
            host
        }
        None => authority,
    };
    if let Some(literal) = host.strip_prefix('[') {
        return literal.split_once(']').is_some_and(|(_, port)| is_port(port));
    }
    let (name, port) = host.rfind(':').map_or((host, ""), |colon| host.split_at(colon));
    let allowed = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:[]<>\"%".contains(c);
    name.chars().all(allowed) && is_port(port)
}

fn is_port(port: &str) -> bool {
    port.is_empty() || port.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn escapes_are_complete(text: &str) -> bool {
    text.split('%').skip(1).all(|after| {
        let mut bytes = after.bytes();
        bytes.next().is_some_and(|byte| byte.is_ascii_hexdigit())
            && bytes.next().is_some_and(|byte| byte.is_ascii_hexdigit())
    })
}

/// One address of RFC 5322, with or without a name before it.
pub(super) fn is_email(text: &str) -> bool {
    let text = text.trim_matches([' ', '\t']);
    let address = match text.strip_suffix('>') {
        Some(open) => match open.rsplit_once('<') {
            Some((name, address)) if is_display_name(name.trim_matches([' ', '\t'])) => address,
            _ => return false,
        },
        None => text,
    };
    address.rsplit_once('@').is_some_and(|(local, domain)| is_local_part(local) && is_mail_domain(domain))
}

fn is_atom_char(c: char) -> bool {
    !c.is_ascii() || c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c)
}

fn is_dot_atom(text: &str) -> bool {
    text.split('.').all(|atom| !atom.is_empty() && atom.chars().all(is_atom_char))
}

fn is_quoted(text: &str) -> bool {
    let Some(inner) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else { return false };
    let mut escaped = false;
    for c in inner.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return false,
            c if c.is_ascii_control() && c != '\t' => return false,
            _ => {}
        }
    }
    !escaped
}

fn is_local_part(text: &str) -> bool {
    is_dot_atom(text) || (is_quoted(text) && text.len() > 2)
}

fn is_mail_domain(text: &str) -> bool {
    match text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        Some(literal) => literal.parse::<IpAddr>().is_ok(),
        None => is_dot_atom(text),
    }
}

fn is_display_name(text: &str) -> bool {
    text.is_empty()
        || is_quoted(text)
        || text.split([' ', '\t']).all(|word| word.is_empty() || word.chars().all(|c| is_atom_char(c) || c == '.'))
}
