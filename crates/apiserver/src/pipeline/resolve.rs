use percent_encoding::percent_decode_str;

/// What a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// `/`, `/api`, `/apis` and the documents below them.
    Discovery(String),
    /// `/openapi/…`.
    OpenApi(String),
    /// Objects below an API group and version.
    Objects(ObjectPath),
    /// Nothing that this server serves; below a group's path with that group.
    Unknown(Option<String>),
}

/// The parts of a path to objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ObjectPath {
    pub(crate) group: String,
    pub(crate) version: String,
    /// Empty for cluster-scoped paths.
    pub(crate) namespace: String,
    pub(crate) plural: String,
    pub(crate) name: Option<String>,
    pub(crate) subresource: Option<String>,
    /// Whether the path is a deprecated `/watch/` one.
    pub(crate) watch: bool,
    /// Whether the path goes on below the subresource.
    pub(crate) goes_on: bool,
}

impl Route {
    /// Takes a path apart.
    pub(crate) fn of(path: &str) -> Self {
        let trimmed = path.strip_prefix('/').unwrap_or(path);
        let trimmed = trimmed.strip_suffix('/').unwrap_or(trimmed);
        let mut parts = Vec::new();
        for part in trimmed.split('/') {
            match percent_decode_str(part).decode_utf8() {
                Ok(part) => parts.push(part.into_owned()),
                Err(_) => return Self::Unknown(None),
            }
        }
        let text: Vec<&str> = parts.iter().map(String::as_str).collect();
        match text.as_slice() {
            ["openapi", ..] => Self::OpenApi(trimmed.to_owned()),
            ["index.html"] => Self::Discovery(String::new()),
            ["" | "api" | "apis"] | ["api" | "apis", _] | ["apis", _, _] => Self::Discovery(trimmed.to_owned()),
            ["api", version, rest @ ..] => Self::objects("", version, rest),
            ["apis", group, version, rest @ ..] => Self::objects(group, version, rest),
            _ => Self::Unknown(None),
        }
    }

    fn objects(group: &str, version: &str, rest: &[&str]) -> Self {
        let (watch, rest) = match rest {
            ["watch", rest @ ..] if !rest.is_empty() => (true, rest),
            rest => (false, rest),
        };
        let (namespace, rest) = match rest {
            // A namespace's own subresources; everything else below its name lies in it.
            ["namespaces", _, "status" | "finalize", ..] | ["namespaces"] | ["namespaces", _] => ("", rest),
            ["namespaces", namespace, rest @ ..] => (*namespace, rest),
            rest => ("", rest),
        };
        let mut path = ObjectPath {
            group: group.to_owned(),
            version: version.to_owned(),
            namespace: namespace.to_owned(),
            watch,
            ..ObjectPath::default()
        };
        match rest {
            [plural] => (*plural).clone_into(&mut path.plural),
            [plural, name] => {
                (*plural).clone_into(&mut path.plural);
                path.name = Some((*name).to_owned());
            }
            [plural, name, subresource, more @ ..] => {
                (*plural).clone_into(&mut path.plural);
                path.name = Some((*name).to_owned());
                path.subresource = Some((*subresource).to_owned());
                path.goes_on = !more.is_empty();
            }
            _ => return Self::Unknown(Some(path.group)),
        }
        Self::Objects(path)
    }
}

#[cfg(test)]
mod tests {
    use super::{ObjectPath, Route};

    fn check(path: &str, expected: &str) {
        let got = match Route::of(path) {
            Route::Objects(ObjectPath { group, version, namespace, plural, name, subresource, watch, goes_on }) => {
                let more = if goes_on { "|…" } else { "" };
                format!("{group}|{version}|{namespace}|{plural}|{name:?}|{subresource:?}|{watch}{more}")
            }
            other => format!("{other:?}"),
        };
        assert_eq!(got, expected, "{path}");
    }

    #[test]
    fn paths_are_taken_apart() {
        for (path, expected) in [
            ("/api/v1/pods", "|v1||pods|None|None|false"),
            ("/api/v1/namespaces/n/pods/", "|v1|n|pods|None|None|false"),
            ("/api/v1/namespaces//pods", "|v1||pods|None|None|false"),
            ("/api/v1/namespaces/n", "|v1||namespaces|Some(\"n\")|None|false"),
            ("/api/v1/namespaces/n/finalize", "|v1||namespaces|Some(\"n\")|Some(\"finalize\")|false"),
            (
                "/apis/apps/v1/namespaces/n/deployments/d/scale",
                "apps|v1|n|deployments|Some(\"d\")|Some(\"scale\")|false",
            ),
            ("/api/v1/watch/namespaces/n/pods/p", "|v1|n|pods|Some(\"p\")|None|true"),
            ("/api/v1/nodes/a%3Ab", "|v1||nodes|Some(\"a:b\")|None|false"),
            ("/api/v1/a/b/c/d", "|v1||a|Some(\"b\")|Some(\"c\")|false|…"),
            ("/api/v1", "Discovery(\"api/v1\")"),
            ("/", "Discovery(\"\")"),
            ("/nope", "Unknown(None)"),
        ] {
            check(path, expected);
        }
    }
}
