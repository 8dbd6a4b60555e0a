use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use controller_runtime_testenv::{Backend, Door, Environment};
use kube_client::Config;
use kube_client::config::{KubeConfigOptions, Kubeconfig};

use crate::Error;

/// An embedded server in a process of its own: this program, started once more. It ends with its standard input, so
/// also when the program that started it is killed.
pub(crate) struct Server {
    child: Child,
    stdin: ChildStdin,
    kubeconfig: Kubeconfig,
}

impl Server {
    pub(crate) fn start() -> Result<Self, Error> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut child = command.arg("--serve").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the server has no pipes".into());
        };
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        Ok(Self { child, stdin, kubeconfig: serde_json::from_str(&line)? })
    }

    pub(crate) async fn config(&self) -> Result<Config, Error> {
        Ok(Config::from_custom_kubeconfig(self.kubeconfig.clone(), &KubeConfigOptions::default()).await?)
    }

    pub(crate) fn stop(self) -> Result<(), Error> {
        let Self { mut child, stdin, .. } = self;
        drop(stdin);
        child.wait()?;
        Ok(())
    }
}

/// The server's side: says how it is reached, and serves until its standard input ends.
pub(crate) fn serve() -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let env = runtime.block_on(Environment::builder().backend(Backend::Embedded).door(Door::Https).start())?;
    let kubeconfig = runtime.block_on(env.kubeconfig())?;
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{}", serde_json::to_string(&kubeconfig)?)?;
    stdout.flush()?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    runtime.block_on(env.stop())?;
    Ok(())
}
