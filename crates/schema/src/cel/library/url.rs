//! URLs, as Go's `url.ParseRequestURI` reads them.

use std::rc::Rc;

use super::{Outcome, failed, gives};
use crate::cel::value::{CelMap, CelValue, Opaque};

/// A URL.
#[derive(Clone, Debug)]
pub struct Url {
    text: String,
    scheme: String,
    host: String,
    path: String,
    query: String,
}

impl Url {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| Err(format!("URL parse error during conversion from string: parse {text:?}: {why}"));
        if text.is_empty() {
            return wrong("empty url");
        }
        if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
            return wrong("net/url: invalid control character in URL");
        }
        let (scheme, rest) = match text.split_once(':') {
            Some((scheme, rest)) if is_scheme(scheme) => (scheme.to_ascii_lowercase(), rest),
            _ if text.starts_with('/') => (String::new(), text),
            _ => return wrong("invalid URI for request"),
        };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        if !rest.starts_with('/') {
            return wrong("invalid URI for request");
        }
        let (host, path) = match rest.strip_prefix("//") {
            Some(rest) if !scheme.is_empty() || !rest.starts_with('/') => {
                let end = rest.find('/').unwrap_or(rest.len());
                rest.split_at(end)
            }
            _ => ("", rest),
        };
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        if host.contains(' ') {
            return wrong("invalid character \" \" in host name");
        }
        let port = port_of(host);
        if !port.bytes().all(|byte| byte.is_ascii_digit()) {
            return wrong(&format!("invalid port {:?} after host", format!(":{port}")));
        }
        Ok(Self {
            text: text.to_owned(),
            scheme,
            host: host.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
        })
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    fn hostname(&self) -> &str {
        if let Some(inner) = self.host.strip_prefix('[') {
            return inner.split(']').next().unwrap_or_default();
        }
        self.host.split(':').next().unwrap_or_default()
    }

    /// The parameters by name, each with its values in order.
    fn parameters(&self) -> Vec<(String, Vec<String>)> {
        let mut parameters: Vec<(String, Vec<String>)> = Vec::new();
        for pair in self.query.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';')) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (Some(name), Some(value)) = (unescaped(name), unescaped(value)) else { continue };
            match parameters.iter_mut().find(|(known, _)| *known == name) {
                Some((_, values)) => values.push(value),
                None => parameters.push((name, vec![value])),
            }
        }
        parameters
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

fn port_of(host: &str) -> &str {
    let after = host.rsplit_once(']').map_or(host, |(_, after)| after);
    after.rsplit_once(':').map_or("", |(_, port)| port)
}

fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                let digits = std::str::from_utf8(&digits).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
            }
            other => bytes.push(other),
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

pub(super) fn call<'a>(function: &str, arguments: &[CelValue<'a>]) -> Outcome<'a> {
    match (function, arguments) {
        ("url", [CelValue::String(text)]) => match Url::parse(text) {
            Ok(url) => gives(CelValue::Opaque(Opaque::Url(Rc::new(url)))),
            Err(why) => failed(why),
        },
        ("isURL", [CelValue::String(text)]) => gives(CelValue::Bool(Url::parse(text).is_ok())),
        (_, [CelValue::Opaque(Opaque::Url(url))]) => gives(match function {
            "getScheme" => CelValue::text(url.scheme.clone()),
            "getHost" => CelValue::text(url.host.clone()),
            "getHostname" => CelValue::text(url.hostname().to_owned()),
            "getPort" => CelValue::text(port_of(&url.host).to_owned()),
            "getEscapedPath" => CelValue::text(url.path.clone()),
            "getQuery" => {
                let parameters = url.parameters().into_iter().map(|(name, values)| {
                    let values = values.into_iter().map(CelValue::text).collect();
                    (CelValue::text(name), CelValue::list(values))
                });
                CelValue::Map(CelMap::Values(Rc::new(parameters.collect())))
            }
            _ => return None,
        }),
        _ => None,
    }
}
