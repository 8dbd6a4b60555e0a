//! The formats that kube-apiserver checks in custom resources.

mod checksum;
mod network;
mod time;

use std::sync::LazyLock;

use regex::Regex;

/// Whether kube-apiserver checks a format; dashes in its name don't count.
pub(crate) fn is_known(format: &str) -> bool {
    check_of(format).is_some()
}

/// Whether a text has a format that is known.
pub(crate) fn is_of_format(text: &str, format: &str) -> bool {
    holds(format, text).unwrap_or(false)
}

/// Whether a text has a format, or `None` when the format isn't checked.
pub(super) fn holds(format: &str, text: &str) -> Option<bool> {
    Some(check_of(format)?(text))
}

fn check_of(format: &str) -> Option<fn(&str) -> bool> {
    let check: fn(&str) -> bool = match format.replace('-', "").as_str() {
        "bsonobjectid" => |text| text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "uri" => network::is_request_uri,
        "email" => network::is_email,
        "hostname" => network::is_hostname,
        "ipv4" => network::is_ipv4,
        "ipv6" => network::is_ipv6,
        "cidr" => network::is_cidr,
        "mac" => network::is_mac,
        "uuid" => |text| UUID.is_match(text),
        "uuid3" => |text| UUID3.is_match(text),
        "uuid4" => |text| UUID4.is_match(text),
        "uuid5" => |text| UUID5.is_match(text),
        "isbn" => |text| checksum::is_isbn10(text) || checksum::is_isbn13(text),
        "isbn10" => checksum::is_isbn10,
        "isbn13" => checksum::is_isbn13,
        "creditcard" => checksum::is_credit_card,
        "ssn" => |text| text.len() == 11 && SSN.is_match(text),
        "hexcolor" => |text| HEX_COLOR.is_match(text),
        "rgbcolor" => |text| RGB_COLOR.is_match(text),
        "byte" => |text| BASE64.is_match(text),
        "password" => |_| true,
        "date" => time::is_date,
        "datetime" => time::is_date_time,
        "duration" => time::is_duration,
        "k8sshortname" => |text| text.len() <= 63 && SHORT_NAME.is_match(text),
        "k8slongname" => |text| text.len() <= 253 && LONG_NAME.is_match(text),
        _ => return None,
    };
    Some(check)
}

/// Compiles an expression of this module; the tests compile every one.
fn fixed(pattern: &str) -> Regex {
    #[expect(clippy::unwrap_used, reason = "the expressions are constants, which the tests compile")]
    Regex::new(pattern).unwrap()
}

macro_rules! expressions {
    ($($name:ident = $pattern:expr;)*) => { $(static $name: LazyLock<Regex> = LazyLock::new(|| fixed($pattern));)* };
}

expressions! {
    UUID = "(?i)^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$";
    UUID3 = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$";
    UUID4 = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$";
    UUID5 = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$";
    SSN = "^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$";
    HEX_COLOR = "^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$";
    RGB_COLOR = r"^rgb\([\t\n\f\r ]*(CHANNEL)[\t\n\f\r ]*,[\t\n\f\r ]*(CHANNEL)[\t\n\f\r ]*,[\t\n\f\r ]*(CHANNEL)[\t\n\f\r ]*\)$"
        .replace("CHANNEL", "0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5]").as_str();
    BASE64 = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$";
    SHORT_NAME = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
    LONG_NAME = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
}

#[cfg(test)]
mod tests {
    use super::holds;

    #[test]
    fn formats_accept_and_refuse() {
        for (format, good, bad) in [
            ("bsonobjectid", "507f1f77bcf86cd799439011", "507f1f77bcf86cd79943901"),
            ("uri", "http://a.b/c?d", "a.b/c"),
            ("uri", "/only/a/path", "http://a b/"),
            ("email", "a@b.c", "a.b.c"),
            ("email", "Some One <a@b.c>", "<a@b.c"),
            ("hostname", "www.example.com", "www.example.c0m"),
            ("hostname", "localhost", "-a"),
            ("ipv4", "10.0.0.1", "10.0.0.256"),
            ("ipv4", "010.0.0.1", "10.0.0"),
            ("ipv6", "fe80::1", "10.0.0.1"),
            ("cidr", "10.0.0.0/8", "10.0.0.0"),
            ("cidr", "fe80::/64", "fe80::/129"),
            ("mac", "01:02:03:04:ab:cd", "01:02:03"),
            ("mac", "0102.0304.abcd", "01:02:03:04:ab:zz"),
            ("uuid", "123E4567-e89b-12d3-a456-426614174000", "123e4567"),
            ("uuid3", "bcd02e22-68f0-3046-a512-327cca9def8f", "bcd02e22-68f0-4046-a512-327cca9def8f"),
            ("uuid4", "025b0d74-00a2-4048-bf57-227c5111bb34", "025b0d74-00a2-4048-cf57-227c5111bb34"),
            ("uuid5", "886313e1-3b8a-5372-9b90-0c9aee199e5d", "886313e1-3b8a-4372-9b90-0c9aee199e5d"),
            ("isbn", "978-0321751041", "978-0321751042"),
            ("isbn10", "0321751043", "0321751044"),
            ("isbn13", "978-0321751041", "0321751043"),
            ("creditcard", "4111-1111-1111-1111", "4111-1111-1111-1112"),
            ("ssn", "111-11-1111", "111111111"),
            ("hexcolor", "#FFFFFF", "#FFFFF"),
            ("rgbcolor", "rgb(255, 1,99)", "rgb(256,1,99)"),
            ("byte", "aGVsbG8=", "aGVsbG8"),
            ("date", "2024-02-29", "2023-02-29"),
            ("date-time", "2014-12-15T19:30:20.000Z", "2014-12-15T24:30:20Z"),
            ("datetime", "2014-12-15t19:30:20+01:00", "2014-12-15"),
            ("duration", "22 ns", "soon"),
            ("duration", "1h15m30.918s", "1.5"),
            ("duration", "0", ""),
            ("k8s-short-name", "a-b", "A-b"),
            ("k8s-long-name", "a-b.c", "a..b"),
        ] {
            assert_eq!(holds(format, good), Some(true), "{format}: {good}");
            assert_eq!(holds(format, bad), Some(false), "{format}: {bad}");
        }
        assert_eq!(holds("password", ""), Some(true));
        assert_eq!(holds("unknown", ""), None);
    }
}
