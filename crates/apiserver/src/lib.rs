//! A Kubernetes API server inside the process.

mod catalogue;
mod core;
mod metadata;
mod registry;
mod resource;
mod status;
mod strategy;
