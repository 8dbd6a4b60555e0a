use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::behaviour::Behaviour;

/// Requests in a row that show one behaviour.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transcript {
    /// What it shows, in words; no other of the subject has the same.
    pub name: String,
    /// Why the embedded server answers otherwise. The player then demands that it does.
    pub differs: Option<String>,
    /// Whether roles decide what users may do. On the reference they always do.
    #[serde(default)]
    pub rbac: bool,
    /// Webhooks that are served while the transcript is played.
    #[serde(default)]
    pub webhooks: BTreeMap<String, Behaviour>,
    /// The requests.
    pub steps: Vec<Step>,
}

/// One request of a transcript and what is looked at in its answer.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Step {
    /// Method and path.
    pub send: String,
    /// Headers. The content type is JSON where a body has none.
    pub headers: BTreeMap<String, String>,
    /// The body, as JSON.
    pub body: Option<Value>,
    /// The body as it is.
    pub text: Option<String>,
    /// The body in base64.
    pub bytes: Option<String>,
    /// Words for later steps, by JSON pointers into the answer's body.
    pub keep: BTreeMap<String, String>,
    /// Asks again until the answer has this `code`, and these values at these JSON pointers. Only the last answer counts.
    pub until: Option<Map<String, Value>>,
    /// Reads a stream until it has brought that many events, ends, or brings nothing for a while.
    pub watch: Option<usize>,
    /// What is sent while that stream is open. The answer then says also whether the stream ended.
    pub meanwhile: Vec<Step>,
    /// Compares only what is at these JSON pointers; `*` is any key or index.
    pub pick: Vec<String>,
    /// Doesn't compare what is at these JSON pointers.
    pub forget: Vec<String>,
    /// Prepares: the answer must be a success and isn't compared.
    pub quiet: bool,
    /// Sends nothing: compares what this webhook was asked since the last time.
    pub asked: Option<String>,
}

impl Step {
    /// Whether its answer is compared.
    pub fn counts(&self) -> bool {
        !self.quiet
    }
}
