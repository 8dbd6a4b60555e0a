//! kubectl, with built-in and custom resources.

use integration_tests::{Fixture, Kubectl, widget, widget_definition};
use serde_json::json;

const WEB: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: 'web:1'}]}
";

#[tokio::test]
async fn it_finds_its_way() {
    let fixture = Fixture::start("kubectl-find").await;
    let Some(kubectl) = Kubectl::of(&fixture, "kubectl-find").await else { return };
    let version = kubectl.run("version -o json").await;
    let version = serde_json::from_str::<serde_json::Value>(&version).unwrap();
    assert_eq!(version["serverVersion"]["minor"], "37");

    fixture.install_widgets().await;
    let version = format!("{}/v1", fixture.group());
    let resources = kubectl.until("api-resources", |resources| resources.contains(&version)).await;
    let line = |start: &str| resources.lines().find(|line| line.starts_with(start)).unwrap_or_default().to_owned();
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&line("deployments")), ["deployments", "deploy", "apps/v1", "true", "Deployment"]);
    let widgets = resources.lines().find(|line| line.contains(&version)).unwrap_or_default();
    assert_eq!(words(widgets), ["widgets", "wd", &version, "true", "Widget"]);

    let explained = kubectl.run("explain deployments.spec.replicas").await;
    assert!(explained.contains("FIELD: replicas <integer>"), "{explained}");
    let explain = format!("explain widgets.spec --api-version={version}");
    kubectl.until(&explain, |explained| explained.contains("color\t<string> -required-")).await;
    fixture.stop().await;
}

#[tokio::test]
async fn it_works_on_built_in_kinds() {
    let fixture = Fixture::start("kubectl-built-in").await;
    let Some(kubectl) = Kubectl::of(&fixture, "kubectl-built-in").await else { return };
    assert_eq!(kubectl.run_with("create -f -", WEB).await, "deployment.apps/web created\n");
    let table = kubectl.run("get deployments").await;
    let header = table.lines().next().unwrap_or_default().split_whitespace().collect::<Vec<_>>();
    assert_eq!(header, ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"]);
    assert!(kubectl.run("describe deployment web").await.contains("Image:         web:1"));

    for (words, expected) in [
        ("label deployment web tier=front", "deployment.apps/web labeled\n"),
        ("annotate deployment web note=text", "deployment.apps/web annotated\n"),
        ("scale deployment web --replicas=3", "deployment.apps/web scaled\n"),
        ("set image deployment/web web=web:2", "deployment.apps/web image updated\n"),
        (r#"patch deployment web -p {"spec":{"minReadySeconds":5}}"#, "deployment.apps/web patched\n"),
        ("wait deployment web --for=jsonpath={.spec.replicas}=3 --timeout=10s", "deployment.apps/web condition met\n"),
    ] {
        assert_eq!(kubectl.run(words).await, expected, "kubectl {words}");
    }
    let state = "get deployment web -o jsonpath={.spec.replicas}/{.spec.minReadySeconds}/{.metadata.labels.tier}/{.metadata.annotations.note}";
    assert_eq!(kubectl.run(state).await, "3/5/front/text");
    let image = "get deployment web -o jsonpath={.spec.template.spec.containers[0].image}";
    assert_eq!(kubectl.run(image).await, "web:2");

    assert_eq!(
        kubectl.run("delete deployment web").await,
        format!("deployment.apps \"web\" deleted from {} namespace\n", fixture.namespace())
    );
    let errors = kubectl.fails("get deployment web", "").await;
    assert_eq!(errors, "Error from server (NotFound): deployments.apps \"web\" not found\n");
    fixture.stop().await;
}

#[tokio::test]
async fn it_applies() {
    let fixture = Fixture::start("kubectl-apply").await;
    let Some(kubectl) = Kubectl::of(&fixture, "kubectl-apply").await else { return };
    assert_eq!(kubectl.run_with("apply -f -", WEB).await, "deployment.apps/web created\n");
    assert_eq!(kubectl.run_with("apply -f -", WEB).await, "deployment.apps/web unchanged\n");
    let changed = WEB.replace("web:1", "web:2");
    let (_, difference, _) = kubectl.output("diff -f -", &changed).await;
    assert!(
        difference.contains("-      - image: web:1") && difference.contains("+      - image: web:2"),
        "{difference}"
    );
    assert_eq!(kubectl.run_with("apply -f -", &changed).await, "deployment.apps/web configured\n");

    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: map}\ndata: {key: a}\n";
    let server_side = "apply --server-side --field-manager=first -f -";
    assert_eq!(kubectl.run_with(server_side, map).await, "configmap/map serverside-applied\n");
    let conflict =
        kubectl.fails("apply --server-side --field-manager=second -f -", &map.replace("key: a", "key: b")).await;
    assert!(conflict.contains("conflict with \"first\": .data.key"), "{conflict}");
    let forced = "apply --server-side --force-conflicts --field-manager=second -f -";
    assert_eq!(kubectl.run_with(forced, &map.replace("key: a", "key: b")).await, "configmap/map serverside-applied\n");
    assert_eq!(kubectl.run("get configmap map -o jsonpath={.data.key}").await, "b");
    fixture.stop().await;
}

#[tokio::test]
async fn it_works_on_custom_kinds() {
    let fixture = Fixture::start("kubectl-custom").await;
    let Some(kubectl) = Kubectl::of(&fixture, "kubectl-custom").await else { return };
    let group = fixture.group();
    let definition = widget_definition(&group).to_string();
    let name = format!("customresourcedefinition.apiextensions.k8s.io/widgets.{group}");
    assert_eq!(kubectl.run_with("create -f -", &definition).await, format!("{name} created\n"));
    assert_eq!(
        kubectl.run(&format!("wait {name} --for=condition=Established --timeout=20s")).await,
        format!("{name} condition met\n")
    );
    kubectl.until(&format!("get widgets.{group}"), str::is_empty).await;

    let one = widget(&group, "one", &json!({"color": "red", "replicas": 2})).to_string();
    let resource = format!("widget.{group}/one");
    assert_eq!(kubectl.run_with("apply -f -", &one).await, format!("{resource} created\n"));
    // Other tests' widgets may be on the same server, so the kind alone would not name these.
    let table = kubectl.run(&format!("get widgets.{group}")).await;
    assert_eq!(
        table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()).collect::<Vec<_>>(),
        [["NAME", "REPLICAS"], ["one", "2"]]
    );
    assert!(kubectl.run(&format!("describe {resource}")).await.contains("Color:     red"));
    assert_eq!(kubectl.run(&format!("scale {resource} --replicas=5")).await, format!("{resource} scaled\n"));
    assert_eq!(kubectl.run(&format!("label {resource} tier=front")).await, format!("{resource} labeled\n"));
    let patch = format!(r#"patch {resource} --type=merge -p {{"spec":{{"color":"blue"}}}}"#);
    assert_eq!(kubectl.run(&patch).await, format!("{resource} patched\n"));
    assert_eq!(kubectl.run(&format!("get {resource} -o jsonpath={{.spec.replicas}}{{.spec.color}}")).await, "5blue");
    let errors = kubectl.fails("apply -f -", &one.replace("red", "pink")).await;
    assert!(
        errors.contains("Unsupported value: \"pink\": supported values: \"blue\", \"green\", \"red\"")
            || errors.contains("Unsupported value: \"pink\": supported values: \"red\", \"green\", \"blue\""),
        "{errors}"
    );
    kubectl.run(&format!("delete {resource}")).await;
    kubectl.run(&format!("delete {name}")).await;
    fixture.stop().await;
}

/// The commands that build an object themselves send it as protocol buffers.
#[tokio::test]
async fn it_creates_without_files() {
    let fixture = Fixture::start("kubectl-create").await;
    let Some(kubectl) = Kubectl::of(&fixture, "kubectl-create").await else { return };
    let namespace = format!("{}-more", fixture.namespace());
    for (words, created) in [
        ("configmap map --from-literal=a=b", "configmap/map"),
        ("secret generic key --from-literal=a=b", "secret/key"),
        ("secret docker-registry pull --docker-server=a --docker-username=b --docker-password=c", "secret/pull"),
        ("deployment web --image=web:1 --replicas=2 --port=80", "deployment.apps/web"),
        ("job once --image=web:1 -- true", "job.batch/once"),
        ("cronjob often --image=web:1 --schedule=@hourly -- true", "cronjob.batch/often"),
        ("serviceaccount runner", "serviceaccount/runner"),
        ("role reader --verb=get --resource=pods", "role.rbac.authorization.k8s.io/reader"),
        ("rolebinding readers --role=reader --serviceaccount=a:b", "rolebinding.rbac.authorization.k8s.io/readers"),
        ("quota small --hard=cpu=1,pods=2", "resourcequota/small"),
        ("poddisruptionbudget some --selector=app=web --min-available=50%", "poddisruptionbudget.policy/some"),
        ("service clusterip web --tcp=80:http", "service/web"),
        ("ingress web --rule=a.b/*=web:80", "ingress.networking.k8s.io/web"),
        (&format!("namespace {namespace}"), &format!("namespace/{namespace}")),
    ] {
        assert_eq!(kubectl.run(&format!("create {words}")).await, format!("{created} created\n"), "create {words}");
        let name = created.replace('/', " ");
        assert_eq!(kubectl.run(&format!("get {name} -o name")).await, format!("{created}\n"));
    }
    assert_eq!(kubectl.run("get secret key -o jsonpath={.data.a}").await, "Yg==");
    assert_eq!(kubectl.run("get deployment web -o jsonpath={.spec.replicas}").await, "2");
    assert_eq!(kubectl.run("get quota small -o jsonpath={.spec.hard.cpu}").await, "1");
    assert_eq!(kubectl.run("get pdb some -o jsonpath={.spec.minAvailable}").await, "50%");
    let errors = kubectl.fails("create configmap map", "").await;
    assert!(errors.contains("configmaps \"map\" already exists"), "{errors}");
    kubectl.run(&format!("delete namespace {namespace} --wait=false")).await;
    fixture.stop().await;
}
