//! What signals do to a program with a manager: this test starts itself as that program.

use std::convert::Infallible;
use std::io::{BufRead as _, BufReader};
use std::process::{ChildStderr, Command, ExitCode, Stdio};
use std::time::Duration;

use controller_runtime_ambient::CancellationToken;
use controller_runtime_controller::{Host as _, Runnable};
use controller_runtime_manager::{LogFormat, Manager, ManagerError, init_logs, shutdown_signals};
use kube_client::client::Body;

/// What the program's runnable does after the stop.
const MODE: &str = "SIGNALS_TEST_MODE";

fn main() -> ExitCode {
    if let Ok(mode) = std::env::var(MODE) {
        return program(&mode);
    }
    check("ends", "TERM", 1, Some(0), "SIGTERM");
    check("ends", "INT", 1, Some(0), "SIGINT");
    check("ends", "HUP", 1, Some(0), "SIGHUP");
    // The second one doesn't wait for the graceful time-out of 30 s.
    check("hangs", "TERM", 2, Some(1), "SIGTERM");
    check("late", "TERM", 1, Some(7), "SIGTERM");
    println!("5 checks passed");
    ExitCode::SUCCESS
}

/// A program whose manager runs until a signal.
fn program(mode: &str) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let hangs = mode != "ends";
    let timeout = if mode == "late" { Duration::from_millis(10) } else { Duration::from_secs(30) };
    let result = runtime.block_on(async {
        init_logs(LogFormat::Json).expect("they are not set up yet");
        assert!(init_logs(LogFormat::Human).is_err(), "logs are set up once");
        let service = tower::service_fn(|_: http::Request<Body>| async {
            Ok::<_, Infallible>(http::Response::new(Body::empty()))
        });
        let manager = Manager::builder(kube_client::Client::new(service, "default"));
        let manager = manager.graceful_timeout(timeout).build().await?;
        let runnable = Runnable::new("test", move |token: CancellationToken| async move {
            tracing::info!("ready");
            token.cancelled().await;
            tracing::info!("told to stop");
            if hangs {
                std::future::pending::<()>().await;
            }
            Ok::<(), ManagerError>(())
        });
        manager.add(runnable).expect("it is new");
        manager.start(shutdown_signals()).await
    });
    if result.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(7) }
}

/// Sends the program `times` signals, each when it is ready for it, and looks at its exit code and logs.
fn check(mode: &str, signal: &str, times: usize, code: Option<i32>, reason: &str) {
    let program = std::env::current_exe().expect("this test");
    let mut child =
        Command::new(program).env(MODE, mode).env_remove("RUST_LOG").stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stderr.take().expect("piped"));
    let mut logs = String::new();
    for awaited in ["ready", "told to stop"].into_iter().take(times) {
        read_until(&mut lines, &mut logs, awaited);
        let sent = Command::new("kill").arg(format!("-{signal}")).arg(child.id().to_string()).status();
        assert!(sent.expect("kill runs").success());
    }
    // The logs end with the program; at the latest when the graceful time-out does.
    read_until(&mut lines, &mut logs, "");
    assert_eq!(child.wait().expect("it can be asked").code(), code, "{mode} {signal}: {logs}");
    assert!(logs.contains(&format!(r#""reason":"{reason}""#)), "{logs}");
    assert_eq!(logs.contains("(SIGTERM); aborted: test"), mode == "late", "{logs}");
    let is_json = |line: &str| line.starts_with(r#"{"timestamp":""#) && line.ends_with('}');
    assert!(logs.lines().all(is_json), "{logs}");
}

/// Reads lines until one that holds `awaited`; to the end, if that is empty.
fn read_until(lines: &mut BufReader<ChildStderr>, logs: &mut String, awaited: &str) {
    loop {
        let before = logs.len();
        let read = lines.read_line(logs).expect("text");
        if awaited.is_empty() && read == 0 {
            return;
        }
        assert!(read > 0, "the program ended before {awaited:?}: {logs}");
        if !awaited.is_empty() && logs.get(before..).is_some_and(|line| line.contains(awaited)) {
            return;
        }
    }
}
