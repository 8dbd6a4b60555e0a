//! The conformance corpus on the embedded server. `cargo xtask conformance` plays it on the reference.

#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::path::Path;

use futures::StreamExt;
use integration_tests::conformance::{Corpus, Player, Subject, Transcript, report};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn corpus() -> Corpus {
    Corpus::read(&root().join("conformance")).unwrap()
}

#[tokio::test]
async fn the_embedded_server_answers_as_recorded() {
    let corpus = corpus();
    let player = Player::start().await;
    if !player.is_embedded() {
        player.stop().await;
        integration_tests::skip("conformance", "the reference's answers are compared by `cargo xtask conformance`");
        return;
    }
    let all = corpus.subjects.iter().flat_map(|subject| subject.transcripts.iter().map(move |one| (subject, one)));
    let checks = all.enumerate().map(|(number, (subject, transcript))| check(&player, subject, transcript, number));
    let wrong: Vec<String> =
        futures::stream::iter(checks).buffered(8).filter_map(futures::future::ready).collect().await;
    player.stop().await;
    assert!(wrong.is_empty(), "{} transcripts:\n{}", wrong.len(), wrong.join("\n"));
}

/// What is wrong with one transcript's answers.
async fn check(player: &Player, subject: &Subject, transcript: &Transcript, number: usize) -> Option<String> {
    let name = format!("{}/{}: {}", subject.heading, subject.name, transcript.name);
    let answers = match player.play(transcript, number).await {
        Ok(answers) => answers,
        Err(error) => return Some(format!("{name}: {error}")),
    };
    let differences = subject.differences(transcript, &answers);
    match &transcript.differs {
        Some(reason) => differences.is_empty().then(|| format!("{name}: should differ ({reason}), and doesn't")),
        None if differences.is_empty() => None,
        None => Some(format!("{name}: {differences:#?}")),
    }
}

#[test]
fn transcripts_are_recorded_and_differ_in_more_than_names() {
    let faults = corpus().faults();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_document_about_fidelity_is_generated() {
    let limits = std::fs::read_to_string(root().join("conformance/limits.md")).unwrap();
    let document = std::fs::read_to_string(root().join("docs/fidelity.md")).unwrap();
    assert!(document == report(&corpus(), &limits), "run `cargo xtask conformance --report`");
}
