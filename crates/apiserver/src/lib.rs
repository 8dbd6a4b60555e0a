//! A Kubernetes API server inside the process.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! use controller_runtime_apiserver::ApiServer;
//! use http::Request;
//! use http_body_util::Empty;
//! use tower::ServiceExt;
//!
//! let server = ApiServer::builder().build();
//! let request = Request::get("/readyz").body(Empty::<bytes::Bytes>::new()).unwrap();
//! let response = server.service().oneshot(request).await.unwrap();
//! assert_eq!(response.status(), 200);
//! server.shutdown().await;
//! # }
//! ```

mod access;
mod admission;
mod body;
mod bootstrap;
mod catalogue;
mod controllers;
mod core;
mod custom;
mod discovery;
mod managed_fields;
mod metadata;
mod openapi;
mod patch;
mod pipeline;
mod protobuf;
mod registry;
mod resource;
mod selector;
mod server;
mod status;
mod store;
mod strategy;
mod table;
mod verbs;

pub use access::{CertificateError, ClientAuthority, ClientCertificate, Identity};
pub use admission::{AdmissionAnswer, AdmissionHook, AdmissionOperation, AdmissionRequest, WebhookService};
pub use body::Body;
pub use server::{
    ApiServer, ApiServerBuilder, InProcess, InProcessFuture, ListenError, ListenOptions, Listener, RequestRecord, Tls,
};
