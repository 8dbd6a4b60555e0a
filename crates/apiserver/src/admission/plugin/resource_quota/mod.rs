//! `ResourceQuota`: what a namespace has of things, against what it may have.
//!
//! A quota counts once its status says what is hard and what is used, which a controller writes; the server itself adds
//! what it admits.

mod scope;
mod usage;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::Write;
use crate::admission::Operation;
use crate::metadata::fields;
use crate::status::ApiError;
use crate::store::{Object, WriteError};
use crate::strategy::Quantity;
use crate::strategy::fields::at;

/// Amounts by the names that quotas have for them.
type Amounts = BTreeMap<String, Quantity>;

/// Checks all quotas of the namespace, and writes down what is taken.
pub(super) fn validate(write: Write<'_>, object: &Value, dry_run: bool) -> Result<(), ApiError> {
    if write.call.namespace.is_empty() || !usage::is_counted(write, object) {
        return Ok(());
    }
    loop {
        let mut taken = Vec::new();
        for quota in write.all("resourcequotas", Some(&write.call.namespace)) {
            if let Some(used) = check(write, object, &quota).map_err(|why| write.forbidden(object, &why))? {
                taken.push((quota, used));
            }
        }
        if dry_run || taken.iter().all(|(quota, used)| take(write, quota, used)) {
            return Ok(());
        }
    }
}

/// Writes into a quota what is used; whether nobody wrote in between.
fn take(write: Write<'_>, quota: &Arc<Object>, used: &Amounts) -> bool {
    let mut new = quota.value().clone();
    if let Some(status) = new.get_mut("status").and_then(Value::as_object_mut) {
        let shown: Map<String, Value> =
            used.iter().map(|(name, amount)| (name.clone(), json!(amount.canonical()))).collect();
        status.insert("used".to_owned(), Value::Object(shown));
    }
    !matches!(write.call.core.store.update(quota, new), Err(WriteError::Changed))
}

/// What a quota's used amounts become, if the object takes something from it.
fn check(write: Write<'_>, object: &Value, quota: &Object) -> Result<Option<Amounts>, String> {
    let name = &quota.key.name;
    let quota = quota.value();
    let (hard, used) = (amounts(at(quota, "status.hard")), amounts(at(quota, "status.used")));
    let concerns: Vec<&str> = hard.keys().map(String::as_str).filter(|name| usage::concerns(write, name)).collect();
    if concerns.is_empty() || !scope::matches(quota, write, object) {
        return Ok(None);
    }
    usage::constraints(write, object, &concerns).map_err(|why| format!("failed quota: {name}: {why}"))?;
    if concerns.iter().any(|resource| !used.contains_key(*resource)) {
        return Err(format!("status unknown for quota: {name}, resources: {}", concerns.join(",")));
    }
    let mut wanted = usage::of(write, object);
    if let Some(old) = write.old.filter(|old| write.operation == Operation::Update && scope::matches(quota, write, old))
    {
        let before = usage::of(write, old);
        for (name, amount) in &mut wanted {
            if let Some(before) = before.get(name) {
                *amount = amount.minus(*before);
            }
        }
    }
    wanted.retain(|name, amount| hard.contains_key(name) && !amount.is_zero() && !amount.is_negative());
    if wanted.is_empty() {
        return Ok(None);
    }
    let mut sum = used.clone();
    for (name, amount) in &wanted {
        let total = used.get(name).map_or(*amount, |used| used.plus(*amount));
        sum.insert(name.clone(), total);
    }
    let over = |name: &&String| {
        let (sum, hard) = (sum.get(*name), hard.get(*name));
        sum.zip(hard).is_some_and(|(sum, hard)| sum.nanos() > hard.nanos())
    };
    let exceeded: Vec<&String> = wanted.keys().filter(over).collect();
    if !exceeded.is_empty() {
        let of = |amounts: &Amounts| told(amounts, &exceeded);
        return Err(format!(
            "exceeded quota: {name}, requested: {}, used: {}, limited: {}",
            of(&wanted),
            of(&used),
            of(&hard)
        ));
    }
    Ok(Some(sum))
}

fn amounts(list: &Value) -> Amounts {
    let all = list.as_object().into_iter().flatten();
    all.filter_map(|(name, amount)| Some((name.clone(), Quantity::parse(amount.as_str()?)?))).collect()
}

fn told(amounts: &Amounts, names: &[&String]) -> String {
    let one = |name: &&String| Some(format!("{name}={}", amounts.get(*name)?.canonical()));
    let all: Vec<String> = names.iter().filter_map(one).collect();
    all.join(",")
}

/// Whether an object is of a resource by group and plural.
fn is_of(write: Write<'_>, group: &str, plural: &str) -> bool {
    let resource = &write.call.resource;
    resource.group == group && resource.plural == plural
}

/// Whether the object before was another kind of one: a pod that ends by itself, or not.
fn ends(pod: &Value) -> bool {
    at(pod, "spec.activeDeadlineSeconds").as_i64().is_some_and(|seconds| seconds >= 0)
        && fields::get(pod, "name").is_some()
}
