use std::sync::atomic::{AtomicU64, Ordering};

use http::header::HeaderName;
use http::{HeaderMap, HeaderValue};

/// The header that names a request and its answer.
pub(super) const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

/// Gives every request an id that its answer carries. They count up in the form of UUIDs and aren't drawn from the
/// server's randomness, which names objects: a read must not change what the next object is called.
#[derive(Debug, Default)]
pub(super) struct AuditIds(AtomicU64);

impl AuditIds {
    /// The id that the client gave, or a new one.
    pub(super) fn of(&self, headers: &HeaderMap) -> HeaderValue {
        if let Some(given) = headers.get(AUDIT_ID).filter(|given| !given.is_empty()) {
            return given.clone();
        }
        let number = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        let text = format!("00000000-0000-4000-8000-{number:012x}");
        HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::{AUDIT_ID, AuditIds};

    #[test]
    fn an_id_is_the_clients_or_a_new_one() {
        let ids = AuditIds::default();
        let mut headers = HeaderMap::new();
        assert_eq!(ids.of(&headers), "00000000-0000-4000-8000-000000000001");
        assert_eq!(ids.of(&headers), "00000000-0000-4000-8000-000000000002");
        headers.insert(AUDIT_ID, "mine".parse().unwrap());
        assert_eq!(ids.of(&headers), "mine");
        headers.insert(AUDIT_ID, "".parse().unwrap());
        assert_eq!(ids.of(&headers), "00000000-0000-4000-8000-000000000003");
    }
}
