use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use controller_runtime_testenv::{Backend, Environment};
use http::Request;
use http::header::AUTHORIZATION;
use http_body_util::BodyExt;
use kube_client::client::Body;
use kube_client::config::{AuthInfo, KubeConfigOptions};
use kube_client::{Client, Config};
use serde_json::{Map, Value, json};
use tokio::time::{sleep, timeout};

use super::normal::Normal;
use super::transcript::{Step, Transcript};
use super::words::Words;
use crate::webhook::Webhook;

/// How long a state may take to come.
const WITHIN: Duration = Duration::from_mins(1);
const POLL_EVERY: Duration = Duration::from_millis(25);
/// A stream that brings nothing for that long has nothing to bring.
const SILENCE: Duration = Duration::from_secs(3);
/// Headers whose values are part of an answer.
const HEADERS: [&str; 8] =
    ["content-type", "warning", "retry-after", "allow", "www-authenticate", "location", "content-encoding", "vary"];

/// Plays transcripts on one API server.
pub struct Player {
    plain: Environment,
    rbac: Option<Environment>,
    bare: Client,
    /// What the transcripts' words begin with.
    run: String,
}

/// What a server answered to a transcript.
#[derive(Clone, Debug)]
pub struct Played {
    /// The normalised answers of the steps that count, in order.
    pub answers: Vec<Value>,
}

struct Answer {
    code: u16,
    headers: BTreeMap<String, Value>,
    body: Value,
}

impl Player {
    /// Plays on the server that the environment variables name; the embedded one without them.
    pub async fn start() -> Self {
        let plain = Environment::start().await.unwrap();
        let embedded = plain.backend() == Backend::Embedded;
        // In process nobody adds credentials to a request.
        let bare = if embedded { plain.kube_client() } else { without_credentials(&plain).await };
        let rbac = if embedded { Some(Environment::builder().rbac(true).start().await.unwrap()) } else { None };
        let random = plain.ambient().uuid();
        let letters = random.bytes().take(3).map(|byte| char::from(b'a' + byte % 26));
        Self { rbac, bare, run: letters.collect(), plain }
    }

    /// Whether the server is the embedded one.
    pub fn is_embedded(&self) -> bool {
        self.plain.backend() == Backend::Embedded
    }

    /// Plays one transcript; `index` is no other's of this player.
    pub async fn play(&self, transcript: &Transcript, index: usize) -> Result<Played, String> {
        let environment = self.rbac.as_ref().filter(|_| transcript.rbac).unwrap_or(&self.plain);
        let id = format!("t{}{index:04}", self.run);
        let words = Words::new(&id);
        let mut play = Play::start([environment.kube_client(), self.bare_of(environment)], words, transcript).await?;
        let result = play.steps(transcript).await;
        play.stop().await;
        result.map(|answers| Played { answers })
    }

    /// A client for requests that bring their own credentials.
    fn bare_of(&self, environment: &Environment) -> Client {
        if self.is_embedded() { environment.kube_client() } else { self.bare.clone() }
    }

    /// Ends what was started.
    pub async fn stop(self) {
        self.plain.stop().await.unwrap();
        if let Some(rbac) = self.rbac {
            rbac.stop().await.unwrap();
        }
    }
}

/// A client of a real server that adds no credentials of its own.
async fn without_credentials(environment: &Environment) -> Client {
    let mut kubeconfig = environment.kubeconfig().await.unwrap();
    for own in &mut kubeconfig.auth_infos {
        own.auth_info = Some(AuthInfo::default());
    }
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}

/// One transcript on its way.
struct Play {
    client: Client,
    /// For requests that bring their own credentials.
    bare: Client,
    words: Words,
    normal: Normal,
    webhooks: BTreeMap<String, Webhook>,
    /// Paths of what stands outside the namespace and has to go.
    made: Vec<String>,
}

impl Play {
    async fn start([client, bare]: [Client; 2], mut words: Words, transcript: &Transcript) -> Result<Self, String> {
        let mut webhooks = BTreeMap::new();
        let mut shown = Vec::new();
        for (name, behaviour) in &transcript.webhooks {
            let webhook = Webhook::start().await;
            let (answering, delay) = (behaviour.clone(), behaviour.delay());
            webhook.answers(move |review| answering.answer(review)).await;
            webhook.delays(delay).await;
            words.set(format!("{name}.url"), format!("https://{}/review", webhook.address()));
            words.set(format!("{name}.bundle"), webhook.bundle());
            shown.extend([(webhook.address().to_string(), "WEBHOOK"), (webhook.bundle(), "CERTIFICATE")]);
            webhooks.insert(name.clone(), webhook);
        }
        let normal = Normal::new(&words, shown);
        let play = Self { client, bare, words, normal, webhooks, made: Vec::new() };
        let namespace = json!({"metadata": {"name": play.words.get("ns")}});
        let step = Step { send: "POST /api/v1/namespaces".to_owned(), body: Some(namespace), ..Step::default() };
        let answer = play.send(&step).await?;
        if answer.code != 201 {
            return Err(format!("making the namespace: {}", answer.body));
        }
        Ok(play)
    }

    async fn steps(&mut self, transcript: &Transcript) -> Result<Vec<Value>, String> {
        let mut answers = Vec::new();
        for step in &transcript.steps {
            if let Some(name) = &step.asked {
                let webhook = self.webhooks.get(name).ok_or_else(|| format!("no webhook {name}"))?;
                let seen = webhook.seen().await;
                let asked = self.normal.body(json!({"asked": seen}));
                answers.push(selected(asked, step));
                continue;
            }
            let answer = self.ask(step).await?;
            self.remember(step, &answer);
            for (word, pointer) in &step.keep {
                let kept = answer
                    .body
                    .pointer(pointer)
                    .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
                self.words.set(word, kept.unwrap_or_default());
            }
            if step.quiet {
                if answer.code >= 300 {
                    return Err(format!("{}: {} {}", step.send, answer.code, answer.body));
                }
                self.normal.body(answer.body);
                continue;
            }
            answers.push(self.shown(step, answer));
        }
        Ok(answers)
    }

    fn shown(&mut self, step: &Step, answer: Answer) -> Value {
        let mut shown = Map::new();
        shown.insert("code".to_owned(), json!(answer.code));
        for (name, value) in answer.headers {
            if name != "content-type" || value != "application/json" {
                let value = self.normal.body(value);
                shown.insert(name, value);
            }
        }
        let body = if step.send.contains(" /openapi/") {
            // These have megabytes, of which a step compares little.
            let pick = step.pick.iter().map(|pointer| self.words.fill(pointer)).collect();
            let step = Step { pick, ..step.clone() };
            self.normal.body(without_prose(selected(answer.body, &step)))
        } else {
            selected(self.normal.body(answer.body), step)
        };
        shown.insert("body".to_owned(), body);
        Value::Object(shown)
    }

    /// Asks until the step's condition holds.
    async fn ask(&mut self, step: &Step) -> Result<Answer, String> {
        let body = step.body.as_ref().map(|body| self.words.fill_json(body));
        let sent = format!("{} {}", self.words.fill(&step.send), body.as_ref().unwrap_or(&Value::Null));
        self.normal.sent(&sent, body.as_ref());
        let Some(until) = &step.until else { return self.send(step).await };
        let mut last = String::new();
        let asking = async {
            loop {
                let answer = self.send(step).await?;
                let holds = until.iter().all(|(pointer, value)| match pointer.as_str() {
                    "code" => *value == answer.code,
                    pointer => {
                        let found = answer.body.pointer(&self.words.fill(pointer));
                        found.unwrap_or(&Value::Null) == &self.words.fill_json(value)
                    }
                });
                if holds {
                    return Ok(answer);
                }
                last = format!("{} {}", answer.code, answer.body);
                sleep(POLL_EVERY).await;
            }
        };
        timeout(WITHIN, asking)
            .await
            .unwrap_or_else(|_| Err(format!("{}: not after {WITHIN:?}, but {last}", step.send)))
    }

    async fn send(&self, step: &Step) -> Result<Answer, String> {
        let send = self.words.fill(&step.send);
        let (method, path) = send.split_once(' ').ok_or_else(|| format!("no method and path: {send}"))?;
        let body = match (&step.body, &step.text, &step.bytes) {
            (Some(body), None, None) => self.words.fill_json(body).to_string().into_bytes(),
            (None, Some(text), None) => self.words.fill(text).into_bytes(),
            (None, None, Some(bytes)) => STANDARD.decode(bytes).map_err(|error| format!("{send}: {error}"))?,
            (None, None, None) => Vec::new(),
            _ => return Err(format!("{send}: more than one body")),
        };
        let mut request = Request::builder().method(method).uri(path);
        let mut headers = step.headers.clone();
        let names: Vec<String> = headers.keys().map(|name| name.to_ascii_lowercase()).collect();
        let mut usual = |name: &str, value: &str| {
            if !names.iter().any(|other| other == name) {
                headers.insert(name.to_owned(), value.to_owned());
            }
        };
        usual("user-agent", "conformance");
        usual("accept", "application/json");
        if !body.is_empty() {
            usual("content-type", "application/json");
        }
        for (name, value) in headers {
            if value != "none" {
                request = request.header(name, self.words.fill(&value));
            }
        }
        let request = request.body(Body::from(body)).map_err(|error| format!("{send}: {error}"))?;
        let brings_credentials = request.headers().contains_key(AUTHORIZATION);
        let client = if brings_credentials { &self.bare } else { &self.client };
        let response = timeout(WITHIN, client.send(request)).await;
        let response =
            response.map_err(|_| format!("{send}: no answer"))?.map_err(|error| format!("{send}: {error}"))?;
        let (parts, body) = response.into_parts();
        let code = parts.status.as_u16();
        let mut headers = BTreeMap::new();
        for name in HEADERS {
            let values: Vec<String> = parts
                .headers
                .get_all(name)
                .iter()
                .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
                .collect();
            match values.as_slice() {
                [] => {}
                [one] => drop(headers.insert(name.to_owned(), json!(one))),
                more => drop(headers.insert(name.to_owned(), json!(more))),
            }
        }
        let body = match step.watch {
            Some(count) if code == 200 => {
                for other in &step.meanwhile {
                    Box::pin(self.send(other)).await?;
                }
                let (events, ended) = events(body, count).await.map_err(|error| format!("{send}: {error}"))?;
                if step.meanwhile.is_empty() { events } else { json!({"events": events, "ended": ended}) }
            }
            _ => {
                let bytes =
                    timeout(WITHIN, body.collect()).await.map_err(|_| format!("{send}: the body doesn't end"))?;
                document(&bytes.map_err(|error| format!("{send}: {error}"))?.to_bytes())
            }
        };
        Ok(Answer { code, headers, body })
    }

    fn remember(&mut self, step: &Step, answer: &Answer) {
        let send = self.words.fill(&step.send);
        let path = send.split(' ').nth(1).and_then(|path| path.split('?').next()).unwrap_or_default();
        let outside = !path.contains(&format!("/namespaces/{}", self.words.get("ns")));
        if let Some(name) = answer.body.pointer("/metadata/name").and_then(Value::as_str)
            && answer.code == 201
            && outside
        {
            let name = name.to_owned();
            let created = path.ends_with(&format!("/{name}"));
            self.made.push(if created { path.to_owned() } else { format!("{path}/{name}") });
        }
    }

    /// Removes what the transcript made. What has to wait for others goes when they are done.
    async fn stop(self) {
        let namespace = format!("/api/v1/namespaces/{}", self.words.get("ns"));
        for path in self.made.iter().rev().chain([&namespace]) {
            let step = Step { send: format!("DELETE {path}"), ..Step::default() };
            let _ = self.send(&step).await;
        }
        for (_, webhook) in self.webhooks {
            webhook.stop().await;
        }
    }
}

/// The part of a body that a step compares.
fn selected(body: Value, step: &Step) -> Value {
    let mut body = if step.pick.is_empty() {
        body
    } else {
        let mut picked = Map::new();
        for pointer in &step.pick {
            collect(&body, pointer, String::new(), &mut picked);
        }
        Value::Object(picked)
    };
    for pointer in &step.forget {
        forget(&mut body, pointer);
    }
    body
}

/// An OpenAPI document without its descriptions, which the embedded server's catalogue doesn't have.
fn without_prose(document: Value) -> Value {
    match document {
        Value::Object(fields) => {
            let prose = |key: &str, field: &Value| key == "description" && field.is_string();
            let kept = fields.into_iter().filter(|(key, field)| !prose(key, field));
            Value::Object(kept.map(|(key, field)| (key, without_prose(field))).collect())
        }
        Value::Array(items) => items.into_iter().map(without_prose).collect(),
        other => other,
    }
}

fn collect(value: &Value, pointer: &str, place: String, picked: &mut Map<String, Value>) {
    let Some(rest) = pointer.strip_prefix('/') else {
        picked.insert(place, value.clone());
        return;
    };
    let (key, rest) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    match (key, value) {
        ("*", Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, rest, format!("{place}/{index}"), picked);
            }
        }
        ("*", Value::Object(fields)) => {
            for (name, field) in fields {
                collect(field, rest, format!("{place}/{}", name.replace('~', "~0").replace('/', "~1")), picked);
            }
        }
        _ => {
            let found = value.pointer(&format!("/{key}"));
            collect(found.unwrap_or(&Value::Null), rest, format!("{place}/{key}"), picked);
        }
    }
}

fn forget(value: &mut Value, pointer: &str) {
    let Some(rest) = pointer.strip_prefix('/') else {
        *value = json!("(not compared)");
        return;
    };
    let (key, rest) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    match (key, value) {
        ("*", Value::Array(items)) => items.iter_mut().for_each(|item| forget(item, rest)),
        ("*", Value::Object(fields)) => fields.values_mut().for_each(|field| forget(field, rest)),
        (key, value) => {
            if let Some(field) = value.pointer_mut(&format!("/{key}")) {
                forget(field, rest);
            }
        }
    }
}

fn document(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap_or_else(|_| match std::str::from_utf8(bytes) {
        Ok(text) => json!(text),
        Err(_) => json!(format!("base64:{}", STANDARD.encode(bytes))),
    })
}

/// The first events of a stream, and whether it ended with them.
async fn events(body: Body, count: usize) -> Result<(Value, bool), String> {
    let mut body = body;
    let mut bytes = Vec::new();
    let mut ended = false;
    let lines = |bytes: &[u8]| bytes.split(|byte| *byte == b'\n').skip(1).count();
    while lines(&bytes) < count {
        match timeout(SILENCE, body.frame()).await {
            Err(_) => break,
            Ok(None) => {
                ended = true;
                break;
            }
            Ok(Some(frame)) => {
                let frame = frame.map_err(|error| error.to_string())?;
                bytes.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data));
            }
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    Ok((text.lines().take(count).map(|line| document(line.as_bytes())).collect(), ended))
}
