use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use controller_runtime_apiserver::CertificateError;
use controller_runtime_client::ClientError;

/// Why an environment could not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An environment variable has a value that means nothing.
    #[error("{variable} is {value:?}; it may be {expected}")]
    Variable {
        /// The variable's name.
        variable: &'static str,
        /// What it is set to.
        value: String,
        /// What it may be set to.
        expected: &'static str,
    },
    /// The embedded server could not listen.
    #[error("cannot open a listener of the embedded API server")]
    Listen {
        /// What went wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A user's certificate could not be made.
    #[error("cannot make a client certificate")]
    Certificate {
        /// What went wrong, and for whom.
        source: Box<CertificateError>,
    },
    /// A kubeconfig is missing, unreadable or incomplete.
    #[error("cannot use the kubeconfig {origin}")]
    Kubeconfig {
        /// Where it comes from.
        origin: String,
        /// What is wrong with it.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A program of the control plane isn't where it was looked for.
    #[error(
        "there is no {program} in {}: build the control plane with `cargo xtask control-plane`, or set \
         KUBEBUILDER_ASSETS to a folder that has it",
        folder.display()
    )]
    MissingProgram {
        /// The program's name.
        program: &'static str,
        /// The folder.
        folder: PathBuf,
    },
    /// A program of the control plane could not be started.
    #[error("cannot start {program}")]
    Start {
        /// The program's name, or what it needs.
        program: &'static str,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A program of the control plane ended by itself.
    #[error("{program} ended by itself ({status}); its last lines:\n{log}")]
    Ended {
        /// The program's name.
        program: &'static str,
        /// How it ended.
        status: ExitStatus,
        /// The end of what it printed.
        log: String,
    },
    /// The API server didn't become ready in time.
    #[error("the API server isn't ready after {after:?}: {last}")]
    NotReady {
        /// How long it had.
        after: Duration,
        /// Its last answer.
        last: String,
    },
    /// A file or folder of manifests could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A document isn't YAML, or isn't a Kubernetes object.
    #[error("{origin}: {message}")]
    Manifest {
        /// File, number and line of the document.
        origin: String,
        /// What is wrong with it.
        message: String,
    },
    /// A definition could not be applied: the server refused it or can't be reached.
    #[error("cannot install {origin}")]
    Refused {
        /// File, number and line of the document.
        origin: String,
        /// The object, and what the server answered.
        source: Box<ClientError>,
    },
    /// A request failed.
    #[error("cannot {doing}")]
    Request {
        /// What was being done, to which object.
        doing: String,
        /// Why it failed.
        source: Box<kube_client::Error>,
    },
    /// A condition didn't become true in time.
    #[error("{object}: {condition:?} isn't true after {after:?}; last seen: {last}")]
    Timeout {
        /// Kind, namespace and name.
        object: String,
        /// What was waited for.
        condition: String,
        /// How long was waited.
        after: Duration,
        /// The last state seen, as JSON, or that there was none.
        last: String,
    },
}

impl Error {
    pub(crate) fn request(doing: impl Into<String>) -> impl FnOnce(kube_client::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Request { doing, source: Box::new(source) }
    }
}
