//! Plays the conformance corpus: `cargo xtask conformance`.
//!
//! `conformance [--record] [--report] [FILE…]`: the files of transcripts, all of the folder `conformance` without any. The
//! server is the one that the environment variables of the test environment name, the embedded one without them. With
//! `--record` its answers become the recorded ones; with `--report` `docs/fidelity.md` is written and nothing is played.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use futures::StreamExt;
use integration_tests::conformance::{Corpus, Played, Player, Subject, report};

/// How many transcripts are played at the same time.
const AT_ONCE: usize = 8;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<bool, String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let files: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    let root = root()?;
    if has("--report") {
        let corpus = Corpus::read(&root.join("conformance"))?;
        let limits = read(&root.join("conformance/limits.md"))?;
        let path = root.join("docs/fidelity.md");
        return std::fs::write(&path, report(&corpus, &limits)).map(|()| true).map_err(|error| error.to_string());
    }
    let mut corpus = if files.is_empty() {
        Corpus::read(&root.join("conformance"))?
    } else {
        let subjects: Result<_, _> = files.iter().map(|file| Subject::read(Path::new(file))).collect();
        Corpus { subjects: subjects? }
    };
    let player = Player::start().await;
    let results = play(&player, &corpus).await;
    let good = if has("--record") { record(&mut corpus, results)? } else { compare(&player, &corpus, results) };
    player.stop().await;
    let faults = corpus.faults();
    for fault in &faults {
        println!("{fault}");
    }
    Ok(good && faults.is_empty())
}

type Results = Vec<(usize, usize, Result<Played, String>)>;

async fn play(player: &Player, corpus: &Corpus) -> Results {
    let all = corpus.subjects.iter().enumerate().flat_map(|(subject, of)| {
        of.transcripts.iter().enumerate().map(move |(index, transcript)| (subject, index, transcript))
    });
    let plays = all.enumerate().map(|(number, (subject, index, transcript))| async move {
        (subject, index, player.play(transcript, number).await)
    });
    futures::stream::iter(plays).buffered(AT_ONCE).collect().await
}

fn record(corpus: &mut Corpus, results: Results) -> Result<bool, String> {
    let mut good = true;
    for (subject, index, result) in results {
        let Some(subject) = corpus.subjects.get_mut(subject) else { continue };
        let Some(name) = subject.transcripts.get(index).map(|transcript| transcript.name.clone()) else { continue };
        match result {
            Ok(played) => drop(subject.answers.insert(name, played.answers)),
            Err(error) => {
                good = false;
                println!("{}/{}: {name}: {error}", subject.heading, subject.name);
            }
        }
    }
    for subject in &corpus.subjects {
        subject.write_answers()?;
    }
    Ok(good)
}

fn compare(player: &Player, corpus: &Corpus, results: Results) -> bool {
    let (mut equal, mut different) = (0, 0);
    for (subject, index, result) in results {
        let Some(subject) = corpus.subjects.get(subject) else { continue };
        let Some(transcript) = subject.transcripts.get(index) else { continue };
        let name = format!("{}/{}: {}", subject.heading, subject.name, transcript.name);
        let differences = match result {
            Ok(answers) => subject.differences(transcript, &answers),
            Err(error) => {
                println!("{name}: {error}");
                different += 1;
                continue;
            }
        };
        match (&transcript.differs, differences.is_empty()) {
            (Some(reason), true) if player.is_embedded() => {
                println!("{name}: should differ ({reason}), and doesn't");
                different += 1;
            }
            (Some(_), false) if player.is_embedded() => equal += 1,
            (_, true) => equal += 1,
            (_, false) => {
                different += 1;
                println!("{name}");
                for difference in differences {
                    println!(
                        "  {}\n    expected {}\n    found    {}",
                        difference.place, difference.expected, difference.found
                    );
                }
            }
        }
    }
    println!("{equal} as expected, {different} not");
    different == 0
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The folder upward from the current one that has the corpus.
fn root() -> Result<PathBuf, String> {
    let start = std::env::current_dir().map_err(|error| error.to_string())?;
    let found = start.ancestors().find(|folder| folder.join("conformance").is_dir());
    found.map(Path::to_path_buf).ok_or_else(|| "no folder `conformance` here or above".to_owned())
}
