use serde_json::Value;

/// What a server answered.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP code.
    pub code: u16,
    /// The body; a string where it isn't JSON.
    pub body: Value,
    what: String,
}

impl Answer {
    pub(crate) fn new(what: String, code: u16, bytes: &[u8]) -> Self {
        let body = serde_json::from_slice(bytes).unwrap_or_else(|_| String::from_utf8_lossy(bytes).into_owned().into());
        Self { code, body, what }
    }

    /// Fails the test unless the answer has this code; returns the body.
    #[track_caller]
    pub fn expect(self, code: u16) -> Value {
        assert_eq!(self.code, code, "{}: {}", self.what, self.body);
        self.body
    }

    /// Fails the test unless the answer is a `Status` with this code and reason; returns it.
    #[track_caller]
    pub fn refused(self, code: u16, reason: &str) -> Value {
        let what = self.what.clone();
        let body = self.expect(code);
        assert_eq!((&body["kind"], &body["reason"]), (&"Status".into(), &reason.into()), "{what}: {body}");
        body
    }
}
