//! What differs from run to run, replaced by words in the answers of both servers. This is the whole list:
//!
//! | what | word |
//! |---|---|
//! | the transcript's namespace, API group and id | `$ns`, `$group`, `$id` |
//! | uids | `UID-1`, `UID-2`, … in the order in which they are first seen |
//! | resource versions of objects | `VERSION-1`, … likewise; other writes may raise a list's, so that is `VERSION` |
//! | times of this year and later | `TIME`, with as many nines as they have decimals |
//! | the five letters that a server adds to `generateName` | `-----` |
//! | ages of a few seconds in rows of tables | `AGE` |
//! | cluster IPs and node ports | `IP-1`, …; `PORT-1`, … |
//! | continue tokens, tokens of service accounts | `CONTINUE`, `JWT` |
//! | addresses and certificates of the transcript's webhooks | `WEBHOOK`, `CERTIFICATE` |
//! | the revision that is current, in errors about revisions, preconditions and objects that can't be read | `VERSION` |
//! | objects in the texts of errors, which Go prints in the form of its internal types | `OBJECT` |
//! | lists of changes in the texts of errors | left out |
//! | the order of type errors of an apply, which Go takes from maps | sorted |
//! | addresses in memory, which Go prints with some values | `POINTER` |
//! | hashes of storage versions and of documents | `HASH` |
//! | prose: descriptions of columns and in OpenAPI documents | left out |
//! | the order of field managers, which depends on the second of each write | sorted by operation, manager, subresource |
//! | the order of an error's causes, which Go takes from maps | sorted; the message that repeats several is `(causes)` |

use serde_json::{Map, Value, json};

use super::words::Words;

/// Replaces what differs, with the same words for the same things throughout a transcript.
#[derive(Debug)]
pub(crate) struct Normal {
    words: Vec<(String, &'static str)>,
    sent: String,
    uids: Vec<String>,
    versions: Vec<String>,
    ips: Vec<String>,
    ports: Vec<String>,
    bases: Vec<String>,
}

impl Normal {
    pub(crate) fn new(words: &Words, webhooks: Vec<(String, &'static str)>) -> Self {
        let own = [("ns", "$ns"), ("group", "$group"), ("id", "$id")];
        let words = own.map(|(word, shown)| (words.get(word).to_owned(), shown)).into_iter().chain(webhooks).collect();
        Self {
            words,
            sent: String::new(),
            uids: Vec::new(),
            versions: Vec::new(),
            ips: Vec::new(),
            ports: Vec::new(),
            bases: Vec::new(),
        }
    }

    /// What a transcript sends itself stays as it is in answers.
    pub(crate) fn sent(&mut self, request: &str, body: Option<&Value>) {
        self.sent.push_str(request);
        self.sent.push('\n');
        let base = body.and_then(|body| body.pointer("/metadata/generateName")).and_then(Value::as_str);
        self.bases.extend(base.filter(|base| !base.is_empty()).map(|base| base.chars().take(58).collect()));
    }

    /// The answer's body with words in place of what differs.
    pub(crate) fn body(&mut self, mut body: Value) -> Value {
        sort_causes(&mut body);
        self.value(&mut body, "");
        body
    }

    /// The same for text.
    pub(crate) fn text(&mut self, text: &str) -> String {
        let mut text = without_objects(text);
        for base in &self.bases {
            text = with_generated(&text, base);
        }
        for (value, word) in &self.words {
            if !value.is_empty() {
                text = text.replace(value, word);
            }
        }
        self.scan(&text)
    }

    fn value(&mut self, value: &mut Value, key: &str) {
        match value {
            Value::Object(fields) => self.fields(fields),
            Value::Array(items) => {
                if key.ends_with("managedFields") {
                    sort_managers(items);
                }
                for item in items {
                    self.value(item, key);
                }
            }
            Value::String(text) => *text = self.field(key, text),
            Value::Number(number) if matches!(key, "nodePort" | "healthCheckNodePort") => {
                let port = number.to_string();
                *value = json!(numbered("PORT", &port, &mut self.ports));
            }
            _ => {}
        }
    }

    fn fields(&mut self, fields: &mut Map<String, Value>) {
        let many = fields.contains_key("items") || fields.contains_key("rows");
        let bookmark = fields.get("type").is_some_and(|kind| kind == "BOOKMARK");
        let versioned = if bookmark { fields.get_mut("object") } else { None };
        let metadata = match versioned {
            Some(object) => object.get_mut("metadata"),
            None if many => fields.get_mut("metadata"),
            None => None,
        };
        if let Some(version) = metadata.and_then(|metadata| metadata.get_mut("resourceVersion")) {
            *version = json!("VERSION");
        }
        if let Some(columns) = fields.get_mut("columnDefinitions").and_then(Value::as_array_mut) {
            for column in columns.iter_mut().filter_map(Value::as_object_mut) {
                column.remove("description");
            }
        }
        let old = std::mem::take(fields);
        for (key, mut field) in old {
            self.value(&mut field, &key);
            let key = self.text(&key);
            fields.insert(key, field);
        }
    }

    fn field(&mut self, key: &str, text: &str) -> String {
        match key {
            "resourceVersion" if text.len() > 1 && text.bytes().all(|byte| byte.is_ascii_digit()) => {
                if self.sent.contains(&format!("\"{text}\"")) && !self.versions.iter().any(|seen| seen == text) {
                    return text.to_owned();
                }
                numbered("VERSION", text, &mut self.versions)
            }
            "resourceVersion" if text.len() == 1 && text != "0" => numbered("VERSION", text, &mut self.versions),
            "continue" if !text.is_empty() => "CONTINUE".to_owned(),
            "storageVersionHash" | "hash" => "HASH".to_owned(),
            _ if key.ends_with("cells") && is_age(text) => "AGE".to_owned(),
            _ => self.text(text),
        }
    }

    /// Finds what can stand anywhere in a text.
    fn scan(&mut self, text: &str) -> String {
        let mut found = String::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let boundary = found.chars().next_back().is_none_or(|last| !last.is_ascii_alphanumeric());
            let matched = if boundary { self.here(rest) } else { None };
            if let Some((length, word)) = matched {
                found.push_str(&word);
                rest = &rest[length..];
            } else {
                found.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
        found
    }

    /// What stands at the beginning of `text`: its length and the word for it.
    fn here(&mut self, text: &str) -> Option<(usize, String)> {
        let end = |allowed: fn(char) -> bool| text.find(|letter: char| !allowed(letter)).unwrap_or(text.len());
        let hex = end(|letter| letter.is_ascii_hexdigit() || letter == '-');
        let word = &text[..hex];
        if word.len() == 36 && word.matches('-').count() == 4 {
            return Some((hex, numbered("UID", word, &mut self.uids)));
        }
        if word.len() == 128 {
            return Some((hex, "HASH".to_owned()));
        }
        if let Some((length, decimals)) = time(text) {
            return Some((length, format!("TIME{}", "9".repeat(decimals))));
        }
        let dotted = end(|letter| letter.is_ascii_digit() || letter == '.');
        let address = text[..dotted].trim_end_matches('.');
        if address.starts_with("10.0.0.") && address.matches('.').count() == 3 && !self.sent.contains(address) {
            return Some((address.len(), numbered("IP", address, &mut self.ips)));
        }
        if text.starts_with("0xc0") || text.starts_with("0x4") {
            let length = 2 + text[2..].find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(text.len() - 2);
            return (length > 8).then(|| (length, "POINTER".to_owned()));
        }
        for before in ["current: ", "ResourceVersion in record (", "not decodable revision="] {
            if let Some(after) = text.strip_prefix(before) {
                let digits = after.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(after.len());
                return (digits > 0).then(|| (before.len() + digits, format!("{before}VERSION")));
            }
        }
        let token = end(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.'));
        (text.starts_with("eyJ") && text[..token].matches('.').count() == 2).then(|| (token, "JWT".to_owned()))
    }
}

/// Whether it is how long an object has been there, in seconds.
fn is_age(text: &str) -> bool {
    text.strip_suffix('s')
        .is_some_and(|seconds| !seconds.is_empty() && seconds.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The length of a time of this year or later in front of a text, and how many decimals it has.
fn time(text: &str) -> Option<(usize, usize)> {
    const SHAPE: &[u8] = b"dddd-dd-ddTdd:dd:dd";
    let bytes = text.as_bytes().get(..SHAPE.len())?;
    let fits = bytes.iter().zip(SHAPE).all(|(byte, shape)| match shape {
        b'd' => byte.is_ascii_digit(),
        other => byte == other,
    });
    if !fits || bytes < b"2026".as_slice() {
        return None;
    }
    let rest = &text[SHAPE.len()..];
    let decimals = rest.strip_prefix('.').map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
    let length = if decimals == 0 { 0 } else { decimals + 1 };
    rest[length..].starts_with('Z').then_some((SHAPE.len() + length + 1, decimals))
}

fn numbered(word: &str, value: &str, seen: &mut Vec<String>) -> String {
    let index = seen.iter().position(|other| other == value).unwrap_or_else(|| {
        seen.push(value.to_owned());
        seen.len() - 1
    });
    format!("{word}-{}", index + 1)
}

/// Texts show objects in the form of Go's internal types, and list what changed in them.
fn without_objects(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("Invalid value: ") {
        let (before, value) = rest.split_at(at + "Invalid value: ".len());
        kept.push_str(before);
        rest = value;
        if value.starts_with('{') || value.starts_with("\"{") || value.starts_with("[{") {
            let mut values = serde_json::Deserializer::from_str(value).into_iter::<Value>();
            if values.next().is_some_and(|value| value.is_ok()) {
                kept.push_str("OBJECT");
                rest = &value[values.byte_offset()..];
            }
        }
    }
    kept.push_str(rest);
    let changes = kept.find("\n@@ ").unwrap_or(kept.len());
    kept.truncate(changes);
    match kept.split_once("errors:\n") {
        Some((before, errors)) => {
            let mut errors: Vec<&str> = errors.lines().collect();
            errors.sort_unstable();
            format!("{before}errors:\n{}", errors.join("\n"))
        }
        None => kept,
    }
}

/// The five letters after a base that the server completes to a name.
fn with_generated(text: &str, base: &str) -> String {
    const LETTERS: &str = "bcdfghjklmnpqrstvwxz2456789";
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(base) {
        let (before, after) = rest.split_at(at + base.len());
        shown.push_str(before);
        rest = after;
        let letters = after.chars().take_while(|letter| LETTERS.contains(*letter)).count();
        let next = after.chars().nth(5);
        if letters >= 5 && !next.is_some_and(|next| next.is_ascii_alphanumeric()) {
            shown.push_str("-----");
            rest = &after[5..];
        }
    }
    shown + rest
}

/// Brings the field managers of all objects in an answer into the order in which they are compared.
pub(crate) fn order_managers(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                match field {
                    Value::Array(items) if key.ends_with("managedFields") => sort_managers(items),
                    field => order_managers(field),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(order_managers),
        _ => {}
    }
}

fn sort_managers(entries: &mut [Value]) {
    entries.sort_by_cached_key(|entry| {
        let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        ["operation", "manager", "subresource", "apiVersion"].map(text)
    });
}

fn sort_causes(body: &mut Value) {
    let Some(causes) = body.pointer_mut("/details/causes").and_then(Value::as_array_mut) else { return };
    if causes.len() > 1 {
        causes.sort_by_cached_key(ToString::to_string);
        body["message"] = json!("(causes)");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Normal;
    use crate::conformance::words::Words;

    #[test]
    fn words_take_the_place_of_what_differs() {
        let mut normal = Normal::new(&Words::new("t1"), vec![("127.0.0.1:99".to_owned(), "WEBHOOK")]);
        normal.sent("POST", Some(&json!({"metadata": {"generateName": "a-"}})));
        let body = json!({
            "metadata": {"name": "a-x2x2x", "generateName": "a-", "uid": "0f5b7d6e-0000-4000-8000-000000000001",
                "resourceVersion": "17", "creationTimestamp": "2026-12-01T00:00:00Z", "namespace": "ns-t1"},
            "spec": {"clusterIP": "10.0.0.7", "renewTime": "2027-01-01T00:00:00.123456Z", "nodePort": 31000},
            "message": "a-x2x2x: \"0f5b7d6e-0000-4000-8000-000000000001\" at 127.0.0.1:99 since 2001-01-01T00:00:00Z",
        });
        let expected = json!({
            "metadata": {"name": "a------", "generateName": "a-", "uid": "UID-1", "resourceVersion": "VERSION-1",
                "creationTimestamp": "TIME", "namespace": "$ns"},
            "spec": {"clusterIP": "IP-1", "renewTime": "TIME999999", "nodePort": "PORT-1"},
            "message": "a------: \"UID-1\" at WEBHOOK since 2001-01-01T00:00:00Z",
        });
        assert_eq!(normal.body(body), expected);
    }
}
