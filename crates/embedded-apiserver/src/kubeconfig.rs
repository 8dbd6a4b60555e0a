use std::fs::OpenOptions;
use std::io::{Result, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Writes a kubeconfig that only its owner may read: it holds an administrator's token.
pub(crate) fn write(file: &Path, text: &str) -> Result<()> {
    let mut opened = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(file)?;
    // The mode above is for a new file; one that was there keeps its own.
    opened.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    opened.write_all(text.as_bytes())
}
