use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::access::ClientCertificate;

/// How a client says who it is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Credentials<'a> {
    /// By a bearer token.
    Token(&'a str),
    /// By a certificate.
    Certificate(&'a ClientCertificate),
}

/// Writes a kubeconfig with one cluster, user and context, and everything inline. Without an authority the server
/// is reached over plain HTTP.
pub(crate) fn kubeconfig(url: &str, authority: Option<&str>, credentials: Credentials<'_>) -> String {
    let name = "embedded";
    let authority = authority.map_or_else(String::new, |pem| {
        let data = STANDARD.encode(pem);
        format!("    certificate-authority-data: {data}\n")
    });
    // A JSON string is a YAML string, whatever characters a token has.
    let url = json!(url);
    let user = match credentials {
        Credentials::Token(token) => format!("    token: {}\n", json!(token)),
        Credentials::Certificate(issued) => {
            let (certificate, key) = (STANDARD.encode(&issued.certificate), STANDARD.encode(&issued.key));
            format!("    client-certificate-data: {certificate}\n    client-key-data: {key}\n")
        }
    };
    format!(
        "apiVersion: v1\nkind: Config\nclusters:\n- name: {name}\n  cluster:\n    server: {url}\n{authority}users:\n\
         - name: {name}\n  user:\n{user}contexts:\n- name: {name}\n  context:\n    cluster: {name}\n    \
         user: {name}\ncurrent-context: {name}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::{Credentials, kubeconfig};
    use crate::access::ClientCertificate;

    #[test]
    fn a_kubeconfig_is_whole() {
        let text = kubeconfig("https://127.0.0.1:6443", Some("PEM"), Credentials::Token("to\"ken"));
        insta::assert_snapshot!(text, @r#"
        apiVersion: v1
        kind: Config
        clusters:
        - name: embedded
          cluster:
            server: "https://127.0.0.1:6443"
            certificate-authority-data: UEVN
        users:
        - name: embedded
          user:
            token: "to\"ken"
        contexts:
        - name: embedded
          context:
            cluster: embedded
            user: embedded
        current-context: embedded
        "#);
        assert!(!kubeconfig("http://127.0.0.1:1", None, Credentials::Token("t")).contains("certificate"));
        let issued = ClientCertificate { certificate: "C".to_owned(), key: "K".to_owned() };
        let text = kubeconfig("https://127.0.0.1:1", None, Credentials::Certificate(&issued));
        assert!(text.contains("    client-certificate-data: Qw==\n    client-key-data: Sw==\n"), "{text}");
    }
}
