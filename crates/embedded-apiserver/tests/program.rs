//! What the program does, seen from outside.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::io::{BufRead, BufReader, Read};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_embedded-apiserver"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A running program and the URL that it printed. Dropping it ends it.
struct Running {
    child: Child,
    url: String,
}

impl Running {
    fn start(arguments: &[&str]) -> Self {
        let mut child = program(arguments).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }

    fn address(&self) -> &str {
        self.url.split_once("://").map(|(_, address)| address).unwrap_or_default()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn error_of(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn it_serves_until_a_signal() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut running = Running::start(&["--listen", "127.0.0.1:0"]);
        assert!(running.url.starts_with("https://127.0.0.1:"), "{}", running.url);
        TcpStream::connect(running.address()).unwrap();

        kill_process(Pid::from_child(&running.child), signal).unwrap();
        assert_eq!(running.child.wait().unwrap().code(), Some(0), "{signal:?}");
        let mut errors = String::new();
        running.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        assert_eq!(errors, "");
        TcpStream::connect(running.address()).unwrap_err();
    }
}

#[test]
fn plain_http_answers_without_tls() {
    use std::io::Write;

    let running = Running::start(&["--listen", "127.0.0.1:0", "--tls=false"]);
    assert!(running.url.starts_with("http://127.0.0.1:"), "{}", running.url);
    let mut stream = TcpStream::connect(running.address()).unwrap();
    stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.ends_with("ok"), "{answer}");
}

#[test]
fn the_kubeconfig_is_its_owners() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kubeconfig");
    std::fs::write(&file, "something else, and readable").unwrap();
    let running = Running::start(&["--listen", "127.0.0.1:0", "--kubeconfig-out", file.to_str().unwrap()]);

    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains(&running.url), "{text}");
    assert!(text.contains("certificate-authority-data"), "{text}");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_port_in_use_is_an_error() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let error = error_of(&program(&["--listen", &address]).output().unwrap());
    assert!(error.starts_with(&format!("error: cannot listen on {address}: ")), "{error}");
    assert!(error.contains("in use"), "{error}");
}

#[test]
fn a_kubeconfig_that_cannot_be_written_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("absent").join("kubeconfig");
    let arguments = ["--listen", "127.0.0.1:0", "--kubeconfig-out", file.to_str().unwrap()];
    let error = error_of(&program(&arguments).output().unwrap());
    assert!(error.starts_with(&format!("error: cannot write the kubeconfig to {}: ", file.display())), "{error}");
    assert!(error.contains("No such file or directory"), "{error}");
}
