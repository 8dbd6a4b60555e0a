//! A Kubernetes API server as one program. Its README says how to use it.

mod arguments;
mod kubeconfig;
mod signals;

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Parser;
use controller_runtime_apiserver::{ApiServer, ClientAuthority, Identity, ListenOptions, Tls};
use tracing_subscriber::EnvFilter;

use crate::arguments::Arguments;

#[tokio::main]
async fn main() -> ExitCode {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    match serve(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(arguments: Arguments) -> Result<()> {
    // From here on a signal ends the program in order, also while it starts.
    let stopped = signals::stopped().context("cannot listen to signals")?;
    let delay = Duration::from_secs(arguments.namespace_deletion_delay);
    let mut builder = ApiServer::builder().rbac(arguments.rbac).namespace_deletion_delay(delay);
    if let Some(file) = &arguments.client_ca_file {
        let bundle = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        let authority = ClientAuthority::from_pem(&bundle).with_context(|| format!("cannot use {}", file.display()))?;
        builder = builder.client_authority(authority);
    }
    let server = builder.build();
    let tls = if arguments.tls { Tls::SelfSigned } else { Tls::Off };
    let listener = server
        .listen(ListenOptions { addr: arguments.listen, tls })
        .await
        .with_context(|| format!("cannot listen on {}", arguments.listen))?;
    if let Some(file) = &arguments.kubeconfig_out {
        kubeconfig::write(file, &server.kubeconfig(&listener))
            .with_context(|| format!("cannot write the kubeconfig to {}", file.display()))?;
        eprintln!("kubeconfig: {}", file.display());
    }
    for client in &arguments.client_kubeconfig_out {
        let mut user = Identity::new(&client.user);
        user.groups.clone_from(&client.groups);
        kubeconfig::write(&client.file, &server.kubeconfig_as(&listener, &user)?)
            .with_context(|| format!("cannot write the kubeconfig to {}", client.file.display()))?;
        eprintln!("kubeconfig of {}: {}", client.user, client.file.display());
    }
    // Whoever started it may have closed its end of the pipe; that is no reason to stop serving.
    let _ = writeln!(std::io::stdout(), "{}", listener.url());
    stopped.await;
    server.shutdown().await;
    Ok(())
}
