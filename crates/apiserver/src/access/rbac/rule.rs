use std::fmt;

use serde_json::Value;

use crate::pipeline::attributes::{Attributes, ResourceAttributes};

/// Matches everything in a list of a rule.
pub(crate) const ALL: &str = "*";

/// What a role allows: one entry of `rules`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PolicyRule {
    pub(crate) api_groups: Vec<String>,
    pub(crate) resources: Vec<String>,
    pub(crate) resource_names: Vec<String>,
    pub(crate) non_resource_urls: Vec<String>,
    pub(crate) verbs: Vec<String>,
}

impl PolicyRule {
    /// The rules of a role, in order.
    pub(crate) fn all_of(role: &Value) -> Vec<Self> {
        role.get("rules").and_then(Value::as_array).into_iter().flatten().map(Self::of).collect()
    }

    fn of(rule: &Value) -> Self {
        let texts = |key: &str| {
            let values = rule.get(key).and_then(Value::as_array).into_iter().flatten();
            values.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Self {
            api_groups: texts("apiGroups"),
            resources: texts("resources"),
            resource_names: texts("resourceNames"),
            non_resource_urls: texts("nonResourceURLs"),
            verbs: texts("verbs"),
        }
    }

    /// Whether it allows what a request wants.
    pub(crate) fn allows(&self, wanted: &Attributes) -> bool {
        match wanted {
            Attributes::Path { verb, path } => self.allows_verb(verb) && self.covers_url(path),
            Attributes::Resource(wanted) => self.allows_verb(&wanted.verb) && self.allows_resource(wanted),
        }
    }

    fn allows_verb(&self, verb: &str) -> bool {
        has(&self.verbs, verb)
    }

    fn allows_resource(&self, wanted: &ResourceAttributes) -> bool {
        let resource = match wanted.subresource.as_str() {
            "" => wanted.resource.clone(),
            subresource => format!("{}/{subresource}", wanted.resource),
        };
        has(&self.api_groups, &wanted.group)
            && self.covers_resource(&resource)
            && (self.resource_names.is_empty() || self.resource_names.contains(&wanted.name))
    }

    /// `resource` may be a subresource, such as `pods/log`; a rule may name it as `*/log`.
    fn covers_resource(&self, resource: &str) -> bool {
        has(&self.resources, resource)
            || resource.split_once('/').is_some_and(|(_, sub)| self.resources.contains(&format!("{ALL}/{sub}")))
    }

    fn covers_url(&self, path: &str) -> bool {
        self.non_resource_urls.iter().any(|url| match url.strip_suffix(ALL) {
            Some(start) => path.starts_with(start),
            None => url == path,
        })
    }

    /// Splits it into rules that each name one thing.
    fn broken_down(&self) -> Vec<Self> {
        let mut simple = Vec::new();
        let names: Vec<_> = match self.resource_names.as_slice() {
            [] => vec![Vec::new()],
            names => names.iter().map(|name| vec![name.clone()]).collect(),
        };
        for group in &self.api_groups {
            for resource in &self.resources {
                for verb in &self.verbs {
                    simple.extend(names.iter().map(|names| Self {
                        api_groups: vec![group.clone()],
                        resources: vec![resource.clone()],
                        resource_names: names.clone(),
                        verbs: vec![verb.clone()],
                        ..Self::default()
                    }));
                }
            }
        }
        for url in &self.non_resource_urls {
            simple.extend(self.verbs.iter().map(|verb| Self {
                non_resource_urls: vec![url.clone()],
                verbs: vec![verb.clone()],
                ..Self::default()
            }));
        }
        simple
    }

    /// Whether whoever holds this rule holds the `simple` one.
    fn covers(&self, simple: &Self) -> bool {
        let names = self.resource_names.is_empty()
            || (!simple.resource_names.is_empty()
                && simple.resource_names.iter().all(|name| self.resource_names.contains(name)));
        simple.verbs.iter().all(|verb| has(&self.verbs, verb))
            && simple.api_groups.iter().all(|group| has(&self.api_groups, group))
            && simple.resources.iter().all(|resource| self.covers_resource(resource))
            && simple.non_resource_urls.iter().all(|url| self.covers_url(url))
            && names
    }

    /// Whether it names one resource and can be joined with others that differ in verbs only.
    fn is_joinable(&self) -> bool {
        self.non_resource_urls.is_empty()
    }
}

/// What of `wanted` nobody holds who holds `held`, joined by resource and in order.
pub(crate) fn missing(held: &[PolicyRule], wanted: &[PolicyRule]) -> Vec<PolicyRule> {
    let simple = wanted.iter().flat_map(PolicyRule::broken_down);
    let missing = simple.filter(|simple| !held.iter().any(|rule| rule.covers(simple)));
    let mut joined = Vec::<PolicyRule>::new();
    for rule in missing {
        let same = |other: &&mut PolicyRule| {
            rule.is_joinable()
                && other.api_groups == rule.api_groups
                && other.resources == rule.resources
                && other.resource_names == rule.resource_names
        };
        match joined.iter_mut().find(same) {
            Some(other) => {
                let new = rule.verbs.into_iter().filter(|verb| !other.verbs.contains(verb)).collect::<Vec<_>>();
                other.verbs.extend(new);
            }
            None => joined.push(rule),
        }
    }
    joined.sort_by_cached_key(ToString::to_string);
    joined.dedup();
    joined
}

fn has(list: &[String], wanted: &str) -> bool {
    list.iter().any(|item| item == ALL || item == wanted)
}

/// As Kubernetes names a rule in its errors.
impl fmt::Display for PolicyRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            ("APIGroups", &self.api_groups),
            ("Resources", &self.resources),
            ("NonResourceURLs", &self.non_resource_urls),
            ("ResourceNames", &self.resource_names),
            ("Verbs", &self.verbs),
        ];
        let texts = parts.iter().filter(|(_, values)| !values.is_empty()).map(|(name, values)| {
            let quoted: Vec<_> = values.iter().map(|value| crate::status::quote(value)).collect();
            format!("{name}:[{}]", quoted.join(" "))
        });
        write!(f, "{{{}}}", texts.collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use http::Request;
    use serde_json::{Value, json};

    use super::{PolicyRule, missing};
    use crate::pipeline::attributes::Attributes;

    fn rules(rules: &Value) -> Vec<PolicyRule> {
        PolicyRule::all_of(&json!({"rules": rules}))
    }

    fn check_allows(rule: &Value, method: &str, uri: &str, expect: bool) {
        let (parts, ()) = Request::builder().method(method).uri(uri).body(()).unwrap().into_parts();
        let allowed = rules(&json!([rule])).iter().any(|rule| rule.allows(&Attributes::of(&parts)));
        assert_eq!(allowed, expect, "{rule} {method} {uri}");
    }

    #[test]
    fn rules_allow_what_they_name() {
        let pods = json!({"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods", "*/status"]});
        check_allows(&pods, "GET", "/api/v1/namespaces/x/pods/y", true);
        check_allows(&pods, "GET", "/api/v1/pods", true);
        check_allows(&pods, "GET", "/api/v1/pods?watch=1", false);
        check_allows(&pods, "GET", "/api/v1/namespaces/x/pods/y/log", false);
        check_allows(&pods, "GET", "/api/v1/namespaces/x/services/y/status", true);
        check_allows(&pods, "GET", "/apis/apps/v1/namespaces/x/pods/y", false);
        let one = json!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "resourceNames": ["y"]});
        check_allows(&one, "DELETE", "/apis/apps/v1/namespaces/x/deployments/y", true);
        check_allows(&one, "DELETE", "/apis/apps/v1/namespaces/x/deployments/z", false);
        check_allows(&one, "POST", "/apis/apps/v1/namespaces/x/deployments", false);
        let paths = json!({"verbs": ["get"], "nonResourceURLs": ["/metrics", "/api/*"]});
        check_allows(&paths, "GET", "/metrics", true);
        check_allows(&paths, "GET", "/metrics/more", false);
        check_allows(&paths, "GET", "/api/v1", true);
        check_allows(&paths, "POST", "/metrics", false);
        check_allows(&json!({"verbs": ["get"]}), "GET", "/metrics", false);
    }

    fn check_missing(held: &Value, wanted: &Value, expect: &[&str]) {
        let missing = missing(&rules(held), &rules(wanted));
        assert_eq!(missing.iter().map(ToString::to_string).collect::<Vec<_>>(), expect, "{held} {wanted}");
    }

    #[test]
    fn what_is_not_held_is_named() {
        let held = json!([
            {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]},
            {"verbs": ["*"], "apiGroups": ["apps"], "resources": ["*/scale"]},
            {"verbs": ["get"], "nonResourceURLs": ["/a/*"]},
        ]);
        check_missing(&held, &json!([{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]), &[]);
        check_missing(&held, &json!([{"verbs": ["x"], "apiGroups": ["apps"], "resources": ["sets/scale"]}]), &[]);
        check_missing(
            &held,
            &json!([{"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods", "secrets"], "resourceNames": ["x"]},
                    {"verbs": ["get"], "nonResourceURLs": ["/a/b", "/metrics"]}]),
            &[
                r#"{APIGroups:[""], Resources:["pods"], ResourceNames:["x"], Verbs:["list"]}"#,
                r#"{APIGroups:[""], Resources:["secrets"], ResourceNames:["x"], Verbs:["get" "list"]}"#,
                r#"{NonResourceURLs:["/metrics"], Verbs:["get"]}"#,
            ],
        );
        check_missing(
            &held,
            &json!([{"verbs": ["*"], "apiGroups": ["apps"], "resources": ["*"]}]),
            &[r#"{APIGroups:["apps"], Resources:["*"], Verbs:["*"]}"#],
        );
        let named = json!([{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["x"]}]);
        check_missing(
            &named,
            &json!([{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]),
            &[r#"{APIGroups:[""], Resources:["pods"], Verbs:["get"]}"#],
        );
    }
}
