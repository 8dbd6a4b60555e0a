use std::fmt::Write as _;

use super::corpus::Corpus;

/// The text of `docs/fidelity.md`: what is equal, what differs and why, and the limits that no transcript can show.
pub fn report(corpus: &Corpus, limits: &str) -> String {
    let mut text = String::from(
        "# How far the embedded API server is kube-apiserver\n\n\
         Written by `cargo xtask conformance --report` from the conformance corpus (`conformance`) and `conformance/limits.md`.\n\n\
         Each transcript is a few requests that kube-apiserver 1.37 was asked, with its controllers for garbage collection and\n\
         namespaces; its answers are recorded, and `cargo xtask test` demands the same of the embedded server.\n\n\
         | heading | subject | transcripts | of which errors | equal | different |\n|---|---|---:|---:|---:|---:|\n",
    );
    let mut total = [0; 4];
    for subject in &corpus.subjects {
        let all = subject.transcripts.len();
        let errors = subject.transcripts.iter().filter(|transcript| subject.is_error(transcript)).count();
        let different = subject.transcripts.iter().filter(|transcript| transcript.differs.is_some()).count();
        let row = [all, errors, all - different, different];
        let [_, _, equal, _] = row;
        for (sum, count) in total.iter_mut().zip(row) {
            *sum += count;
        }
        let _ = writeln!(
            text,
            "| {} | {} | {all} | {errors} | {equal} | {different} |",
            subject.heading.replace('-', " "),
            subject.name.replace('-', " ")
        );
    }
    let [all, errors, equal, different] = total;
    let _ = writeln!(text, "| **all** | | **{all}** | **{errors}** | **{equal}** | **{different}** |");
    text += "\n## Transcripts that differ\n\n";
    let mut none = true;
    for subject in &corpus.subjects {
        for transcript in &subject.transcripts {
            if let Some(reason) = &transcript.differs {
                none = false;
                let _ = writeln!(text, "- {}, {}: {}: {reason}", subject.heading, subject.name, transcript.name);
            }
        }
    }
    if none {
        text += "None.\n";
    }
    text + "\n## Limits that transcripts don't show\n\n" + limits
}
