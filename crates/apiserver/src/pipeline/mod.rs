//! From a request to its response, one step per file.

pub(crate) mod attributes;
pub(crate) mod authenticate;
pub(crate) mod authorize;
pub(crate) mod respond;

use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use http::request::Parts;

use crate::body::Body;
use crate::core::Core;

/// Answers one request. Its [`Identity`](crate::access::Identity) is an extension of the head.
pub(crate) async fn handle(_core: &Arc<Core>, _parts: Parts, _body: Bytes) -> Response<Body> {
    respond::page_not_found()
}
