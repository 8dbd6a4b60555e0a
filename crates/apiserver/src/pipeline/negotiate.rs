use http::HeaderMap;
use http::header::ACCEPT;

use crate::status::ApiError;

/// The encodings that this server makes, as error texts list them.
pub(crate) const OFFERED: [&str; 2] = ["application/json", "application/yaml"];

/// How the client wants the answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Accept {
    pub(crate) encoding: Encoding,
    pub(crate) form: Form,
}

/// The encoding of the body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    #[default]
    Json,
    Yaml,
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

impl Encoding {
    /// The media type.
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Yaml => "application/yaml",
        }
    }
}

impl Accept {
    /// Chooses among what the `Accept` header allows. `list` says that the answer is a list.
    pub(crate) fn of(headers: &HeaderMap, list: bool) -> Result<Self, ApiError> {
        let mut clauses = Vec::new();
        for header in headers.get_all(ACCEPT) {
            let Ok(text) = header.to_str() else { continue };
            clauses.extend(text.split(',').map(Clause::parse));
        }
        if clauses.iter().all(|clause| clause.media.is_empty()) {
            return Ok(Self::default());
        }
        // The order among equals is the client's.
        clauses.sort_by(|left, right| right.quality.total_cmp(&left.quality));
        let chosen = clauses.iter().filter(|clause| clause.quality > 0.0).find_map(|clause| clause.accept(list));
        chosen.ok_or_else(|| ApiError::not_acceptable(&OFFERED))
    }
}

#[derive(Debug)]
struct Clause<'a> {
    media: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
    quality: f64,
}

impl<'a> Clause<'a> {
    fn parse(text: &'a str) -> Self {
        let mut parts = text.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default();
        let parameters: Vec<_> = parts.filter_map(|part| part.split_once('=')).collect();
        let quality = parameters.iter().find(|(key, _)| *key == "q").and_then(|(_, q)| q.parse().ok()).unwrap_or(1.0);
        Self { media, parameters, quality }
    }

    fn parameter(&self, name: &str) -> Option<&'a str> {
        self.parameters.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    fn accept(&self, list: bool) -> Option<Accept> {
        let encoding = match self.media {
            "application/json" | "*/*" | "application/*" => Encoding::Json,
            "application/yaml" => Encoding::Yaml,
            _ => return None,
        };
        let form = match self.parameter("as") {
            None => Form::Object,
            Some(kind) => {
                if self.parameter("g") != Some("meta.k8s.io") || self.parameter("v") != Some("v1") {
                    return None;
                }
                match kind {
                    "Table" => Form::Table,
                    "PartialObjectMetadata" if !list => Form::Partial,
                    "PartialObjectMetadataList" if list => Form::Partial,
                    _ => return None,
                }
            }
        };
        Some(Accept { encoding, form })
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::Accept;

    fn check(header: &str, expected: &str) {
        let mut headers = HeaderMap::new();
        headers.insert("accept", header.parse().unwrap());
        let got = match Accept::of(&headers, true) {
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
            ("application/vnd.kubernetes.protobuf,application/json", "Json Object"),
            ("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", "Json Table"),
            ("application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json", "Json Object"),
            ("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", "Json Partial"),
            ("application/json;q=0.5,application/yaml", "Yaml Object"),
            ("text/html", "406 Not Acceptable"),
            ("application/vnd.kubernetes.protobuf", "406 Not Acceptable"),
        ] {
            check(header, expected);
        }
    }
}
