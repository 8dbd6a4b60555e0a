//! The server as its clients see it, through all of its doors.

#![allow(clippy::unwrap_used, reason = "in tests a panic is the report")]

mod admission_hooks;
mod bad_input;
mod client;
mod cluster;
mod doors;
mod garbage_collection;
mod hostile_objects;
mod namespace_deletion;
mod webhook_services;
