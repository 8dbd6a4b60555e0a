use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

/// Writes a kubeconfig with one cluster, user and context, and everything inline. Without an authority the server
/// is reached over plain HTTP.
pub(crate) fn kubeconfig(url: &str, authority: Option<&str>, token: &str) -> String {
    let name = "embedded";
    let authority = authority.map_or_else(String::new, |pem| {
        let data = STANDARD.encode(pem);
        format!("    certificate-authority-data: {data}\n")
    });
    // A JSON string is a YAML string, whatever characters a token has.
    let (url, token) = (json!(url), json!(token));
    format!(
        "apiVersion: v1\nkind: Config\nclusters:\n- name: {name}\n  cluster:\n    server: {url}\n{authority}users:\n\
         - name: {name}\n  user:\n    token: {token}\ncontexts:\n- name: {name}\n  context:\n    cluster: {name}\n    \
         user: {name}\ncurrent-context: {name}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::kubeconfig;

    #[test]
    fn a_kubeconfig_is_whole() {
        let text = kubeconfig("https://127.0.0.1:6443", Some("PEM"), "to\"ken");
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
        assert!(!kubeconfig("http://127.0.0.1:1", None, "t").contains("certificate"));
    }
}
