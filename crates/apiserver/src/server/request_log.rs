use std::collections::VecDeque;

use bytes::Bytes;
use parking_lot::Mutex;

/// One request that the server answered or is answering, as [`ApiServer::request_log`](crate::ApiServer::request_log)
/// returns it. Those of the server's own controllers are among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestRecord {
    /// HTTP method.
    pub method: String,
    /// Path, as it was sent.
    pub path: String,
    /// Query, as it was sent; empty without one.
    pub query: String,
    /// Name of the user; empty when the credentials were refused.
    pub user: String,
    /// `User-Agent`; empty without one.
    pub user_agent: String,
    /// `Content-Type` of the request; empty without one.
    pub content_type: String,
    /// Body of the request; empty when it was refused before it was read.
    pub body: Bytes,
    /// Status code of the response; `None` while there is none, or when the client went away before.
    pub code: Option<u16>,
}

/// The last requests in the order in which they were complete, with an upper bound on their number and on the bytes of
/// their bodies.
#[derive(Debug)]
pub(crate) struct RequestLog {
    capacity: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    records: VecDeque<RequestRecord>,
    /// Number of the first record in `records`, counted from the server's start.
    first: u64,
    body_bytes: usize,
}

/// Names a record until its response is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry(u64);

impl RequestLog {
    /// Bodies take at most this much memory together; older requests are forgotten beyond it.
    const MAX_BODY_BYTES: usize = 64 << 20;

    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, kept: Mutex::default() }
    }

    /// Notes a request whose response is not known yet.
    pub(crate) fn begin(&self, record: RequestRecord) -> Entry {
        let mut kept = self.kept.lock();
        let entry = Entry(kept.first + kept.records.len() as u64);
        kept.body_bytes += record.body.len();
        kept.records.push_back(record);
        while kept.records.len() > self.capacity || kept.body_bytes > Self::MAX_BODY_BYTES {
            let Some(oldest) = kept.records.pop_front() else { break };
            kept.first += 1;
            kept.body_bytes -= oldest.body.len();
        }
        entry
    }

    /// Notes the response of a request that is still kept.
    pub(crate) fn finish(&self, entry: Entry, code: u16) {
        let mut kept = self.kept.lock();
        let index = entry.0.checked_sub(kept.first).and_then(|index| usize::try_from(index).ok());
        if let Some(record) = index.and_then(|index| kept.records.get_mut(index)) {
            record.code = Some(code);
        }
    }

    /// The kept requests, oldest first.
    pub(crate) fn records(&self) -> Vec<RequestRecord> {
        self.kept.lock().records.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::{RequestLog, RequestRecord};

    fn request(path: &str, body: Bytes) -> RequestRecord {
        RequestRecord {
            method: "GET".to_owned(),
            path: path.to_owned(),
            query: String::new(),
            user: String::new(),
            user_agent: String::new(),
            content_type: String::new(),
            body,
            code: None,
        }
    }

    fn check(log: &RequestLog, expect: &[(&str, Option<u16>)]) {
        let records = log.records();
        let got: Vec<_> = records.iter().map(|record| (record.path.as_str(), record.code)).collect();
        assert_eq!(got, expect);
    }

    #[test]
    fn the_oldest_requests_are_forgotten() {
        let log = RequestLog::new(2);
        let a = log.begin(request("a", Bytes::new()));
        let b = log.begin(request("b", Bytes::new()));
        log.finish(b, 200);
        check(&log, &[("a", None), ("b", Some(200))]);
        let c = log.begin(request("c", Bytes::new()));
        log.finish(a, 500);
        check(&log, &[("b", Some(200)), ("c", None)]);
        log.finish(c, 404);
        check(&log, &[("b", Some(200)), ("c", Some(404))]);
    }

    #[test]
    fn bodies_are_bounded_together() {
        let log = RequestLog::new(1000);
        let large = Bytes::from(vec![0; RequestLog::MAX_BODY_BYTES / 2]);
        for path in ["a", "b", "c"] {
            log.begin(request(path, large.clone()));
        }
        check(&log, &[("b", None), ("c", None)]);
    }

    #[test]
    fn a_log_of_nothing_keeps_nothing() {
        let log = RequestLog::new(0);
        let entry = log.begin(request("a", Bytes::from_static(b"x")));
        log.finish(entry, 200);
        check(&log, &[]);
    }
}
