//! Large answers, compressed for clients that say that they read gzip. Watches never are: an event must not wait for the
//! next one.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, VARY};
use http::request::Parts;
use http::{HeaderValue, Response};

use crate::body::Body;

/// Answers of so many bytes are not compressed yet.
const THRESHOLD: usize = 128 << 10;

/// Compresses a whole answer that is large enough.
pub(super) fn compressed(parts: &Parts, mut response: Response<Body>) -> Response<Body> {
    let Some(bytes) = response.body().bytes().filter(|bytes| bytes.len() > THRESHOLD) else { return response };
    if !reads_gzip(parts) {
        return response;
    }
    // Fast, as the reference: the client is near.
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 8), Compression::fast());
    let Ok(smaller) = encoder.write_all(bytes).and_then(|()| encoder.finish()) else { return response };
    *response.body_mut() = Body::from(smaller);
    response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    response.headers_mut().append(VARY, HeaderValue::from_static("Accept-Encoding"));
    response
}

/// Whether the client names gzip, without a weight.
fn reads_gzip(parts: &Parts) -> bool {
    let accepted = parts.headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    accepted.split(',').any(|encoding| encoding.trim() == "gzip")
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::GzDecoder;
    use http::{Request, Response};

    use super::{THRESHOLD, compressed};
    use crate::body::Body;

    fn check(accepted: &str, length: usize, expected: bool) {
        let (parts, ()) = Request::get("/").header("accept-encoding", accepted).body(()).unwrap().into_parts();
        let response = compressed(&parts, Response::new(Body::from("x".repeat(length))));
        assert_eq!(response.headers().contains_key("content-encoding"), expected, "{accepted:?} {length}");
        assert_eq!(response.headers().contains_key("vary"), expected);
        let bytes = response.body().bytes().unwrap();
        if expected {
            let mut text = String::new();
            GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
            assert_eq!(text.len(), length);
            assert!(bytes.len() < length / 10);
        } else {
            assert_eq!(bytes.len(), length);
        }
    }

    #[test]
    fn large_answers_are_compressed_for_who_asks() {
        check("gzip", THRESHOLD, false);
        check("gzip", THRESHOLD + 1, true);
        check("br, gzip", THRESHOLD + 1, true);
        for other in ["", "gzip;q=0", "gzip;q=1", "*", "deflate, br"] {
            check(other, THRESHOLD + 1, false);
        }
    }
}
