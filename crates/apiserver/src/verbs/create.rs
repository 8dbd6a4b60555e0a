use std::sync::Arc;

use controller_runtime_schema as schema;
use http::StatusCode;
use serde_json::Value;

use super::{Call, Reply, WriteOptions, conversion, lifecycle};
use crate::access::rbac::check_escalation;
use crate::admission::{self, Operation};
use crate::metadata::{fields, owners, validate};
use crate::pipeline::decode;
use crate::resource::Resource;
use crate::status::ApiError;
use crate::store::{ObjectKey, WriteError};
use crate::strategy::{Change, StrategyContext};

/// Names are generated this many times before a taken one is reported.
const GENERATED_NAME_ATTEMPTS: usize = 8;
/// Random characters at the end of a generated name.
const SUFFIX: usize = 5;
/// Characters of `generateName` that are used.
const MAX_PREFIX: usize = 63 - SUFFIX;

/// An object is tried to be created so often while its namespace or definition changes.
const PARENT_ATTEMPTS: usize = 100;

/// What became of one attempt.
enum Attempt {
    Done(Reply),
    /// There is an object of this name.
    Taken(ApiError),
    /// The namespace or the definition is no longer as it was when it was checked.
    ParentChanged,
}

/// Creates an object.
pub(crate) async fn create(call: &Call) -> Result<Reply, ApiError> {
    let options = WriteOptions::of(call, "CreateOptions")?;
    let mut object = decode::object(call, options.validation)?;
    decode::check_place(call, &mut object)?;
    owners::drop_duplicates(call, &mut object, false);
    // Nobody owns what the server doesn't take over.
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds"] {
        fields::remove(&mut object, field);
    }
    set_defaults(call, &mut object);
    super::managed::track_new(call, &mut object, &options).await;
    create_object(call, object, &options).await
}

/// Sets the defaults of the schema and those of the kind.
pub(crate) fn set_defaults(call: &Call, object: &mut Value) {
    schema::default(object, &call.resource.schema());
    call.resource.strategy.default(object);
}

/// Creates an object that is decoded, defaulted and has its managed fields.
pub(super) async fn create_object(call: &Call, mut object: Value, options: &WriteOptions) -> Result<Reply, ApiError> {
    admission::mutate(call, Operation::Create, &mut object, None, options).await?;
    decode::check_place(call, &mut object)?;
    owners::drop_duplicates(call, &mut object, true);
    let generated = fields::text(&object, "name").is_empty() && !fields::text(&object, "generateName").is_empty();
    let attempts = if generated { GENERATED_NAME_ATTEMPTS } else { 1 };
    let mut outcome = Err(ApiError::internal("no attempt was made"));
    let (mut taken, mut changed) = (0, 0);
    while taken < attempts && changed < PARENT_ATTEMPTS {
        match attempt_create(call, object.clone(), options, generated).await? {
            Attempt::Done(reply) => return Ok(reply),
            Attempt::Taken(error) => {
                taken += 1;
                outcome = Err(error);
            }
            Attempt::ParentChanged => {
                changed += 1;
                outcome = Err(ApiError::modified(call.resource.group_resource(), fields::text(&object, "name")));
            }
        }
    }
    outcome
}

async fn attempt_create(
    call: &Call,
    mut object: Value,
    options: &WriteOptions,
    generated: bool,
) -> Result<Attempt, ApiError> {
    let resource = &call.resource;
    if generated {
        let prefix: String = fields::text(&object, "generateName").chars().take(MAX_PREFIX).collect();
        fields::set(&mut object, "name", format!("{prefix}{}", call.core.ambient.name_suffix(SUFFIX)));
    }
    let name = fields::text(&object, "name").to_owned();
    let parents = lifecycle::check_create(call, &name)?;
    check_escalation(call, &object, None)?;
    prepare(call, &mut object, options);
    let mut errors = validate::create(&object, resource);
    errors.extend(resource.strategy.validate(&object));
    validate::keep_distinct(&mut errors, resource);
    if errors.is_empty() {
        resource.strategy.warnings(&object, None).into_iter().for_each(|text| call.warn(text));
        admission::validate(call, Operation::Create, &object, None, options).await?;
        // Before anything is reserved, so that there is nothing to give up.
        if !matches!(fields::text(&object, "resourceVersion"), "" | "0") {
            return Err(ApiError::unclassified("resourceVersion should not be set on objects to be created"));
        }
        let cx = StrategyContext { core: &call.core, dry_run: options.dry_run };
        errors.extend(resource.strategy.reserve(&mut object, None, &cx));
    }
    if !errors.is_empty() {
        return Err(ApiError::invalid(resource.storage_name().group, &resource.kind, &name, &errors));
    }
    let key = ObjectKey::new(call.namespace.as_str(), name);
    let content = Box::pin(conversion::content(call, object)).await;
    let content = content.inspect_err(|_| resource.strategy.not_created(&key, None, &call.core))?;
    if options.dry_run {
        if let Some(taken) = call.core.store.get(&call.collection(), &key) {
            return Ok(Attempt::Taken(exists(resource, &key.name, taken.value())));
        }
        return Ok(Attempt::Done(Reply::Made(StatusCode::CREATED, content.read)));
    }
    match call.core.store.create_under(&parents, &call.collection(), key.clone(), content) {
        Ok(stored) => {
            resource.strategy.committed(Change { old: None, new: Some(stored.value()) }, &call.core);
            Ok(Attempt::Done(Reply::Stored(StatusCode::CREATED, stored)))
        }
        Err(error) => {
            let taken = call.core.store.get(&call.collection(), &key);
            resource.strategy.not_created(&key, taken.as_ref().map(|taken| taken.value()), &call.core);
            match error {
                WriteError::Changed => Ok(Attempt::ParentChanged),
                WriteError::Exists(_) => Ok(Attempt::Taken(unwritable(resource, &key.name, &error))),
                error => Err(unwritable(resource, &key.name, &error)),
            }
        }
    }
}

/// Sets what only the server may set on a new object.
fn prepare(call: &Call, object: &mut Value, options: &WriteOptions) {
    let resource = &call.resource;
    validate::reset_for_create(object, call.core.ambient.uuid(), &call.now());
    if resource.has_status() && resource.strategy.drops_status() && drop_status(object) {
        set_defaults(call, object);
    }
    let cx = StrategyContext { core: &call.core, dry_run: options.dry_run };
    resource.strategy.prepare_create(object, &cx);
    if resource.strategy.tracks_generation() {
        fields::set(object, "generation", 1);
    }
}

fn drop_status(object: &mut Value) -> bool {
    object.as_object_mut().is_some_and(|members| members.remove("status").is_some())
}

fn exists(resource: &Resource, name: &str, taken: &Value) -> ApiError {
    let resource = resource.group_resource();
    if fields::is_deleting(taken) {
        ApiError::being_deleted(resource, name)
    } else {
        ApiError::already_exists(resource, name)
    }
}

/// What a write that the store did not take answers; `name` is the object's.
pub(super) fn unwritable(resource: &Resource, name: &str, error: &WriteError) -> ApiError {
    match error {
        WriteError::Exists(taken) => exists(resource, name, taken.value()),
        WriteError::Changed => ApiError::modified(resource.group_resource(), name),
        // The texts are etcd's, which kube-apiserver passes on.
        WriteError::Full => ApiError::unclassified("etcdserver: mvcc: database space exceeded"),
        WriteError::TooLarge => ApiError::unclassified("etcdserver: request is too large"),
    }
}

/// Runs the kind's own work after a write.
pub(super) fn committed(call: &Call, old: Option<&Value>, new: Option<&Value>) {
    call.resource.strategy.committed(Change { old, new }, &Arc::clone(&call.core));
}
