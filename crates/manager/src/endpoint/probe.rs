use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;

use crate::endpoint::answer::{Answer, not_found, text};
use crate::health::Checks;

/// The longest time-out that a probe may ask for.
const LONGEST: Duration = Duration::from_mins(1);

/// The checks behind `/healthz` and `/livez`, and behind `/readyz`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Health {
    pub(crate) live: Arc<Checks>,
    pub(crate) ready: Arc<Checks>,
}

impl Health {
    /// The answer to a path without its first slash.
    pub(crate) async fn answer(&self, path: &str, query: &str) -> Answer {
        let (endpoint, check) = path.split_once('/').map_or((path, None), |(endpoint, check)| (endpoint, Some(check)));
        let checks = match endpoint {
            "healthz" | "livez" => &self.live,
            "readyz" => &self.ready,
            _ => return not_found(),
        };
        let (mut excluded, mut verbose, mut timeout) = (Vec::new(), false, None);
        for (key, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*key {
                "exclude" => excluded.push(value.into_owned()),
                "verbose" => verbose = true,
                "timeout" => match duration(&value) {
                    Some(asked) => timeout = Some(asked.min(LONGEST)),
                    None => return text(StatusCode::BAD_REQUEST, "timeout must be like 500ms, 2s or 1m\n"),
                },
                _ => {}
            }
        }
        let report = match check {
            None => checks.ask(endpoint, &excluded, timeout).await,
            Some(name) => match checks.ask_one(endpoint, name, timeout).await {
                Some(report) => report,
                None => return not_found(),
            },
        };
        let status = if report.is_ok() { StatusCode::OK } else { StatusCode::INTERNAL_SERVER_ERROR };
        text(status, report.body(verbose))
    }
}

/// A number with a unit, or of seconds.
fn duration(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(digits)?;
    let number = number.parse().ok()?;
    match unit {
        "ms" => Some(Duration::from_millis(number)),
        "" | "s" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_secs(number.saturating_mul(60))),
        _ => None,
    }
}
