use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

/// Programs that were started here and end here: when this is dropped, last started first.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    running: Vec<Process>,
}

#[derive(Debug)]
struct Process {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Processes {
    /// Starts `command`; what it prints goes to a log file in `folder`.
    pub(crate) fn start(&mut self, name: &str, mut command: Command, folder: &Path) -> Result<()> {
        let log = folder.join(format!("{name}.log"));
        let out = File::create(&log).with_context(|| format!("cannot create {}", log.display()))?;
        let errors = out.try_clone().with_context(|| format!("cannot share {}", log.display()))?;
        command.stdin(Stdio::null()).stdout(out).stderr(errors);
        detach_from_terminal(&mut command);
        let child = command.spawn().with_context(|| format!("cannot start {name}"))?;
        self.running.push(Process { name: name.to_owned(), child, log });
        Ok(())
    }

    /// Fails, with the end of its log, when one has ended by itself.
    pub(crate) fn check_alive(&mut self) -> Result<()> {
        for process in &mut self.running {
            if let Some(status) = process.child.try_wait().context("cannot ask for a child's state")? {
                bail!("{} ended by itself ({status}); its last lines:\n{}", process.name, last_lines(&process.log));
            }
        }
        Ok(())
    }
}

/// A terminal's Ctrl-C must reach only this program, which then ends the others in order.
fn detach_from_terminal(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

impl Drop for Processes {
    fn drop(&mut self) {
        while let Some(mut process) = self.running.pop() {
            process.end();
        }
    }
}

impl Process {
    /// Asks it to end, and ends it by force after five seconds.
    fn end(&mut self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        for _ in 0..100 {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn last_lines(log: &Path) -> String {
    let text = std::fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines = text.lines().collect::<Vec<_>>();
    lines.get(lines.len().saturating_sub(10)..).unwrap_or_default().join("\n")
}
