//! The targets, one a file.

mod apply;
mod cel;
mod continue_token;
mod json_merge;
mod json_patch;
mod protobuf;
mod schema;
mod selector;
mod strategic_merge;

/// A part of the project that reads what others write.
#[derive(Debug)]
#[non_exhaustive]
pub struct Target {
    /// Its name, also of the cargo-fuzz target.
    pub name: &'static str,
    /// Reads the bytes; panics when what must hold doesn't.
    pub run: fn(&[u8]),
    /// Inputs that it reads with success, from which others are made.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target { name: "apply", run: apply::run, seeds: apply::seeds },
    Target { name: "cel", run: cel::run, seeds: cel::seeds },
    Target { name: "continue_token", run: continue_token::run, seeds: continue_token::seeds },
    Target { name: "json_merge", run: json_merge::run, seeds: json_merge::seeds },
    Target { name: "json_patch", run: json_patch::run, seeds: json_patch::seeds },
    Target { name: "protobuf", run: protobuf::run, seeds: protobuf::seeds },
    Target { name: "schema", run: schema::run, seeds: schema::seeds },
    Target { name: "selector", run: selector::run, seeds: selector::seeds },
    Target { name: "strategic_merge", run: strategic_merge::run, seeds: strategic_merge::seeds },
];

/// Gives the bytes to the target of that name.
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    (target.unwrap_or_else(|| panic!("no target {name}")).run)(data);
}
