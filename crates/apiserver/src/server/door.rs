//! What every request passes before the pipeline, whichever way it came in.

use std::sync::Arc;

use bytes::Bytes;
use controller_runtime_ambient::CancellationToken;
use http::header::{CONTENT_TYPE, USER_AGENT};
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::time::Instant;

use super::audit_id::{AUDIT_ID, AuditIds};
use super::prompt::TooSlow;
use super::request_log::{RequestLog, RequestRecord};
use crate::access::{Identity, impersonate};
use crate::body::Body;
use crate::core::Core;
use crate::pipeline;
use crate::pipeline::authenticate::Peer;
use crate::pipeline::authorize::authorize;
use crate::pipeline::deadline;
use crate::pipeline::measure::Measured;
use crate::status::ApiError;

/// The largest request body, in bytes: kube-apiserver's limit.
const MAX_BODY: usize = 3 << 20;

/// One server's entrance: who comes in, what they bring, and the log of it.
#[derive(Debug)]
pub(crate) struct Door {
    pub(crate) core: Arc<Core>,
    pub(super) log: RequestLog,
    pub(super) audit_ids: AuditIds,
    /// Cancelled when the server stops.
    pub(super) stop: CancellationToken,
}

impl Door {
    /// Answers one request. `peer` is who is at the other end.
    pub(crate) async fn answer<B>(&self, request: Request<B>, peer: &Peer) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let audit_id = self.audit_ids.of(request.headers());
        let mut response = self.answer_measured(request, peer).await;
        response.headers_mut().insert(AUDIT_ID, audit_id);
        response
    }

    async fn answer_measured<B>(&self, request: Request<B>, peer: &Peer) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (parts, body) = request.into_parts();
        let Some(measured) = Measured::of(&self.core, &parts) else {
            return self.answer_named(Request::from_parts(parts, body), peer).await;
        };
        let kind = measured.kind();
        let began = Instant::now();
        let in_work = self.core.counted.began(&kind);
        let response = self.answer_named(Request::from_parts(parts, body), peer).await;
        let size = response.body().bytes().map(Bytes::len);
        self.core.counted.answered(&kind, response.status().as_u16(), began.elapsed(), size);
        // A watch is open for as long as its body.
        if size.is_none() { response.map(|body| body.holding(in_work)) } else { response }
    }

    async fn answer_named<B>(&self, request: Request<B>, peer: &Peer) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (mut parts, body) = request.into_parts();
        let admitted = self.admit(&mut parts, body, peer).await;
        let (user, body) = match admitted {
            Ok(admitted) => admitted,
            Err((user, error)) => {
                let entry = self.log.begin(record(&parts, user, Bytes::new()));
                self.log.finish(entry, error.code().as_u16());
                return pipeline::respond::error(&parts, &error);
            }
        };
        let entry = self.log.begin(record(&parts, user.name.clone(), body.clone()));
        let head = parts.method == Method::HEAD;
        let response = self.dispatch(&user, &parts, body).await;
        self.log.finish(entry, response.status().as_u16());
        self.finish(response, head)
    }

    /// Lets a request in: who it is and its whole body. The error comes with the user's name as far as it is known.
    async fn admit<B>(&self, parts: &mut Parts, body: B, peer: &Peer) -> Result<(Identity, Bytes), (String, ApiError)>
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        if self.stop.is_cancelled() {
            return Err((String::new(), ApiError::unavailable("apiserver is shutting down")));
        }
        deadline::check(parts).map_err(|error| (String::new(), error))?;
        let user = self
            .core
            .authenticator
            .identify(&self.core, &parts.headers, peer)
            .map_err(|error| (String::new(), error))?;
        // Nobody behind this point needs the secret.
        parts.headers.remove(http::header::AUTHORIZATION);
        let (authorizer, store) = (self.core.authorizer, &*self.core.store);
        let name = user.name.clone();
        let user = impersonate(authorizer, store, user, parts).map_err(|error| (name, error))?;
        let named = |error| (user.name.clone(), error);
        authorize(authorizer, store, &user, parts).map_err(named)?;
        let body = read(body).await.map_err(named)?;
        Ok((user, body))
    }

    async fn dispatch(&self, user: &Identity, parts: &Parts, body: Bytes) -> Response<Body> {
        pipeline::handle(&self.core, parts, user, body).await
    }

    fn finish(&self, response: Response<Body>, head: bool) -> Response<Body> {
        if head { response.map(|_| Body::from("")) } else { response.map(|body| body.until(&self.stop)) }
    }
}

async fn read<B>(body: B) -> Result<Bytes, ApiError>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let too_large = || ApiError::too_large(&format!("limit is {MAX_BODY}"));
    if body.size_hint().lower() > MAX_BODY as u64 {
        return Err(too_large());
    }
    match Limited::new(body, MAX_BODY).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large()),
        Err(error) if error.is::<TooSlow>() => Err(ApiError::timed_out()),
        Err(error) => Err(ApiError::bad_request(format!("unable to read the request's body: {error}"))),
    }
}

fn record(parts: &Parts, user: String, body: Bytes) -> RequestRecord {
    RequestRecord {
        method: parts.method.as_str().to_owned(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        user,
        user_agent: text(&parts.headers, USER_AGENT),
        content_type: text(&parts.headers, CONTENT_TYPE),
        body,
        code: None,
    }
}

fn text(headers: &HeaderMap, name: http::HeaderName) -> String {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).unwrap_or_default()
}
