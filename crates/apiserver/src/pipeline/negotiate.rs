//! What the client accepts, and which of it is answered with.

use http::HeaderMap;
use http::header::ACCEPT;

use crate::protobuf;
use crate::status::ApiError;

/// The encodings that this server makes, as error texts list them.
pub(super) const OFFERED: [&str; 3] = ["application/json", "application/yaml", protobuf::MEDIA_TYPE];

/// The encodings of events, as error texts list them.
const STREAMS: [&str; 2] = ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];

/// How the client wants the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Accept {
    pub(crate) encoding: Encoding,
    pub(crate) form: Form,
    /// Whether table and metadata are those of `meta.k8s.io/v1beta1`.
    pub(crate) is_beta: bool,
    /// Whether metadata was asked for as a list.
    pub(crate) is_list: bool,
}

/// The encoding of the body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    #[default]
    Json,
    Yaml,
    Protobuf,
}

/// What stands for an object in the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// The object itself.
    #[default]
    Object,
    /// `meta.k8s.io/v1` `Table`.
    Table,
    /// `meta.k8s.io/v1` `PartialObjectMetadata`.
    Partial,
}

/// What is asked for, as far as the choice depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Object,
    List,
    Watch,
}

impl Encoding {
    const ALL: [Self; 3] = [Self::Json, Self::Yaml, Self::Protobuf];

    /// The media type.
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Yaml => "application/yaml",
            Self::Protobuf => protobuf::MEDIA_TYPE,
        }
    }

    /// The media type of a stream of events.
    pub(crate) fn stream_media_type(self) -> &'static str {
        match self {
            Self::Json | Self::Yaml => "application/json",
            Self::Protobuf => "application/vnd.kubernetes.protobuf;stream=watch",
        }
    }

    /// The encoding of documents and errors, which have one form only; `None` when the client accepts none.
    pub(crate) fn of_document(headers: &HeaderMap) -> Option<Self> {
        let texts = texts(headers);
        let Some(clauses) = clauses(&texts) else { return Some(Self::default()) };
        let plain = clauses.iter().filter(|clause| !clause.converts());
        plain.flat_map(|clause| Self::ALL.into_iter().filter(|encoding| clause.matches(*encoding))).next()
    }
}

impl Accept {
    /// Chooses among what the `Accept` header allows. `typed` says that the resource is built in: others have no
    /// protocol buffers but those of their metadata.
    pub(crate) fn of(headers: &HeaderMap, wanted: Wanted, typed: bool) -> Result<Self, ApiError> {
        let texts = texts(headers);
        let Some(clauses) = clauses(&texts) else { return Ok(Self::default()) };
        if typed && !clauses.iter().any(Clause::is_offered) {
            let streams: &[&str] = if wanted == Wanted::Object { &[] } else { &STREAMS };
            return Err(ApiError::not_acceptable_by_route(&[&OFFERED, streams].concat()));
        }
        let chosen = clauses.iter().find_map(|clause| clause.accept(wanted, typed));
        let chosen = chosen.ok_or_else(|| ApiError::not_acceptable(&OFFERED))?;
        if wanted == Wanted::Watch && chosen.encoding == Encoding::Yaml {
            return Err(ApiError::not_acceptable(&STREAMS));
        }
        Ok(chosen)
    }
}

/// Whether a client accepts a media type that is made as it is, in no other form.
pub(super) fn accepts(headers: &HeaderMap, media_type: &str) -> bool {
    let texts = texts(headers);
    let Some(clauses) = clauses(&texts) else { return true };
    let (kind, subtype) = media_type.split_once('/').unwrap_or_default();
    clauses.iter().any(|clause| {
        (clause.kind == "*" && clause.subtype == "*")
            || (clause.kind == kind && (clause.subtype == subtype || clause.subtype == "*"))
    })
}

/// Whether a client names any of the encodings, in whatever form: the reference looks at that before it asks for the
/// form.
pub(super) fn names_an_encoding(headers: &HeaderMap) -> bool {
    let texts = texts(headers);
    clauses(&texts).is_none_or(|clauses| clauses.iter().any(Clause::is_offered))
}

fn texts(headers: &HeaderMap) -> Vec<&str> {
    headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect()
}

/// The clauses, best first; `None` when the client doesn't say. The order among equals is the client's, but for
/// wildcards.
fn clauses<'a>(texts: &[&'a str]) -> Option<Vec<Clause<'a>>> {
    let all = || texts.iter().flat_map(|text| text.split(','));
    if all().all(|text| text.trim().is_empty()) {
        return None;
    }
    let mut clauses: Vec<_> = all().filter_map(Clause::parse).collect();
    let wildcards = |clause: &Clause<'_>| (clause.kind == "*", clause.subtype == "*");
    clauses.sort_by(|left, right| {
        right.quality.total_cmp(&left.quality).then_with(|| wildcards(left).cmp(&wildcards(right)))
    });
    Some(clauses)
}

#[derive(Debug)]
struct Clause<'a> {
    kind: &'a str,
    subtype: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
    quality: f32,
}

impl<'a> Clause<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.split(';').map(str::trim);
        let (kind, subtype) = match parts.next().unwrap_or_default() {
            "*" => ("*", "*"),
            media => media.split_once('/')?,
        };
        let parameters: Vec<_> =
            parts.filter_map(|part| part.split_once('=')).map(|(key, value)| (key.trim(), value.trim())).collect();
        let given = parameters.iter().find(|(key, _)| *key == "q");
        let quality = given.map_or(1.0, |(_, quality)| quality.parse().unwrap_or_default());
        Some(Self { kind: kind.trim(), subtype: subtype.trim(), parameters, quality })
    }

    fn parameter(&self, name: &str) -> Option<&'a str> {
        self.parameters.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    /// Whether it asks for another kind of answer.
    fn converts(&self) -> bool {
        ["as", "g", "v"].iter().any(|name| self.parameter(name).is_some())
    }

    fn matches(&self, encoding: Encoding) -> bool {
        let (kind, subtype) = encoding.media_type().split_once('/').unwrap_or_default();
        (self.kind == kind && (self.subtype == subtype || self.subtype == "*"))
            || (self.kind == "*" && self.subtype == "*")
    }

    /// Whether it names one of the offers, or all.
    fn is_offered(&self) -> bool {
        (self.kind == "*" && self.subtype == "*")
            || (self.subtype != "*" && Encoding::ALL.into_iter().any(|encoding| self.matches(encoding)))
    }

    fn accept(&self, wanted: Wanted, typed: bool) -> Option<Accept> {
        let mut encodings = Encoding::ALL.into_iter().filter(|encoding| self.matches(*encoding));
        encodings.find_map(|encoding| self.accept_in(encoding, wanted, typed))
    }

    fn accept_in(&self, encoding: Encoding, wanted: Wanted, typed: bool) -> Option<Accept> {
        if self.parameter("stream").is_some_and(|stream| !matches!(stream, "" | "watch")) {
            return None;
        }
        if !self.converts() {
            let allowed = typed || encoding != Encoding::Protobuf;
            return allowed.then_some(Accept { encoding, ..Accept::default() });
        }
        let is_beta = match self.parameter("v") {
            Some("v1") => false,
            Some("v1beta1") => true,
            _ => return None,
        };
        if self.parameter("g") != Some("meta.k8s.io") {
            return None;
        }
        let form = match self.parameter("as")? {
            "Table" if encoding != Encoding::Protobuf => Form::Table,
            "PartialObjectMetadata" => Form::Partial,
            "PartialObjectMetadataList" if wanted != Wanted::Watch => Form::Partial,
            _ => return None,
        };
        Some(Accept { encoding, form, is_beta, is_list: self.parameter("as") == Some("PartialObjectMetadataList") })
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::{Accept, Encoding, Wanted};

    fn headers(header: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("accept", header.parse().unwrap());
        headers
    }

    fn check(header: &str, wanted: Wanted, typed: bool, expected: &str) {
        let got = match Accept::of(&headers(header), wanted, typed) {
            Ok(accept) => format!("{:?} {:?}", accept.encoding, accept.form),
            Err(error) => error.code().to_string(),
        };
        assert_eq!(got, expected, "{header}");
    }

    #[test]
    fn the_first_acceptable_clause_is_chosen() {
        for (header, expected) in [
            ("", "Json Object"),
            ("*/*", "Json Object"),
            ("application/vnd.kubernetes.protobuf,application/json", "Protobuf Object"),
            ("application/vnd.kubernetes.protobuf, */*", "Protobuf Object"),
            ("*/*,application/yaml", "Yaml Object"),
            ("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", "Json Table"),
            ("application/json;as=Table;v=v2;g=meta.k8s.io,application/json", "Json Object"),
            ("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", "Json Partial"),
            ("application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", "Protobuf Partial"),
            ("application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1", "406 Not Acceptable"),
            ("application/json;q=0.5,application/yaml", "Yaml Object"),
            ("application/json;q=0.2,application/vnd.kubernetes.protobuf;q=0.3", "Protobuf Object"),
            ("application/json;q=0", "Json Object"),
            ("application/json;stream=watch", "Json Object"),
            ("application/json;stream=other", "406 Not Acceptable"),
            ("text/html", "406 Not Acceptable"),
            ("application/*", "406 Not Acceptable"),
            ("text/html, application/cbor;q=0.9, */*;q=0.1", "Json Object"),
        ] {
            check(header, Wanted::List, true, expected);
        }
    }

    #[test]
    fn of_custom_resources_only_the_metadata_is_protobuf() {
        let partial = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
        for (header, expected) in [
            ("application/vnd.kubernetes.protobuf", "406 Not Acceptable"),
            ("application/vnd.kubernetes.protobuf,application/json", "Json Object"),
            (partial, "Protobuf Partial"),
        ] {
            check(header, Wanted::Object, false, expected);
        }
    }

    #[test]
    fn events_are_never_yaml() {
        check("application/yaml", Wanted::Watch, true, "406 Not Acceptable");
        check("application/vnd.kubernetes.protobuf;stream=watch", Wanted::Watch, true, "Protobuf Object");
    }

    #[test]
    fn errors_come_in_what_is_accepted_without_another_form() {
        for (header, expected) in [
            ("application/vnd.kubernetes.protobuf,application/json", Some(Encoding::Protobuf)),
            ("application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1", None),
            ("application/json;as=Table;g=meta.k8s.io;v=v1,application/yaml", Some(Encoding::Yaml)),
            ("text/html", None),
            ("application/*", Some(Encoding::Json)),
        ] {
            assert_eq!(Encoding::of_document(&headers(header)), expected, "{header}");
        }
    }
}
