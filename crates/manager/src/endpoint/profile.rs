use std::time::Duration;

use http::StatusCode;
use pprof::protos::Message as _;

use crate::endpoint::answer::{Answer, text, with_type};

/// How long a profile takes when the request doesn't say.
const SECONDS: u64 = 30;
/// The longest that a request may ask for.
const MOST_SECONDS: u64 = 60;
/// Samples per second and thread: prime to what programs do at round rates.
const FREQUENCY: i32 = 99;

/// A profile of where the program spends its CPU time during the next `seconds=N`, in pprof's format, gzip not applied.
/// Only one can be taken at a time.
pub(crate) async fn answer(query: &str) -> Answer {
    let asked = form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == "seconds");
    let seconds = match asked.map_or(Ok(SECONDS), |(_, value)| value.parse::<u64>()) {
        Ok(seconds) if (1..=MOST_SECONDS).contains(&seconds) => seconds,
        _ => return text(StatusCode::BAD_REQUEST, format!("seconds must be from 1 to {MOST_SECONDS}\n")),
    };
    let started = pprof::ProfilerGuardBuilder::default()
        .frequency(FREQUENCY)
        .blocklist(&["libc", "libgcc", "pthread", "vdso"])
        .build();
    let guard = match started {
        Ok(guard) => guard,
        Err(error) => return text(StatusCode::CONFLICT, format!("cannot take a profile: {error}\n")),
    };
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    // Finding the names of what was sampled reads the program's debug information: nothing for the event loop.
    let encoded = tokio::task::spawn_blocking(move || -> Result<Vec<u8>, String> {
        let report = guard.report().build().map_err(|error| error.to_string())?;
        let profile = report.pprof().map_err(|error| error.to_string())?;
        Ok(profile.encode_to_vec())
    });
    match encoded.await {
        Ok(Ok(profile)) => with_type(StatusCode::OK, "application/octet-stream", profile),
        Ok(Err(error)) => text(StatusCode::INTERNAL_SERVER_ERROR, format!("cannot encode the profile: {error}\n")),
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, format!("cannot encode the profile: {error}\n")),
    }
}
