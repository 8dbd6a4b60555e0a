//! CustomResourceDefinitions and the objects they define, through the server's door.

#![allow(clippy::unwrap_used, reason = "in tests a panic is the report")]

mod client;
mod definitions;
mod objects;
mod subresources;
