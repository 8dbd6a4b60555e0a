use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{ArgAction, Parser};

/// A Kubernetes API server as one program. What it holds is in memory and gone when it ends.
#[derive(Debug, Parser)]
#[command(version)]
pub(crate) struct Arguments {
    /// Address and port to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:6443")]
    pub(crate) listen: SocketAddr,
    /// Write a kubeconfig of an administrator there, with its certificate authority inline
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig_out: Option<PathBuf>,
    /// Serve HTTPS with a certificate made at start; `--tls=false` serves plain HTTP
    #[arg(long, value_name = "BOOL", action = ArgAction::Set, num_args = 0..=1, require_equals = true)]
    #[arg(default_value_t = true, default_missing_value = "true")]
    pub(crate) tls: bool,
    /// Let roles and their bindings decide what users may do, with the default roles in place
    #[arg(long)]
    pub(crate) rbac: bool,
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::Arguments;

    #[test]
    fn tls_is_on_unless_told_otherwise() {
        let check = |flags: &[&str], expected: bool| {
            let arguments = Arguments::try_parse_from(["program"].iter().chain(flags)).unwrap();
            assert_eq!(arguments.tls, expected, "{flags:?}");
        };
        check(&[], true);
        check(&["--tls"], true);
        check(&["--tls=true"], true);
        check(&["--tls=false"], false);
    }

    #[test]
    fn an_address_that_is_none_is_refused() {
        let error = Arguments::try_parse_from(["program", "--listen", "here"]).unwrap_err();
        assert!(error.to_string().contains("invalid value 'here' for '--listen <ADDR>'"), "{error}");
    }
}
