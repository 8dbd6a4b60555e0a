//! Users who show a certificate.

use controller_runtime_apiserver::{ClientAuthority, Identity};
use controller_runtime_testenv::{Backend, Environment};
use http::Request;
use kube_client::Client;
use kube_client::config::{KubeConfigOptions, Kubeconfig};
use serde_json::{Value, json};

async fn whoami(client: &Client) -> Result<Value, u16> {
    let request = Request::post("/apis/authentication.k8s.io/v1/selfsubjectreviews");
    let request = request.header("content-type", "application/json").body(b"{}".to_vec()).unwrap();
    match client.request::<Value>(request).await {
        Ok(review) => Ok(review["status"]["userInfo"].clone()),
        Err(kube_client::Error::Api(status)) => Err(status.code),
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn a_certificate_is_a_user_with_groups() {
    let env = Environment::builder().rbac(true).start().await.unwrap();
    let jane = Identity::new("jane").with_group("developers").with_group("testers");
    let client = env.kube_client_as(&jane).await.unwrap();
    let mut user = whoami(&client).await.unwrap();
    if env.backend() == Backend::Embedded {
        let id = user["extra"]["authentication.kubernetes.io/credential-id"][0].take();
        assert!(id.as_str().is_some_and(|id| id.starts_with("X509SHA256=") && id.len() == 75), "{id}");
    }
    assert_eq!(
        (&user["username"], &user["groups"]),
        (&json!("jane"), &json!(["developers", "testers", "system:authenticated"]))
    );
    // Roles count for it as for any other user.
    let error = client.request::<Value>(Request::get("/api/v1/secrets").body(Vec::new()).unwrap()).await.unwrap_err();
    let expected =
        "secrets is forbidden: User \"jane\" cannot list resource \"secrets\" in API group \"\" at the cluster scope";
    assert!(matches!(&error, kube_client::Error::Api(status) if status.message == expected), "{error:?}");
    let admin = env.kube_client_as(&Identity::new("root").with_group("system:masters")).await.unwrap();
    admin.request::<Value>(Request::get("/api/v1/secrets").body(Vec::new()).unwrap()).await.unwrap();
    env.stop().await.unwrap();
}

/// A kubeconfig with the certificate of an authority that the server doesn't know.
fn with_certificate(mut kubeconfig: Kubeconfig, authority: &ClientAuthority) -> Kubeconfig {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    let issued = authority.issue(&Identity::new("mallory").with_group("system:masters")).unwrap();
    for own in kubeconfig.auth_infos.iter_mut().filter_map(|named| named.auth_info.as_mut()) {
        own.token = None;
        own.client_certificate_data = Some(STANDARD.encode(&issued.certificate));
        own.client_key_data = Some(STANDARD.encode(&issued.key).into());
    }
    kubeconfig
}

#[tokio::test]
async fn a_strangers_certificate_is_refused_after_the_handshake() {
    let env = Environment::start().await.unwrap();
    let kubeconfig = with_certificate(env.kubeconfig().await.unwrap(), &ClientAuthority::generate().unwrap());
    let config = kube_client::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    let client = Client::try_from(config).unwrap();
    // A server that was started without authorities of clients asks for no certificate: there nobody is anonymous.
    let expected: &[u16] = if env.backend() == Backend::Embedded { &[401] } else { &[401, 403] };
    assert!(expected.contains(&whoami(&client).await.unwrap_err()));
    env.stop().await.unwrap();
}
