use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::compare::{Difference, compare};
use super::normal::order_managers;
use super::player::Played;
use super::shape::shape;
use super::transcript::Transcript;

/// What a file of answers says of itself, in front of the answers.
const NOTE: (&str, &str) = ("", "recorded by `cargo xtask conformance --record`");

/// All transcripts with their recorded answers.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// The subjects, by heading and name.
    pub subjects: Vec<Subject>,
}

/// The transcripts of one file.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The heading that it belongs to: its folder's name.
    pub heading: String,
    /// Its file's name.
    pub name: String,
    /// The transcripts.
    pub transcripts: Vec<Transcript>,
    /// The recorded answers of the steps that count, by transcript.
    pub answers: BTreeMap<String, Vec<Value>>,
    path: PathBuf,
}

impl Corpus {
    /// Reads the corpus in `folder`.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let mut subjects = Vec::new();
        for heading in sorted(folder)?.into_iter().filter(|path| path.is_dir()) {
            for path in sorted(&heading)? {
                if path.extension().is_some_and(|extension| extension == "yaml") {
                    subjects.push(Subject::read(&path)?);
                }
            }
        }
        Ok(Self { subjects })
    }

    /// What is wrong with the corpus itself: names that stand twice, transcripts that differ only in names, or weren't
    /// recorded.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut shapes: BTreeMap<String, String> = BTreeMap::new();
        for subject in &self.subjects {
            let mut names = BTreeSet::new();
            for transcript in &subject.transcripts {
                let name = format!("{}/{}: {}", subject.heading, subject.name, transcript.name);
                if !names.insert(&transcript.name) {
                    faults.push(format!("{name}: the name stands twice"));
                }
                match subject.answers.get(&transcript.name) {
                    None => faults.push(format!("{name}: not recorded")),
                    Some(answers) if answers.len() != counted(transcript) => {
                        faults.push(format!("{name}: recorded with other steps"));
                    }
                    Some(answers) => {
                        if let Some(other) = shapes.insert(shape(transcript, answers), name.clone()) {
                            faults.push(format!("{name}: the same as {other}"));
                        }
                    }
                }
            }
            let known: BTreeSet<&String> = subject.transcripts.iter().map(|transcript| &transcript.name).collect();
            for name in subject.answers.keys().filter(|name| !known.contains(name)) {
                faults.push(format!("{}/{}: answers of no transcript: {name}", subject.heading, subject.name));
            }
        }
        faults
    }
}

impl Subject {
    /// Reads a file of transcripts and the recorded answers beside it.
    pub fn read(path: &Path) -> Result<Self, String> {
        let read = |path: &Path| fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
        // As in YAML 1.2: `y` is a letter, not a truth.
        let options = serde_saphyr::options! { strict_booleans: true };
        let transcripts = serde_saphyr::from_str_with_options(&read(path)?, options)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let recorded = answers_of(path);
        let mut answers: BTreeMap<String, Value> = if recorded.exists() {
            serde_json::from_str(&read(&recorded)?).map_err(|error| format!("{}: {error}", recorded.display()))?
        } else {
            BTreeMap::new()
        };
        answers.remove(NOTE.0);
        let answers = answers.into_iter().map(|(name, answers)| match answers {
            Value::Array(answers) => (name, answers),
            other => (name, vec![other]),
        });
        let text =
            |name: Option<&std::ffi::OsStr>| name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Self {
            heading: text(path.parent().and_then(Path::file_name)),
            name: text(path.file_stem()),
            transcripts,
            answers: answers.collect(),
            path: path.to_owned(),
        })
    }

    /// Where answers to a transcript differ from the recorded ones.
    pub fn differences(&self, transcript: &Transcript, played: &Played) -> Vec<Difference> {
        let mut differences = Vec::new();
        let empty = Vec::new();
        let expected = self.answers.get(&transcript.name).unwrap_or(&empty);
        for index in 0..expected.len().max(played.answers.len()) {
            let (expected, found) = (expected.get(index), played.answers.get(index));
            let value = |answer: Option<&Value>| {
                let mut value = answer.cloned().unwrap_or_default();
                order_managers(&mut value);
                value
            };
            compare(&value(expected), &value(found), &format!("answer {}", index + 1), &mut differences);
        }
        differences
    }

    /// Whether a transcript shows how something is refused: one of its recorded answers is an error.
    pub fn is_error(&self, transcript: &Transcript) -> bool {
        let answers = self.answers.get(&transcript.name);
        answers.into_iter().flatten().any(|answer| answer["code"].as_u64().is_some_and(|code| code >= 400))
    }

    /// Writes the recorded answers, those of transcripts that are no longer there left out.
    pub fn write_answers(&self) -> Result<(), String> {
        let known: BTreeSet<&str> = self.transcripts.iter().map(|transcript| transcript.name.as_str()).collect();
        let mut text = format!("{{\n{}: {}", Value::from(NOTE.0), Value::from(NOTE.1));
        for (name, answers) in self.answers.iter().filter(|(name, _)| known.contains(name.as_str())) {
            let answers: Vec<String> = answers.iter().map(|answer| format!(" {answer}")).collect();
            let _ = write!(text, ",\n{}: [\n{}\n]", Value::from(name.as_str()), answers.join(",\n"));
        }
        let path = answers_of(&self.path);
        fs::write(&path, text + "\n}\n").map_err(|error| format!("{}: {error}", path.display()))
    }
}

fn counted(transcript: &Transcript) -> usize {
    transcript.steps.iter().filter(|step| step.counts()).count()
}

fn answers_of(path: &Path) -> PathBuf {
    path.with_extension("answers.json")
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort();
    Ok(paths)
}
