use bytes::Bytes;
use http::header::ALLOW;
use http::{HeaderValue, Method, Request, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt as _, Limited};

use crate::endpoint::answer::{Answer, BoxError, not_found, text};
use crate::logs::LogHandle;

/// Longer directives are refused.
const LONGEST_DIRECTIVES: usize = 4096;

/// What operators of the program may look at and change while it runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Debug {
    pub(crate) logs: Option<LogHandle>,
}

impl Debug {
    /// The answer to a path below `/debug/`.
    pub(crate) async fn answer<B: Body<Data = Bytes, Error: Into<BoxError>>>(
        &self,
        path: &str,
        request: Request<B>,
    ) -> Answer {
        match path {
            "log" => match &self.logs {
                Some(logs) => self::logs(logs, request).await,
                None => not_found(),
            },
            #[cfg(feature = "profiling")]
            "pprof/profile" => super::profile::answer(request.uri().query().unwrap_or_default()).await,
            _ => not_found(),
        }
    }
}

/// GET gives the directives, PUT changes them.
async fn logs<B: Body<Data = Bytes, Error: Into<BoxError>>>(logs: &LogHandle, request: Request<B>) -> Answer {
    match *request.method() {
        Method::GET | Method::HEAD => {}
        Method::PUT => {
            let Ok(body) = Limited::new(request.into_body(), LONGEST_DIRECTIVES).collect().await else {
                return text(StatusCode::PAYLOAD_TOO_LARGE, "the directives are too long or broken off\n");
            };
            let body = body.to_bytes();
            let Ok(directives) = std::str::from_utf8(&body) else {
                return text(StatusCode::BAD_REQUEST, "the directives are not UTF-8\n");
            };
            if let Err(error) = logs.set(directives.trim()) {
                return text(StatusCode::BAD_REQUEST, format!("{error}\n"));
            }
        }
        _ => {
            let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "method not allowed\n");
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD, PUT"));
            return response;
        }
    }
    match logs.directives() {
        Ok(directives) => text(StatusCode::OK, directives + "\n"),
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")),
    }
}
