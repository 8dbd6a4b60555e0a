//! The conformance corpus: transcripts of requests, what kube-apiserver answered, and whether the embedded server answers
//! the same. `conformance/README.md` describes the files.

mod behaviour;
mod compare;
mod corpus;
mod normal;
mod player;
mod report;
mod shape;
mod transcript;
mod words;

pub use compare::Difference;
pub use corpus::{Corpus, Subject};
pub use player::{Played, Player};
pub use report::report;
pub use transcript::{Step, Transcript};
