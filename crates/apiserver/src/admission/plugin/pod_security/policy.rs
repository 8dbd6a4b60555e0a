//! Which standard a namespace asks for, in which version.

use std::fmt;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

/// How much a pod may do; less and less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Privileged,
    Baseline,
    Restricted,
}

/// A minor version of Kubernetes whose standards count; the newest ones are later than all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Version {
    Minor(u32),
    Latest,
}

/// A standard as it was in a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LevelVersion {
    pub(super) level: Level,
    pub(super) version: Version,
}

/// What a namespace asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Policy {
    pub(super) enforce: LevelVersion,
    pub(super) audit: LevelVersion,
    pub(super) warn: LevelVersion,
}

impl fmt::Display for LevelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Privileged => "privileged",
            Level::Baseline => "baseline",
            Level::Restricted => "restricted",
        };
        match self.version {
            Version::Minor(minor) => write!(f, "{level}:v1.{minor}"),
            Version::Latest => write!(f, "{level}:latest"),
        }
    }
}

const ANYTHING: LevelVersion = LevelVersion { level: Level::Privileged, version: Version::Latest };

impl Policy {
    /// What labels ask for, and which of them aren't understood.
    pub(super) fn of(labels: &Value) -> (Self, Vec<FieldError>) {
        let mut errors = Vec::new();
        // What isn't understood is enforced strictly, and else ignored.
        let (enforce, enforces, _) = mode(labels, "enforce", Level::Restricted, &mut errors);
        let (audit, _, _) = mode(labels, "audit", Level::Privileged, &mut errors);
        let (mut warn, warns, warn_version) = mode(labels, "warn", Level::Privileged, &mut errors);
        if warns == Said::Nothing && enforces == Said::Known && enforce.level > warn.level {
            warn.level = enforce.level;
            if !warn_version {
                warn.version = enforce.version;
            }
        }
        (Self { enforce, audit, warn }, errors)
    }

    /// Whether nothing is asked for.
    pub(super) fn is_privileged(self) -> bool {
        [self.enforce, self.audit, self.warn].iter().all(|one| one.level == Level::Privileged)
    }
}

/// What a label says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Nothing,
    Known,
    Unknown,
}

/// The standard of a mode, what its label said, and whether there was one for the version.
fn mode(labels: &Value, mode: &str, unknown: Level, errors: &mut Vec<FieldError>) -> (LevelVersion, Said, bool) {
    let mut asked = ANYTHING;
    let mut said = Said::Nothing;
    let mut wrong = |label: &str, value: &str, why: &str| {
        errors.push(FieldError::invalid(&FieldPath::new("metadata.labels").key(label), value, why));
    };
    let label = format!("pod-security.kubernetes.io/{mode}");
    if let Some(value) = labels.get(&label).and_then(Value::as_str) {
        let level = parse_level(value);
        asked.level = level.unwrap_or(unknown);
        said = if level.is_some() { Said::Known } else { Said::Unknown };
        if level.is_none() {
            wrong(&label, value, "must be one of privileged, baseline, restricted");
        }
    }
    let label = format!("{label}-version");
    let version = labels.get(&label).and_then(Value::as_str);
    if let Some(value) = version {
        match parse_version(value) {
            Some(version) => asked.version = version,
            None => wrong(&label, value, "must be \"latest\" or \"v1.x\""),
        }
    }
    (asked, said, version.is_some())
}

fn parse_level(text: &str) -> Option<Level> {
    Some(match text {
        "privileged" => Level::Privileged,
        "baseline" => Level::Baseline,
        "restricted" => Level::Restricted,
        _ => return None,
    })
}

fn parse_version(text: &str) -> Option<Version> {
    if text == "latest" {
        return Some(Version::Latest);
    }
    let minor = text.strip_prefix("v1.")?;
    let canonical = minor == "0" || !minor.starts_with('0');
    (canonical && minor.bytes().all(|byte| byte.is_ascii_digit())).then(|| minor.parse().ok().map(Version::Minor))?
}
