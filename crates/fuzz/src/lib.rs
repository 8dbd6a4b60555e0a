//! Hostile input: functions that each take any bytes, and a driver that feeds them.
//!
//! A [`Target`] is a part of the project that reads what others write: the patch engines, selectors, continue tokens,
//! protobuf, schemas, CEL. Its function panics when something doesn't hold, whatever the bytes are.
//!
//! [`drive`] runs a target on stable Rust: it changes the target's seeds, always the same way for the same seed of
//! chance. The folder `fuzz` at the workspace's root gives the same functions to cargo-fuzz, which is guided by coverage
//! and needs nightly Rust. `cargo xtask fuzz` runs either.
//!
//! ```
//! let target = controller_runtime_fuzz::TARGETS.iter().find(|target| target.name == "json_merge").unwrap();
//! controller_runtime_fuzz::drive(target, 1, 100);
//! ```

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a panic is how a target reports")]

mod document;
mod driver;
mod mutate;
mod server;
mod target;

pub use driver::drive;
pub use target::{TARGETS, Target, run};
