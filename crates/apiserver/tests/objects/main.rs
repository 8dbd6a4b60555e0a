//! What can be done with objects, through the in-process door.

#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

mod api;
mod applying;
mod deleting;
mod listing;
mod patching;
mod watching;
mod writing;
