use serde_json::{Map, Value, json};

use super::components::{meta, reference};
use super::parameters;
use crate::resource::Resource;

/// The media types of patches of built-in kinds.
const PATCH_TYPES: &[&str] = &[
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
];

/// The path under which a group version is served.
pub(super) fn base(group: &str, version: &str) -> String {
    if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") }
}

/// A kind and its schemas, as the paths of a resource or subresource name them.
#[derive(Clone, Copy, Debug)]
struct Described<'a> {
    group: &'a str,
    version: &'a str,
    kind: &'a str,
    schema: &'a str,
    custom: bool,
    /// What the path belongs to, which names its operations.
    resource: &'a Resource,
    subresource: &'a str,
}

/// Adds the paths of a resource. `schema` and `list` name its schemas; `subresource_schema` gives those of subresources.
pub(super) fn add(
    paths: &mut Map<String, Value>,
    resource: &Resource,
    schema: &str,
    list: &str,
    custom: bool,
    subresource_schema: &dyn Fn(&str) -> Option<String>,
) {
    let base = base(&resource.group, &resource.version);
    let described = Described {
        group: &resource.group,
        version: &resource.version,
        kind: &resource.kind,
        schema,
        custom,
        resource,
        subresource: "",
    };
    let (collection, scope): (String, &[&str]) = if resource.namespaced {
        (format!("{base}/namespaces/{{namespace}}/{}", resource.plural), &["namespace"])
    } else {
        (format!("{base}/{}", resource.plural), &[])
    };
    if resource.namespaced && resource.allows("list") {
        let all = item(&[], [("get", described.list(list, Reach::AllNamespaces))]);
        paths.insert(format!("{base}/{}", resource.plural), all);
    }
    let mut operations = Vec::new();
    for (verb, method) in [("list", "get"), ("create", "post"), ("deletecollection", "delete")] {
        if resource.allows(verb) {
            let operation = match verb {
                "list" => described.list(list, Reach::Own),
                "create" => described.write("post", parameters::WRITE, &["200", "201", "202"]),
                _ => described.answer("deletecollection", parameters::LIST, &meta("Status"), &["200"]),
            };
            operations.push((method, operation));
        }
    }
    paths.insert(collection.clone(), item(scope, operations));

    let mut names = vec!["name"];
    names.extend(scope);
    let one = format!("{collection}/{{name}}");
    let mut operations = described.reads_and_writes(&resource.verbs);
    if resource.allows("delete") {
        operations.push(("delete", described.delete()));
    }
    paths.insert(one.clone(), item(&names, operations));
    for (name, subresource) in &resource.subresources {
        let Some(schema) = subresource_schema(name) else { continue };
        let described = Described {
            group: subresource
                .version
                .as_ref()
                .map_or(described.group, |_| subresource.group.as_deref().unwrap_or_default()),
            version: subresource.version.as_deref().unwrap_or(described.version),
            kind: &subresource.kind,
            schema: &schema,
            custom,
            resource,
            subresource: name,
        };
        paths.insert(format!("{one}/{name}"), item(&names, described.reads_and_writes(&subresource.verbs)));
    }
}

fn item<'a>(names: &[&str], operations: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let mut item: Map<String, Value> =
        operations.into_iter().map(|(method, operation)| (method.to_owned(), operation)).collect();
    item.insert("parameters".to_owned(), Value::Array(parameters::path(names)));
    Value::Object(item)
}

fn content(schema: &str, types: &[&str]) -> Value {
    let content: Map<String, Value> =
        types.iter().map(|media_type| ((*media_type).to_owned(), json!({"schema": reference(schema)}))).collect();
    Value::Object(content)
}

impl Described<'_> {
    fn reads_and_writes(self, verbs: &[String]) -> Vec<(&'static str, Value)> {
        let mut operations = Vec::new();
        for verb in verbs {
            match verb.as_str() {
                "get" => operations.push(("get", self.answer("get", &[], self.schema, &["200"]))),
                "update" => operations.push(("put", self.write("put", parameters::WRITE, &["200", "201"]))),
                "patch" => operations.push(("patch", self.patch())),
                _ => {}
            }
        }
        operations
    }

    fn list(self, list: &str, reach: Reach) -> Value {
        let mut operation = self.answer("list", parameters::LIST, list, &["200"]);
        operation["operationId"] = json!(self.operation_id("list", reach));
        operation
    }

    fn write(self, action: &str, parameters: &[(&str, &str)], codes: &[&str]) -> Value {
        let mut operation = self.answer(action, parameters, self.schema, codes);
        let types = ["application/json", "application/yaml"];
        operation["requestBody"] = json!({"content": content(self.schema, &types), "required": true});
        operation
    }

    fn patch(self) -> Value {
        let mut operation = self.answer("patch", parameters::PATCH, self.schema, &["200", "201"]);
        let types = PATCH_TYPES.iter().copied();
        let types: Vec<&str> = types.filter(|media_type| !self.custom || !media_type.contains("strategic")).collect();
        operation["requestBody"] = json!({"content": content(&meta("Patch"), &types), "required": true});
        operation
    }

    fn delete(self) -> Value {
        let mut operation = self.answer("delete", parameters::DELETE, &meta("Status"), &["200", "202"]);
        let types = ["application/json", "application/yaml"];
        operation["requestBody"] = json!({"content": content(&meta("DeleteOptions"), &types)});
        operation
    }

    fn answer(self, action: &str, parameters: &[(&str, &str)], schema: &str, codes: &[&str]) -> Value {
        let mut responses = Map::new();
        for code in codes {
            let description = match *code {
                "200" => "OK",
                "201" => "Created",
                _ => "Accepted",
            };
            let types = ["application/json", "application/yaml"];
            responses
                .insert((*code).to_owned(), json!({"description": description, "content": content(schema, &types)}));
        }
        responses.insert("401".to_owned(), json!({"description": "Unauthorized"}));
        json!({
            "operationId": self.operation_id(action, Reach::Own),
            "parameters": parameters::query(parameters),
            "responses": responses,
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": {"group": self.group, "version": self.version, "kind": self.kind},
        })
    }

    /// The name of an operation as kube-apiserver gives it: what is done, where, and with what.
    fn operation_id(self, action: &str, reach: Reach) -> String {
        let resource = self.resource;
        let (verb, collection) = match action {
            "get" => ("read", ""),
            "put" => ("replace", ""),
            "post" => ("create", ""),
            "deletecollection" => ("delete", "Collection"),
            other => (other, ""),
        };
        let group = if self.custom { &resource.group } else { resource.group.trim_end_matches(".k8s.io") };
        let group = if group.is_empty() { "Core".to_owned() } else { capitalized(group) };
        let (namespaced, everywhere) = match reach {
            Reach::AllNamespaces => ("", "ForAllNamespaces"),
            Reach::Own if resource.namespaced => ("Namespaced", ""),
            Reach::Own => ("", ""),
        };
        let (version, subresource) = (capitalized(&resource.version), capitalized(self.subresource));
        format!("{verb}{group}{version}{collection}{namespaced}{}{subresource}{everywhere}", resource.kind)
    }
}

/// How far a list reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// One namespace, or all there is of a resource of the cluster.
    Own,
    /// All namespaces.
    AllNamespaces,
}

/// A group, version or subresource within the name of an operation: `rbac.authorization` as `RbacAuthorization`.
fn capitalized(name: &str) -> String {
    let capital = |part: &str| {
        let mut letters = part.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
    };
    name.split(['.', '-']).map(capital).collect()
}
