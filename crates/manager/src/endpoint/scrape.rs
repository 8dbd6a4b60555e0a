use std::sync::Arc;

use controller_runtime_metrics::{Format, Registry};
use http::header::{ACCEPT, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderValue, StatusCode};

use crate::endpoint::answer::{Answer, text, with_type};
use crate::security::{Gate, Refusal};

/// The metrics behind `/metrics`, and who may read them.
#[derive(Clone, Debug)]
pub(crate) struct Scrapes {
    pub(crate) registry: Registry,
    pub(crate) gate: Option<Gate>,
}

impl Scrapes {
    pub(crate) async fn answer(&self, head: Parts) -> Answer {
        let accept = head.headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
        let format = Format::from_accept(accept);
        if let Some(gate) = &self.gate
            && let Err(refusal) = gate.admits(Arc::new(head)).await
        {
            return refused(&refusal);
        }
        match self.registry.encode(format) {
            Ok(body) => with_type(StatusCode::OK, format.content_type(), body),
            Err(error) => {
                tracing::error!(%error, "a metric of the program fails to encode itself");
                text(StatusCode::INTERNAL_SERVER_ERROR, "a metric fails to encode itself\n")
            }
        }
    }
}

fn refused(refusal: &Refusal) -> Answer {
    match refusal {
        Refusal::Unauthenticated => {
            let mut answer = text(StatusCode::UNAUTHORIZED, "unauthorized\n");
            answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            answer
        }
        Refusal::Forbidden(reason) => text(StatusCode::FORBIDDEN, format!("forbidden: {reason}\n")),
        Refusal::Unavailable(error) => {
            tracing::error!(%error, "cannot find out who may read the metrics");
            text(StatusCode::INTERNAL_SERVER_ERROR, "cannot find out who may read the metrics\n")
        }
    }
}
