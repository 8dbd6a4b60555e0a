//! The commands, seen from outside, as far as they are cheap.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::process::{Command, Output};

fn xtask(words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(words.split_whitespace());
    command
}

/// Runs it where it must fail; returns its errors.
fn fails(command: &mut Command) -> String {
    let Output { status, stderr, .. } = command.output().unwrap();
    assert!(!status.success());
    String::from_utf8_lossy(&stderr).into_owned()
}

#[test]
fn help_lists_the_commands() {
    let output = xtask("--help").output().unwrap();
    assert!(output.status.success());
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    for command in ["demo", "serve", "test", "control-plane", "codegen", "check", "bench"] {
        assert!(help.lines().any(|line| line.trim_start().starts_with(command)), "{command} is not in {help}");
    }
}

#[test]
fn an_unknown_command_or_backend_is_an_error() {
    assert!(fails(&mut xtask("dance")).contains("unrecognized subcommand 'dance'"));
    let error = fails(&mut xtask("test --backend other"));
    assert!(error.contains("[possible values: embedded, reference]"), "{error}");
}

#[test]
fn a_missing_go_is_named() {
    let cache = tempfile::tempdir().unwrap();
    for words in ["control-plane", "control-plane run"] {
        let mut command = xtask(words);
        command.env_remove("KUBEBUILDER_ASSETS").env("XDG_CACHE_HOME", cache.path()).env("PATH", cache.path());
        let error = fails(&mut command);
        assert!(error.contains("there is no `go` in PATH: install Go 1.26 or newer"), "{error}");
    }
}

#[test]
fn assets_without_programs_are_named() {
    let assets = tempfile::tempdir().unwrap();
    let error = fails(xtask("control-plane run").env("KUBEBUILDER_ASSETS", assets.path()));
    let expected = format!("KUBEBUILDER_ASSETS is {}, where there is no kube-apiserver", assets.path().display());
    assert_eq!(error.trim(), format!("error: {expected}"));
}

#[test]
fn a_server_that_cannot_start_is_shown_with_its_log() {
    use std::os::unix::fs::PermissionsExt;

    let assets = tempfile::tempdir().unwrap();
    for program in ["etcd", "kube-apiserver", "kubectl"] {
        let file = assets.path().join(program);
        std::fs::write(&file, "#!/bin/sh\necho no such flag >&2\nexit 3\n").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let error = fails(xtask("control-plane run").env("KUBEBUILDER_ASSETS", assets.path()));
    assert!(error.contains("ended by itself (exit status: 3); its last lines:\nno such flag"), "{error}");
}
