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
    /// Leave a deleted namespace as it is for so long before it is emptied; kube-controller-manager waits 5
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    pub(crate) namespace_deletion_delay: u64,
    /// Believe client certificates that the authorities in this PEM file signed, instead of those of an authority made at
    /// start
    #[arg(long, value_name = "FILE")]
    pub(crate) client_ca_file: Option<PathBuf>,
    /// Write a kubeconfig of one more user there, with a certificate made for it; may be given several times
    #[arg(long, value_name = "USER[::GROUP,…]=FILE", conflicts_with = "client_ca_file")]
    pub(crate) client_kubeconfig_out: Vec<ClientKubeconfig>,
}

/// Who gets a kubeconfig, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClientKubeconfig {
    pub(crate) user: String,
    pub(crate) groups: Vec<String>,
    pub(crate) file: PathBuf,
}

impl std::str::FromStr for ClientKubeconfig {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (who, file) = text.split_once('=').ok_or("expected USER[::GROUP,…]=FILE")?;
        // Two colons, as names such as system:node:a have single ones.
        let (user, groups) = who.rsplit_once("::").map_or((who, ""), |(user, groups)| (user, groups));
        if user.is_empty() || file.is_empty() {
            return Err("user and file must not be empty");
        }
        let groups = groups.split(',').filter(|group| !group.is_empty()).map(str::to_owned).collect();
        Ok(Self { user: user.to_owned(), groups, file: file.into() })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::{Arguments, ClientKubeconfig};

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

    #[test]
    fn users_are_named_with_their_groups() {
        let check = |text: &str, expected: Result<(&str, &[&str], &str), &str>| {
            let got = text.parse::<ClientKubeconfig>();
            let expected = expected.map(|(user, groups, file)| ClientKubeconfig {
                user: user.to_owned(),
                groups: groups.iter().map(|group| (*group).to_owned()).collect(),
                file: file.into(),
            });
            assert_eq!(got, expected, "{text}");
        };
        check("jane=f", Ok(("jane", &[], "f")));
        check("system:node:a::system:nodes,b=/x/y=z", Ok(("system:node:a", &["system:nodes", "b"], "/x/y=z")));
        check("jane", Err("expected USER[::GROUP,…]=FILE"));
        check("=f", Err("user and file must not be empty"));
    }
}
