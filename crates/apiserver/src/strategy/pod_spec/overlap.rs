//! Files of one volume that hide each other.

use serde_json::Value;

use super::super::fields::{at, items, text};

/// A file, and where it comes from; the source is empty where the volume is its only one.
#[derive(Clone, PartialEq)]
struct File {
    path: String,
    source: String,
}

impl File {
    fn new(path: &str, source: &str) -> Self {
        Self { path: path.trim_end_matches('/').to_owned(), source: source.to_owned() }
    }

    fn hides(&self, other: &Self) -> bool {
        let inside = |inner: &str, outer: &str| format!("{inner}/").starts_with(&format!("{outer}/"));
        !self.path.is_empty()
            && !other.path.is_empty()
            && (inside(&self.path, &other.path) || inside(&other.path, &self.path))
    }

    fn shown(&self) -> String {
        let quoted = format!("\"{}\"", self.path);
        if self.source.is_empty() { quoted } else { format!("{quoted} ({})", self.source) }
    }
}

/// What to say of volumes whose files hide each other.
pub(super) fn overlapping_paths(volumes: &[Value]) -> Vec<String> {
    let mut warnings = Vec::new();
    for volume in volumes {
        let name = text(volume, "name");
        let mut warn = |called: &str, files: Vec<File>| {
            for (index, file) in files.iter().enumerate() {
                for other in files.iter().take(index).filter(|other| file.hides(other)) {
                    let body = format!("{} with {}", file.shown(), other.shown());
                    warnings.push(format!("volume \"{name}\" ({called}): overlapping paths: {body}"));
                }
            }
        };
        let files = |list: &[Value], source: &str| -> Vec<File> {
            list.iter().map(|item| File::new(text(item, "path"), source)).collect()
        };
        let map = at(volume, "configMap");
        warn(&format!("ConfigMap \"{}\"", text(map, "name")), files(items(map, "items"), ""));
        let secret = at(volume, "secret");
        warn(&format!("Secret \"{}\"", text(secret, "secretName")), files(items(secret, "items"), ""));
        warn("DownwardAPI", files(items(volume, "downwardAPI.items"), ""));
        let projected = items(volume, "projected.sources");
        warn("Projected", projected.iter().flat_map(projected_files).collect());
        for _ in projected.iter().filter(|source| source.as_object().is_none_or(serde_json::Map::is_empty)) {
            warnings.push(format!("volume \"{name}\" (Projected) has no sources provided"));
        }
    }
    warnings
}

fn projected_files(source: &Value) -> Vec<File> {
    let named = |key: &str, called: &str| -> Vec<File> {
        let source = at(source, key);
        let called = format!("{called} \"{}\"", text(source, "name"));
        items(source, "items").iter().map(|item| File::new(text(item, "path"), &called)).collect()
    };
    let mut files = named("configMap", "ConfigMap");
    files.extend(named("secret", "Secret"));
    let own = items(source, "downwardAPI.items").iter();
    files.extend(own.map(|item| File::new(text(item, "path"), "DownwardAPI")));
    let token = at(source, "serviceAccountToken");
    if !token.is_null() {
        files.push(File::new(text(token, "path"), "ServiceAccountToken"));
    }
    let bundle = at(source, "clusterTrustBundle");
    if !bundle.is_null() {
        let name = if at(bundle, "name").is_null() { text(bundle, "signerName") } else { text(bundle, "name") };
        files.push(File::new(text(bundle, "path"), &format!("ClusterTrustBundle \"{name}\"")));
    }
    let certificate = at(source, "podCertificate");
    for (key, called) in [
        ("certificateChainPath", "PodCertificate chain"),
        ("keyPath", "PodCertificate key"),
        ("credentialBundlePath", "PodCertificate credential bundle"),
    ] {
        files.extend(at(certificate, key).as_str().map(|path| File::new(path, called)));
    }
    files
}
