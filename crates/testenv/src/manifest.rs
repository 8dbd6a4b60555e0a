use std::path::Path;

use serde_json::Value;

use crate::error::Error;

/// One object of a YAML or JSON file, and where it stands there.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    origin: String,
    object: Value,
}

impl Manifest {
    pub(crate) fn new(origin: String, object: Value) -> Result<Self, Error> {
        let manifest = Self { origin, object };
        if !manifest.object.is_object() {
            return Err(manifest.error("the document isn't an object"));
        }
        for field in ["/apiVersion", "/kind"] {
            if manifest.text(field).is_none_or(str::is_empty) {
                return Err(manifest.error(format!("the object has no {}", field.trim_start_matches('/'))));
            }
        }
        Ok(manifest)
    }

    /// File, number of the document in it, and the line it starts at.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The object.
    pub fn object(&self) -> &Value {
        &self.object
    }

    /// The object's kind.
    pub fn kind(&self) -> &str {
        self.text("/kind").unwrap_or_default()
    }

    /// The object's name; empty where it has none.
    pub fn name(&self) -> &str {
        self.text("/metadata/name").unwrap_or_default()
    }

    pub(crate) fn text(&self, pointer: &str) -> Option<&str> {
        self.object.pointer(pointer).and_then(Value::as_str)
    }

    pub(crate) fn error(&self, message: impl Into<String>) -> Error {
        Error::Manifest { origin: self.origin.clone(), message: message.into() }
    }
}

/// The objects of a file, or of every `.yaml`, `.yml` and `.json` file of a folder, in the order of the files' names.
/// Fails when one can't be read or isn't a Kubernetes object, and says which document of which file.
pub fn read_manifests(path: impl AsRef<Path>) -> Result<Vec<Manifest>, Error> {
    let path = path.as_ref();
    let read = |source| Error::Read { path: path.to_path_buf(), source };
    if !std::fs::metadata(path).map_err(read)?.is_dir() {
        let text = std::fs::read_to_string(path).map_err(read)?;
        return split_manifests(&path.display().to_string(), &text);
    }
    let entries = std::fs::read_dir(path).map_err(read)?;
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, _>>().map_err(read)?;
    files.retain(|file| {
        file.extension().is_some_and(|extension| ["yaml", "yml", "json"].iter().any(|e| extension == *e))
    });
    files.sort();
    let mut manifests = Vec::new();
    for file in files {
        manifests.extend(read_manifests(file)?);
    }
    Ok(manifests)
}

/// The objects of a YAML text with any number of documents; `name` stands for the file in errors. Empty documents are
/// left out.
pub fn split_manifests(name: &str, text: &str) -> Result<Vec<Manifest>, Error> {
    let mut manifests = Vec::new();
    for (number, (line, document)) in documents(text).into_iter().enumerate() {
        let origin = format!("{name}, document {} (from line {line})", number + 1);
        let parsed = serde_saphyr::from_str::<Value>(&document);
        let object = parsed.map_err(|error| {
            let message = format!("malformed YAML: {error}");
            Error::Manifest { origin: origin.clone(), message }
        })?;
        if !object.is_null() {
            manifests.push(Manifest::new(origin, object)?);
        }
    }
    Ok(manifests)
}

/// The documents of a YAML stream that hold anything but comments, each with the line it starts at. Splitting before
/// parsing keeps one malformed document from hiding which one it is.
fn documents(text: &str) -> Vec<(usize, String)> {
    let mut documents = vec![(1, String::new())];
    for (index, line) in text.lines().enumerate() {
        let marker = line.strip_prefix("---").filter(|rest| rest.is_empty() || rest.starts_with([' ', '\t']));
        if let Some(rest) = marker {
            // What follows the marker on its line belongs to the document, in the same columns.
            documents.push((index + 1, format!("   {rest}\n")));
        } else if let Some((_, document)) = documents.last_mut() {
            document.push_str(line);
            document.push('\n');
        }
    }
    documents.retain(|(_, document)| {
        document.lines().any(|line| !matches!(line.trim_start().chars().next(), None | Some('#')))
    });
    documents
}

#[cfg(test)]
mod tests {
    use super::{read_manifests, split_manifests};

    fn check(text: &str, expected: &[&str]) {
        let found = match split_manifests("a.yaml", text) {
            Ok(manifests) => manifests.iter().map(|m| format!("{}: {} {}", m.origin(), m.kind(), m.name())).collect(),
            Err(error) => vec![error.to_string().lines().next().unwrap_or_default().to_owned()],
        };
        assert_eq!(found, expected, "{text}");
    }

    const ONE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n";

    #[test]
    fn documents_are_told_apart() {
        check(ONE, &["a.yaml, document 1 (from line 1): ConfigMap one"]);
        check("", &[]);
        check("# nothing\n---\n# nothing\n", &[]);
        check(
            &format!("---\n{ONE}---\n# a comment\n{ONE}"),
            &["a.yaml, document 1 (from line 1): ConfigMap one", "a.yaml, document 2 (from line 5): ConfigMap one"],
        );
        check("{\"apiVersion\": \"v1\", \"kind\": \"Secret\"}", &["a.yaml, document 1 (from line 1): Secret "]);
        check("--- {apiVersion: v1, kind: Secret}", &["a.yaml, document 1 (from line 1): Secret "]);
        check(
            "apiVersion: v1\nkind: ConfigMap\ndata:\n  text: |\n    ---\n    inside\n",
            &["a.yaml, document 1 (from line 1): ConfigMap "],
        );
    }

    #[test]
    fn errors_name_the_document() {
        check("[1]", &["a.yaml, document 1 (from line 1): the document isn't an object"]);
        check("kind: ConfigMap", &["a.yaml, document 1 (from line 1): the object has no apiVersion"]);
        check("apiVersion: v1\nkind: ''", &["a.yaml, document 1 (from line 1): the object has no kind"]);
        let error = split_manifests("a.yaml", &format!("{ONE}---\nspec: [1\n")).unwrap_err().to_string();
        assert!(error.starts_with("a.yaml, document 2 (from line 4): malformed YAML: "), "{error}");
    }

    #[test]
    fn folders_are_read_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("b.yaml", ONE), ("a.yml", ONE), ("c.txt", "[")] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let origins = read_manifests(folder.path()).unwrap();
        let names = origins.iter().map(|m| m.origin().rsplit('/').next().unwrap_or_default()).collect::<Vec<_>>();
        assert_eq!(names, ["a.yml, document 1 (from line 1)", "b.yaml, document 1 (from line 1)"]);

        let error = read_manifests(folder.path().join("absent.yaml")).unwrap_err();
        assert!(error.to_string().contains("absent.yaml"), "{error}");
    }
}
