use std::fmt;
use std::sync::Arc;

use http::HeaderMap;
use http::header::WARNING;

use crate::error::RequestInfo;

/// Who is told of the warnings that come with the server's answers, for example of unknown fields or of versions that
/// will not be served much longer.
///
/// It is called for each warning of each answer, before the caller gets the answer, and must not block.
#[derive(Clone)]
pub struct WarningHandler(Arc<Handle>);

type Handle = dyn Fn(&RequestInfo, &str) + Send + Sync;

impl WarningHandler {
    /// Calls `handle` with what was being done and the warning's text.
    pub fn new(handle: impl Fn(&RequestInfo, &str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(handle))
    }

    pub(crate) fn handle(&self, request: &RequestInfo, text: &str) {
        (self.0)(request, text);
    }
}

impl fmt::Debug for WarningHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WarningHandler").finish_non_exhaustive()
    }
}

/// The texts of an answer's warnings: `299 - "text"`, the only form that Kubernetes sends (KEP-1693, RFC 7234).
pub(crate) fn warnings(headers: &HeaderMap) -> Vec<String> {
    headers.get_all(WARNING).iter().flat_map(|value| parse(&String::from_utf8_lossy(value.as_bytes()))).collect()
}

/// One header may hold several warnings, separated by commas; what doesn't have the form ends it.
fn parse(header: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = header.trim_start_matches([' ', ',']);
    while let Some(after) = rest.strip_prefix("299 ") {
        // The agent is one word, in most cases `-`.
        let Some((_, quoted)) = after.split_once(" \"") else { break };
        let mut text = String::new();
        let mut characters = quoted.char_indices();
        let end = loop {
            match characters.next() {
                Some((_, '\\')) => text.extend(characters.next().map(|(_, escaped)| escaped)),
                Some((index, '"')) => break index + 1,
                Some((_, character)) => text.push(character),
                None => return found,
            }
        };
        found.push(text);
        let after_text = quoted.get(end..).unwrap_or_default();
        // A date may follow; it says nothing about the warning.
        rest = after_text.find(',').and_then(|comma| after_text.get(comma..)).unwrap_or_default();
        rest = rest.trim_start_matches([' ', ',']);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn warnings_are_read_from_their_header() {
        #[track_caller]
        fn check(header: &str, expected: &[&str]) {
            assert_eq!(parse(header), expected, "{header}");
        }
        check("299 - \"unknown field \\\"spec.colour\\\"\"", &["unknown field \"spec.colour\""]);
        check("299 - \"one, two\", 299 agent \"three\"", &["one, two", "three"]);
        check("299 - \"one\" \"Thu, 01 Jan 1970 00:00:00 GMT\"", &["one"]);
        check("199 - \"another code\"", &[]);
        check("299 - \"without an end", &[]);
        check("", &[]);
    }
}
