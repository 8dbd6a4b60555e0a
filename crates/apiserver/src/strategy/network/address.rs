use std::net::IpAddr;

use controller_runtime_schema::{FieldError, FieldPath};

use crate::strategy::rules::Errors;

/// Addresses at which no endpoint can be reached by others.
pub(super) fn endpoint_ip(address: &str, path: &FieldPath, errors: &mut Errors) {
    let Ok(ip) = address.parse::<IpAddr>() else {
        errors.push(FieldError::invalid(path, address, "must be a valid IP address"));
        return;
    };
    let (link_local, link_local_multicast) = match ip {
        IpAddr::V4(ip) => (ip.is_link_local(), ip.octets().starts_with(&[224, 0, 0])),
        IpAddr::V6(ip) => (ip.is_unicast_link_local(), ip.segments()[0] & 0xff0f == 0xff02),
    };
    let problems = [
        (ip.is_unspecified(), format!("may not be unspecified ({address})")),
        (ip.is_loopback(), "may not be in the loopback range (127.0.0.0/8, ::1/128)".to_owned()),
        (link_local, "may not be in the link-local range (169.254.0.0/16, fe80::/10)".to_owned()),
        (link_local_multicast, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)".to_owned()),
    ];
    let found = problems.into_iter().filter(|(is, _)| *is);
    errors.extend(found.map(|(_, detail)| FieldError::invalid(path, address, detail)));
}
