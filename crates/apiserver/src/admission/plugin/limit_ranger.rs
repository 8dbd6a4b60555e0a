//! `LimitRanger`: what a namespace's limit ranges say of containers, pods and claims.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{Operation, Write, spec};
use crate::metadata::fields;
use crate::status::ApiError;
use crate::strategy::fields::{at, items, object_or_new, objects_mut, text};
use crate::strategy::{Quantity, together};

const ANNOTATION: &str = "kubernetes.io/limit-ranger";

/// Gives the containers of a new pod what they don't say.
pub(super) fn mutate(write: Write<'_>, object: &mut Value) {
    if !write.is_create_of("", "pods") {
        return;
    }
    for range in write.all("limitranges", Some(&write.call.namespace)) {
        let (mut limits, mut requests) = (Map::new(), Map::new());
        for limit in items(range.value(), "spec.limits").iter().filter(|limit| text(limit, "type") == "Container") {
            limits.extend(at(limit, "default").as_object().cloned().unwrap_or_default());
            requests.extend(at(limit, "defaultRequest").as_object().cloned().unwrap_or_default());
        }
        let mut told = Vec::new();
        if let Some(spec) = spec(object) {
            for (list, called) in [("containers", "container"), ("initContainers", "init container")] {
                for container in objects_mut(spec, list) {
                    fill(container, "requests", "request", &requests, called, &mut told);
                    fill(container, "limits", "limit", &limits, called, &mut told);
                }
            }
        }
        if !told.is_empty() {
            annotate(object, &told.join("; "));
        }
    }
}

fn fill(
    container: &mut Map<String, Value>,
    kind: &str,
    one: &str,
    defaults: &Map<String, Value>,
    called: &str,
    told: &mut Vec<String>,
) {
    let name = container.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let given = container.get("resources").map(|resources| at(resources, kind).clone()).unwrap_or_default();
    let missing: Vec<&String> = defaults.keys().filter(|key| given.get(key.as_str()).is_none()).collect();
    if missing.is_empty() {
        return;
    }
    if let Some(resources) = object_or_new(container, "resources")
        && let Some(amounts) = object_or_new(resources, kind)
    {
        for key in &missing {
            amounts.insert((*key).clone(), defaults.get(*key).cloned().unwrap_or_default());
        }
        let keys: BTreeSet<&str> = missing.iter().map(|key| key.as_str()).collect();
        let keys: Vec<&str> = keys.into_iter().collect();
        told.push(format!("{} {one} for {called} {name}", keys.join(", ")));
    }
}

fn annotate(object: &mut Value, told: &str) {
    let mut annotations = fields::get(object, "annotations").and_then(Value::as_object).cloned().unwrap_or_default();
    annotations.insert(ANNOTATION.to_owned(), json!(format!("LimitRanger plugin set: {told}")));
    fields::set(object, "annotations", annotations);
}

/// Refuses what is out of the limits.
pub(super) fn validate(write: Write<'_>, object: &Value) -> Result<(), ApiError> {
    let of_pod = write.is_create_of("", "pods") || write.operation == Operation::Update && is_resize(write);
    let of_claim = write.is_of("", "persistentvolumeclaims");
    if !of_pod && !of_claim || write.old.is_some_and(fields::is_deleting) {
        return Ok(());
    }
    for range in write.all("limitranges", Some(&write.call.namespace)) {
        let mut wrong = Vec::new();
        for limit in items(range.value(), "spec.limits") {
            match text(limit, "type") {
                "Container" if of_pod => {
                    let spec = at(object, "spec");
                    for container in items(spec, "containers").iter().chain(items(spec, "initContainers")) {
                        let amount = |kind: &str, name: &str| {
                            let amounts = at(at(container, "resources"), kind);
                            amounts.get(name).and_then(Value::as_str).and_then(Quantity::parse)
                        };
                        check(limit, "Container", amount, &mut wrong);
                    }
                }
                "Pod" if of_pod => {
                    let amount = |kind: &str, name: &str| of_whole(at(object, "spec"), kind, name);
                    check(limit, "Pod", amount, &mut wrong);
                }
                "PersistentVolumeClaim" if of_claim => claim(limit, object, &mut wrong),
                _ => {}
            }
        }
        if !wrong.is_empty() {
            return Err(write.forbidden(object, &aggregate(&wrong)));
        }
    }
    Ok(())
}

fn is_resize(write: Write<'_>) -> bool {
    let resource = &write.call.resource;
    write.call.subresource.as_deref() == Some("resize") && resource.group.is_empty() && resource.plural == "pods"
}

/// What a pod says of itself as a whole, or else what its containers say together.
fn of_whole(spec: &Value, kind: &str, name: &str) -> Option<Quantity> {
    let own = at(at(spec, "resources"), kind).get(name).and_then(Value::as_str).and_then(Quantity::parse);
    let own = own.filter(|_| matches!(name, "cpu" | "memory"));
    own.or_else(|| together(spec, kind, name))
}

/// Errors as Go aggregates them: those that are equal count once.
fn aggregate(wrong: &[String]) -> String {
    let mut distinct: Vec<&str> = Vec::new();
    for text in wrong {
        if !distinct.contains(&text.as_str()) {
            distinct.push(text);
        }
    }
    match distinct.as_slice() {
        [one] => (*one).to_owned(),
        all => format!("[{}]", all.join(", ")),
    }
}

/// The amounts that a limit names, in a field of it.
fn amounts<'a>(limit: &'a Value, key: &str) -> impl Iterator<Item = (&'a str, Quantity)> {
    let all = at(limit, key).as_object().into_iter().flatten();
    all.filter_map(|(name, amount)| Some((name.as_str(), Quantity::parse(amount.as_str()?)?)))
}

fn check(limit: &Value, kind: &str, amount: impl Fn(&str, &str) -> Option<Quantity>, wrong: &mut Vec<String>) {
    for (name, least) in amounts(limit, "min") {
        wrong.extend(below(kind, name, least, amount("requests", name), amount("limits", name)));
    }
    for (name, most) in amounts(limit, "max") {
        wrong.extend(above(kind, name, most, amount("requests", name), amount("limits", name)));
    }
    for (name, most) in amounts(limit, "maxLimitRequestRatio") {
        wrong.extend(ratio(kind, name, most, amount("requests", name), amount("limits", name)));
    }
}

fn claim(limit: &Value, object: &Value, wrong: &mut Vec<String>) {
    let kind = "PersistentVolumeClaim";
    let amount = |name: &str| {
        let amount = at(object, "spec.resources.requests").get(name);
        amount.and_then(Value::as_str).and_then(Quantity::parse)
    };
    for (name, least) in amounts(limit, "min") {
        wrong.extend(below(kind, name, least, amount(name), None));
    }
    for (name, most) in amounts(limit, "max") {
        let told = format!("maximum {name} usage per {kind} is {}", most.canonical());
        match amount(name) {
            None => wrong.push(format!("{told}.  No request is specified")),
            Some(request) if is(request, Ordering::Greater, most) => {
                wrong.push(format!("{told}, but request is {}", request.canonical()));
            }
            Some(_) => {}
        }
    }
}

fn is(one: Quantity, ordering: Ordering, other: Quantity) -> bool {
    one.nanos().cmp(&other.nanos()) == ordering
}

fn below(
    kind: &str,
    name: &str,
    least: Quantity,
    request: Option<Quantity>,
    limit: Option<Quantity>,
) -> Option<String> {
    let told = format!("minimum {name} usage per {kind} is {}", least.canonical());
    let Some(request) = request else { return Some(format!("{told}.  No request is specified")) };
    if is(request, Ordering::Less, least) {
        return Some(format!("{told}, but request is {}", request.canonical()));
    }
    let limit = limit.filter(|limit| is(*limit, Ordering::Less, least))?;
    Some(format!("{told}, but limit is {}", limit.canonical()))
}

fn above(kind: &str, name: &str, most: Quantity, request: Option<Quantity>, limit: Option<Quantity>) -> Option<String> {
    let told = format!("maximum {name} usage per {kind} is {}", most.canonical());
    let Some(limit) = limit else { return Some(format!("{told}.  No limit is specified")) };
    if is(limit, Ordering::Greater, most) {
        return Some(format!("{told}, but limit is {}", limit.canonical()));
    }
    let request = request.filter(|request| is(*request, Ordering::Greater, most))?;
    Some(format!("{told}, but request is {}", request.canonical()))
}

fn ratio(kind: &str, name: &str, most: Quantity, request: Option<Quantity>, limit: Option<Quantity>) -> Option<String> {
    let told = format!("{name} max limit to request ratio per {kind} is {}", most.canonical());
    let given = |amount: Option<Quantity>| amount.filter(|amount| !amount.is_zero()).map(approximate);
    let Some(request) = given(request) else {
        return Some(format!("{told}, but no request is specified or request is 0"));
    };
    let Some(limit) = given(limit) else {
        return Some(format!("{told}, but no limit is specified or limit is 0"));
    };
    let ratio = limit / request;
    (ratio > approximate(most)).then(|| format!("{told}, but provided ratio is {ratio:.6}"))
}

#[expect(clippy::cast_precision_loss, reason = "a ratio is an approximation on the reference too")]
fn approximate(amount: Quantity) -> f64 {
    amount.nanos() as f64 / 1e9
}
