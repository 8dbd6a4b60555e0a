//! The project's commands: `cargo xtask <command>`.

mod bench;
mod cargo;
mod check;
mod codegen;
mod conformance;
mod control_plane;
mod demo;
mod fuzz;
mod serve;
mod stop;
mod test;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "The project's commands", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the example operator on its samples until stopped
    Demo(demo::Demo),
    /// Compare the embedded API server with kube-apiserver, transcript by transcript
    Conformance(conformance::Conformance),
    /// Run the embedded API server alone until stopped
    Serve(serve::Serve),
    /// Run the tests
    Test(test::Test),
    /// Build the reference control plane, or run one
    ControlPlane(control_plane::ControlPlaneCommand),
    /// Regenerate what is generated
    Codegen(codegen::Codegen),
    /// Check format, lints, docs, dependencies, layers and tidiness
    Check(check::Check),
    /// Measure
    Bench(bench::Bench),
    /// Give hostile input to what reads the input of others
    Fuzz(fuzz::Fuzz),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Demo(demo) => demo.run(),
        Command::Conformance(conformance) => conformance.run(),
        Command::Serve(serve) => serve.run(),
        Command::Test(test) => test.run(),
        Command::ControlPlane(control_plane) => control_plane.run(),
        Command::Codegen(codegen) => codegen.run(),
        Command::Check(check) => check.run(),
        Command::Bench(bench) => bench.run(),
        Command::Fuzz(fuzz) => fuzz.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
