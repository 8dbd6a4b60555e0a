use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use kube_client::client::Body;
use kube_core::Status;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::{ClientError, RequestInfo};
use crate::transport::status_in;

/// What a watch reports about an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[non_exhaustive]
pub enum WatchEventType {
    /// It is new, or newly matches the selectors.
    Added,
    /// It changed.
    Modified,
    /// It is gone, or no longer matches the selectors. The object is its last state, with the version of the
    /// deletion.
    Deleted,
    /// Nothing happened up to this version. The object has a version and no name.
    Bookmark,
    /// The watch failed. [`WatchStream::next`] gives it as an error.
    Error,
}

/// One event of a watch, its object still as JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WatchFrame {
    /// What happened.
    pub event: WatchEventType,
    /// The object's JSON text.
    pub object: Bytes,
}

/// The events of a watch as they come over the wire, one line of JSON each.
///
/// The stream ends without an error when the server closes the connection, which it does every few minutes: watch
/// again from the last version seen. It has no deadline of its own.
#[derive(Debug)]
pub struct WatchStream {
    body: Body,
    buffer: BytesMut,
    /// How much of the buffer is known to hold no line's end.
    searched: usize,
    request: Box<RequestInfo>,
}

#[derive(Deserialize)]
struct RawFrame<'a> {
    r#type: WatchEventType,
    #[serde(borrow)]
    object: &'a RawValue,
}

impl WatchStream {
    pub(crate) fn new(body: Body, request: Box<RequestInfo>) -> Self {
        Self { body, buffer: BytesMut::new(), searched: 0, request }
    }

    /// The next event; none at the end of the stream. An event of type `ERROR` comes as [`ClientError::Status`].
    ///
    /// Cancel safe: what was received stays for the next call.
    pub async fn next(&mut self) -> Result<Option<WatchFrame>, ClientError> {
        loop {
            if let Some(line) = self.take_line() {
                if line.iter().all(u8::is_ascii_whitespace) {
                    continue;
                }
                return self.parse(&line).map(Some);
            }
            match self.body.frame().await {
                Some(Ok(frame)) => {
                    if let Some(data) = frame.data_ref() {
                        self.buffer.extend_from_slice(data);
                    }
                }
                Some(Err(source)) => {
                    return Err(ClientError::Transport { request: self.request.clone(), source: Box::new(source) });
                }
                // A line without an end was cut off with the connection; the next watch brings it again.
                None => return Ok(None),
            }
        }
    }

    fn take_line(&mut self) -> Option<Bytes> {
        let fresh = self.buffer.get(self.searched..).unwrap_or_default();
        let Some(offset) = fresh.iter().position(|byte| *byte == b'\n') else {
            self.searched = self.buffer.len();
            return None;
        };
        let line = self.buffer.split_to(self.searched + offset + 1).freeze();
        self.searched = 0;
        Some(line)
    }

    fn parse(&self, line: &Bytes) -> Result<WatchFrame, ClientError> {
        let raw: RawFrame<'_> = serde_json::from_slice(line)
            .map_err(|source| ClientError::Answer { request: self.request.clone(), source })?;
        let object = line.slice_ref(raw.object.get().as_bytes());
        if raw.r#type == WatchEventType::Error {
            let status = status_in(&object).unwrap_or_else(|| Status::failure(raw.object.get(), "").with_code(500));
            let retry_after = None;
            return Err(ClientError::Status { request: self.request.clone(), status: Box::new(status), retry_after });
        }
        Ok(WatchFrame { event: raw.r#type, object })
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use kube_client::client::Body;

    use super::{WatchEventType, WatchStream};
    use crate::error::{RequestInfo, Verb};

    fn stream(text: &'static str) -> WatchStream {
        let request =
            RequestInfo { verb: Verb::Watch, kind: "A/v1".to_owned(), namespace: None, name: None, subresource: None };
        WatchStream::new(Body::from(Bytes::from_static(text.as_bytes())), Box::new(request))
    }

    #[tokio::test]
    async fn lines_become_frames() {
        let mut stream = stream(
            "{\"type\":\"ADDED\",\"object\":{\"a\":1}}\n\n{\"object\":{\"b\":2},\"type\":\"BOOKMARK\"}\n{\"type\":\"AD",
        );
        let first = stream.next().await.unwrap().unwrap();
        assert_eq!((first.event, &first.object[..]), (WatchEventType::Added, &b"{\"a\":1}"[..]));
        let second = stream.next().await.unwrap().unwrap();
        assert_eq!((second.event, &second.object[..]), (WatchEventType::Bookmark, &b"{\"b\":2}"[..]));
        assert_eq!(stream.next().await.unwrap(), None);
    }

    #[tokio::test]
    async fn an_error_event_is_an_error() {
        let mut expired = stream(
            "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\
             \"message\":\"too old resource version\",\"reason\":\"Expired\",\"code\":410}}\n",
        );
        let error = expired.next().await.unwrap_err();
        assert!(error.is_expired());
        assert_eq!(error.to_string(), "cannot watch A/v1: too old resource version");
        let error = stream("nonsense\n").next().await.unwrap_err();
        assert!(error.to_string().starts_with("cannot watch A/v1: the server's answer is not understood: "));
    }
}
