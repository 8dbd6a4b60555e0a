//! Continue tokens of paged lists.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::ObjectKey;

const VERSION: &str = "meta.k8s.io/v1";

/// Where the next page starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContinueToken {
    /// The revision that all pages show; `None` continues on the newest state.
    pub(crate) revision: Option<u64>,
    /// The last object of the page before.
    pub(crate) after: ObjectKey,
}

impl ContinueToken {
    /// The token as clients pass it back.
    pub(crate) fn encode(&self) -> String {
        let start = format!("{}/{}\0", self.after.namespace, self.after.name);
        let revision = self.revision.map_or(-1, |revision| i64::try_from(revision).unwrap_or(i64::MAX));
        URL_SAFE_NO_PAD.encode(json!({"v": VERSION, "rv": revision, "start": start}).to_string())
    }

    /// Reads a token. The error is the text that follows `continue key is not valid: `.
    pub(crate) fn decode(text: &str) -> Result<Self, String> {
        let bytes = URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).map_err(|error| error.to_string())?;
        let token: Value = serde_json::from_slice(&bytes).map_err(|error| not_json(&bytes, &error))?;
        let version = token.get("v").and_then(Value::as_str).unwrap_or_default();
        if version != VERSION {
            return Err(format!("server does not recognize this encoded version {version}"));
        }
        let revision = token.get("rv").and_then(Value::as_i64).unwrap_or_default();
        if revision == 0 {
            return Err("incorrect encoded start resourceVersion (version meta.k8s.io/v1)".to_owned());
        }
        let start = token.get("start").and_then(Value::as_str).unwrap_or_default();
        if start.split('/').any(|part| matches!(part, "." | "..")) {
            return Err(start.trim_end_matches('\0').to_owned());
        }
        let (namespace, name) =
            start.trim_end_matches('\0').split_once('/').ok_or("encoded start key empty (version meta.k8s.io/v1)")?;
        Ok(Self { revision: u64::try_from(revision).ok(), after: ObjectKey::new(namespace, name) })
    }
}
/// The text of Go's decoder for bytes that don't begin as JSON does.
fn not_json(bytes: &[u8], error: &serde_json::Error) -> String {
    match bytes.first() {
        None => "unexpected end of JSON input".to_owned(),
        Some(first) if first.is_ascii_graphic() && error.column() <= 1 => {
            format!("invalid character '{}' looking for beginning of value", char::from(*first))
        }
        Some(first) if error.column() <= 1 => {
            format!("invalid character '\\u{first:04x}' looking for beginning of value")
        }
        Some(_) => error.to_string(),
    }
}
