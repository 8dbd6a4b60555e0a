//! The server as its user sees it: how it is made, its doors, and how it ends.

mod api_server;
mod audit_id;
mod builder;
mod certificate;
mod connection;
mod door;
mod error;
mod in_process;
mod kubeconfig;
mod listen;
mod prompt;
mod request_log;
mod tls_entrance;

pub use api_server::ApiServer;
pub use builder::ApiServerBuilder;
pub(crate) use door::Door;
pub use error::ListenError;
pub use in_process::{InProcess, InProcessFuture};
pub use listen::{ListenOptions, Listener, Tls};
pub use request_log::RequestRecord;
