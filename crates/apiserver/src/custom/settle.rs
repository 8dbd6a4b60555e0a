//! Brings what is served into step with the stored definitions.
//!
//! All of it happens on the request that changed something, before it is answered, as writes of the server's own: a
//! definition that was created is served when its creator hears of it. Each write is conditional on what was read, and
//! whoever loses looks again, so that the last one always acts on the newest state.

use std::sync::Arc;

use controller_runtime_merge::NoOtherVersions;
use serde_json::{Value, json};

use super::accept;
use super::definition::Definition;
use super::definition_strategy::FINALIZER;
use super::served;
use super::versions::Versions;
use crate::core::Core;
use crate::managed_fields::Tracking;
use crate::store::{Object, ObjectKey, Range};
use crate::strategy::Change;
use crate::verbs::{DeleteOptions, delete_object};

const COLLECTION: &str = "customresourcedefinitions.apiextensions.k8s.io";
/// More steps than a definition can need; what doesn't settle by then is left to the next change.
const STEPS: usize = 100;

/// A definition was created, changed or removed.
pub(super) fn definition_changed(change: Change<'_>, core: &Arc<Core>) {
    let Some(definition) = change.new.or(change.old).map(Definition::new) else { return };
    let (name, group) = (definition.name(), definition.group());
    settle(core, name, change.old);
    // Names that it no longer takes are free for others.
    let waiting = stored_in_group(core, group, name);
    for other in waiting.iter().filter(|other| waits_for_names(other)) {
        settle(core, &other.key.name, Some(other.value()));
    }
}

/// A custom object is gone; its definition may have waited for that.
pub(super) fn object_removed(definition: &str, core: &Arc<Core>) {
    for _ in 0..STEPS {
        let Some(stored) = get(core, definition) else { return };
        if !Definition::new(stored.value()).is_terminating() || finish(core, &stored) {
            return;
        }
    }
}

fn get(core: &Core, name: &str) -> Option<Arc<Object>> {
    core.store.get(COLLECTION, &ObjectKey::new("", name))
}

fn stored_in_group(core: &Core, group: &str, but: &str) -> Vec<Arc<Object>> {
    let in_group = |object: &Object| object.key.name != but && Definition::new(object.value()).group() == group;
    // The newest state is always known.
    core.store.list(COLLECTION, &Range::default(), in_group).map(|page| page.objects).unwrap_or_default()
}

fn waits_for_names(object: &Object) -> bool {
    let definition = Definition::new(object.value());
    !definition.is_terminating() && !definition.is_condition_true("NamesAccepted")
}

/// Takes all steps that a definition needs; `before` is what it was when it was last looked at.
fn settle(core: &Arc<Core>, name: &str, before: Option<&Value>) {
    for _ in 0..STEPS {
        let Some(stored) = get(core, name) else {
            if let Some(before) = before {
                withdraw(core, Definition::new(before));
            }
            // Somebody may have created it again in the meantime.
            if get(core, name).is_none() {
                return;
            }
            continue;
        };
        let definition = Definition::new(stored.value());
        if definition.is_terminating() {
            if terminate(core, &stored) {
                return;
            }
            continue;
        }
        let others = stored_in_group(core, definition.group(), name);
        let others: Vec<_> = others.iter().map(|other| Definition::new(other.value())).collect();
        if let Some(status) = accept::next_status(definition, &others, &core.now()) {
            write_status(core, &stored, status);
            continue;
        }
        if definition.is_established() && before.is_none_or(|before| serves_otherwise(before, stored.value())) {
            install(core, definition);
            if before.is_some() {
                read_anew(core, definition);
                // Clients list again, in what the versions are now.
                core.store.end_watches(&collection(definition));
            }
        }
        if get(core, name).is_some_and(|now| now.revision == stored.revision) {
            return;
        }
    }
}

/// Whether two states of a definition are served differently.
fn serves_otherwise(before: &Value, now: &Value) -> bool {
    let part = |object: &Value, pointer: &str| object.pointer(pointer).cloned();
    let established = |object: &Value| Definition::new(object).is_established();
    ["/spec", "/status/acceptedNames"].iter().any(|pointer| part(before, pointer) != part(now, pointer))
        || established(before) != established(now)
}

fn install(core: &Core, definition: Definition<'_>) {
    match served::resources(definition) {
        Ok(resources) => core.registry.install(definition.group(), definition.accepted_name("plural"), resources),
        // Validation refuses such schemas.
        Err(error) => tracing::error!(definition = definition.name(), %error, "a stored definition has no schema"),
    }
}

/// Shows stored objects as the changed definition reads them: unknown fields gone, new defaults set. What is stored stays
/// until the next write.
fn read_anew(core: &Core, definition: Definition<'_>) {
    let Ok(versions) = Versions::of(definition) else { return };
    let all = core.store.list(&collection(definition), &Range::default(), |_| true);
    for object in all.map(|page| page.objects).unwrap_or_default() {
        let content = versions.content(object.stored().clone());
        if content.read != *object.value()
            && let Err(error) = core.store.amend(&object, content)
        {
            // Somebody wrote it in the meantime, and by the new definition.
            tracing::debug!(definition = definition.name(), object = %object.key.name, ?error, "not read anew");
        }
    }
}

fn withdraw(core: &Core, definition: Definition<'_>) {
    let plural = definition.asked_name("plural");
    core.registry.install(definition.group(), plural, Vec::new());
    core.store.close_collection(&collection(definition));
}

/// Where a definition's objects are stored.
fn collection(definition: Definition<'_>) -> String {
    format!("{}.{}", definition.asked_name("plural"), definition.group())
}

/// Deletes a definition's objects and, when there are none left, lets the definition go. Tells whether nothing is left
/// to do for now; false when somebody else wrote in between.
fn terminate(core: &Arc<Core>, stored: &Arc<Object>) -> bool {
    let definition = Definition::new(stored.value());
    let in_progress = definition
        .condition("Terminating")
        .is_some_and(|condition| condition.get("reason") == Some(&json!("InstanceDeletionInProgress")));
    if !in_progress && definition.is_established() {
        let detail = "CustomResource deletion is in progress";
        let status = accept::terminating(definition, "InstanceDeletionInProgress", detail, &core.now());
        write_status(core, stored, status);
        return false;
    }
    install_if_established(core, definition);
    delete_objects(core, definition);
    match get(core, &stored.key.name) {
        Some(stored) => finish(core, &stored),
        None => true,
    }
}

/// Serves a definition that is going away once more, so that no objects are created any more.
fn install_if_established(core: &Core, definition: Definition<'_>) {
    if definition.is_established() {
        install(core, definition);
    }
}

fn delete_objects(core: &Arc<Core>, definition: Definition<'_>) {
    let Some(version) = definition.versions().into_iter().find(|version| version.is_served()) else { return };
    let Some(resource) = core.registry.get(definition.group(), version.name(), definition.accepted_name("plural"))
    else {
        return;
    };
    let all = core.store.list(&collection(definition), &Range::default(), |_| true);
    for object in all.map(|page| page.objects).unwrap_or_default() {
        if let Err(error) = delete_object(core, &resource, &object.key, &DeleteOptions::default()) {
            // It went by itself, or somebody changes it all the time; whoever removes it looks here again.
            tracing::debug!(definition = definition.name(), object = %object.key.name, %error, "not deleted");
        }
    }
}

/// Removes the definition if it has no objects any more. False when somebody else wrote in between.
fn finish(core: &Arc<Core>, stored: &Arc<Object>) -> bool {
    let definition = Definition::new(stored.value());
    let has_objects = core
        .store
        .list(&collection(definition), &Range { limit: 1, ..Range::default() }, |_| true)
        .is_ok_and(|page| !page.objects.is_empty());
    if has_objects {
        return true;
    }
    let mut next = stored.value().clone();
    let finalizers = next.pointer_mut("/metadata/finalizers").and_then(Value::as_array_mut);
    let others_keep_it = match finalizers {
        Some(finalizers) => {
            let count = finalizers.len();
            finalizers.retain(|finalizer| finalizer != FINALIZER);
            if finalizers.len() == count {
                // It is done already, and somebody else keeps the definition.
                return true;
            }
            !finalizers.is_empty()
        }
        None => false,
    };
    if others_keep_it {
        let reason = if definition.is_established() { "InstanceDeletionCompleted" } else { "NeverEstablished" };
        let status = accept::terminated(definition, reason, &core.now());
        if let Some(map) = next.as_object_mut() {
            map.insert("status".to_owned(), status);
        }
        return core.store.update(stored, next).is_ok();
    }
    if core.store.delete(stored).is_err() {
        return false;
    }
    withdraw(core, definition);
    true
}

/// Writes a status in the name of the server; if somebody else wrote in between, the caller looks again.
fn write_status(core: &Core, stored: &Arc<Object>, status: Value) {
    let live = stored.value();
    let mut next = live.clone();
    if let Some(map) = next.as_object_mut() {
        map.insert("status".to_owned(), status);
    }
    if let Some(resource) = core.registry.get("apiextensions.k8s.io", "v1", "customresourcedefinitions") {
        let tracking = Tracking::new(&resource, Some("status"), "kube-apiserver".to_owned(), core.now());
        tracking.track(Some(live), &mut next, &NoOtherVersions);
    }
    if let Err(error) = core.store.update(stored, next) {
        tracing::debug!(definition = %stored.key.name, ?error, "its status is written later");
    }
}
