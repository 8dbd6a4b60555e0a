//! Rules for volumes made of files of the node, of the API or of an image.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::super::fields::{at, text};
use super::super::rules::{Errors, one_of, required_texts};
use super::container::pull_policy;
use super::volume::{descending_path, file_mode, keys_to_paths, no_backsteps};

const HOST_PATH_TYPES: &[&str] =
    &["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];

/// `HostPathVolumeSource`.
pub(super) fn host_path(source: &Value, path: &FieldPath, errors: &mut Errors) {
    let target = text(source, "path");
    if target.is_empty() {
        errors.push(FieldError::required(&path.child("path"), ""));
        return;
    }
    no_backsteps(target, &path.child("path"), errors);
    one_of(at(source, "type"), &path.child("type"), HOST_PATH_TYPES, errors);
}

/// `GitRepoVolumeSource`.
pub(super) fn git_repo(source: &Value, path: &FieldPath, errors: &mut Errors) {
    required_texts(source, path, &["repository"], errors);
    descending_path(text(source, "directory"), &path.child("directory"), errors);
}

/// `SecretVolumeSource`.
pub(super) fn secret(source: &Value, path: &FieldPath, errors: &mut Errors) {
    required_texts(source, path, &["secretName"], errors);
    file_mode(at(source, "defaultMode"), &path.child("defaultMode"), errors);
    keys_to_paths(source, path, errors);
}

/// `ConfigMapVolumeSource`.
pub(super) fn config_map(source: &Value, path: &FieldPath, errors: &mut Errors) {
    required_texts(source, path, &["name"], errors);
    file_mode(at(source, "defaultMode"), &path.child("defaultMode"), errors);
    keys_to_paths(source, path, errors);
}

/// `ImageVolumeSource`.
pub(super) fn image(source: &Value, path: &FieldPath, errors: &mut Errors) {
    required_texts(source, path, &["reference"], errors);
    pull_policy(source, "pullPolicy", path, errors);
}
