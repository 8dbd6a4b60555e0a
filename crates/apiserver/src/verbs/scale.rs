use controller_runtime_merge::NoOtherVersions;
use http::StatusCode;
use serde_json::{Map, Value, json};

use super::modify::modify;
use super::own_kind::OwnKind;
use super::{Call, Reply, WriteOptions, conversion, managed};
use crate::admission::{self, Operation};
use crate::managed_fields::ScaleTracking;
use crate::metadata::fields;
use crate::pipeline::decode;
use crate::resource::ScalePaths;
use crate::status::{ApiError, quote};

/// Shows an object as a `Scale`.
pub(super) async fn get(call: &Call) -> Result<Reply, ApiError> {
    let key = call.key();
    let found = call.core.store.get(&call.collection(), &key);
    let object = found.ok_or_else(|| ApiError::not_found(call.resource.group_resource(), &key.name))?;
    let seen = conversion::seen(call, &object).await?;
    check_replicas(call, seen.value())?;
    Ok(Reply::Made(StatusCode::OK, scale_of(call, seen.value())))
}

/// A custom resource has no scale before it says how many replicas it wants.
fn check_replicas(call: &Call, object: &Value) -> Result<(), ApiError> {
    match &call.resource.scale {
        Some(paths) if !call.resource.strategy.typed() && at(object, &paths.spec_replicas).is_none() => {
            let path = quote(&format!(".{}", paths.spec_replicas.join(".")));
            Err(ApiError::internal(&format!("the spec replicas field {path} does not exist")))
        }
        _ => Ok(()),
    }
}

/// Sets the wanted replicas.
pub(super) async fn update(call: &Call) -> Result<Reply, ApiError> {
    let options = WriteOptions::of(call, "UpdateOptions")?;
    let scale = decode::document(call)?.value;
    check(call, &scale)?;
    change(call, &options, |_| Ok(scale.clone())).await
}

/// The body must be a scale, of what the request is about.
fn check(call: &Call, scale: &Value) -> Result<(), ApiError> {
    let text = |key: &str| scale.get(key).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if !kind.is_empty() && (api_version, kind) != ("autoscaling/v1", "Scale") {
        if !call.resource.strategy.typed() {
            let text = format!("no kind is registered for the type v1.Scale {}", decode::SCHEME);
            return Err(ApiError::bad_request(text));
        }
        return Err(decode::wrong_kind(api_version, kind, "autoscaling", "Scale"));
    }
    decode::check_types(scale, OwnKind::SCALE.definition)?;
    let namespace = fields::text(scale, "namespace");
    if !namespace.is_empty() && namespace != call.namespace {
        let text = "the namespace of the provided object does not match the namespace sent on the request";
        return Err(ApiError::bad_request(text));
    }
    Ok(())
}

/// Applies a configuration to the scale.
pub(super) async fn apply(call: &Call, config: &Value, options: &WriteOptions) -> Result<Reply, ApiError> {
    super::apply::check_kind(config, "autoscaling/v1", "Scale")?;
    let tracking = managed::scale_tracking(call, options);
    let is_custom = !call.resource.strategy.typed();
    write(call, options, &tracking, |scale| {
        if is_custom && fields::get(scale, "managedFields").is_none() {
            return Err(unconverted(
                "failed to create manager for existing fields: failed to convert live object",
                "/",
            ));
        }
        let applied = tracking.of_scale.apply(Some(scale), config, options.force, &NoOtherVersions)?;
        if is_custom && without_managers(&applied) != without_managers(scale) {
            let whose = format!("{}/{}", fields::text(config, "namespace"), fields::text(config, "name"));
            return Err(unconverted("failed to convert new object", &whose));
        }
        Ok(applied)
    })
    .await
}

fn without_managers(scale: &Value) -> Value {
    let mut scale = scale.clone();
    fields::remove(&mut scale, "managedFields");
    scale
}

/// Why an apply that changes the scale of a custom resource fails: kube-apiserver asks for the conversion of the scale as
/// if it were an object of the definition.
fn unconverted(what: &str, whose: &str) -> ApiError {
    ApiError::unclassified(format!(
        "{what} ({whose}; autoscaling/v1, Kind=Scale) to proper version: request to convert CR to an invalid \
         group/version: autoscaling/v1"
    ))
}

/// Replaces the object's scale by what `transform` makes of it.
pub(super) async fn change(
    call: &Call,
    options: &WriteOptions,
    mut transform: impl FnMut(&Value) -> Result<Value, ApiError>,
) -> Result<Reply, ApiError> {
    let tracking = managed::scale_tracking(call, options);
    write(call, options, &tracking, |scale| {
        let mut new = transform(scale)?;
        // As in Go, a scale to nothing says nothing of replicas: nobody manages them then.
        if let Some(spec) = new.get_mut("spec").and_then(Value::as_object_mut)
            && spec.get("replicas").and_then(Value::as_i64) == Some(0)
        {
            spec.remove("replicas");
        }
        tracking.of_scale.track(Some(scale), &mut new, &NoOtherVersions);
        Ok(new)
    })
    .await
}

/// Replaces the object's scale, with its managed fields, by what `transform` makes of it.
async fn write(
    call: &Call,
    options: &WriteOptions,
    tracking: &ScaleTracking,
    mut transform: impl FnMut(&Value) -> Result<Value, ApiError>,
) -> Result<Reply, ApiError> {
    let reply = modify(call, options, false, |live, _| {
        let live = live.cloned().unwrap_or_default();
        let mut shown = scale_of(call, &live);
        tracking.show(&live, &mut shown);
        let scale = transform(&shown)?;
        let mut new = live.clone();
        write_replicas(call, &mut new, &scale)?;
        tracking.carry_over(&live, &scale, &mut new);
        for field in ["uid", "resourceVersion"] {
            match fields::text(&scale, field) {
                "" => fields::remove(&mut new, field),
                text => fields::set(&mut new, field, text),
            }
        }
        let name = fields::text(&scale, "name");
        if !name.is_empty() {
            fields::set(&mut new, "name", name);
        }
        // Custom resources insist on a revision; leaving it out of a scale is fine.
        if fields::text(&scale, "resourceVersion").is_empty() {
            fields::copy(&mut new, "resourceVersion", &live);
        }
        Ok(new)
    })
    .await?;
    Ok(match reply {
        Reply::Stored(code, object) => {
            Reply::Made(code, scale_of(call, conversion::seen(call, &object).await?.value()))
        }
        Reply::Made(code, object) => Reply::Made(code, scale_of(call, &object)),
        other => other,
    })
}

/// Lets admission change the scale of an object that is about to be written.
pub(super) async fn mutate(call: &Call, new: &mut Value, live: &Value, options: &WriteOptions) -> Result<(), ApiError> {
    let mut scale = scale_of(call, new);
    let wanted = scale.clone();
    admission::mutate(call, Operation::Update, &mut scale, Some(&scale_of(call, live)), options).await?;
    if scale == wanted { Ok(()) } else { write_replicas(call, new, &scale) }
}

/// Asks admission about the scale of an object as it would be stored.
pub(super) async fn validate(call: &Call, new: &Value, live: &Value, options: &WriteOptions) -> Result<(), ApiError> {
    let (scale, old) = (scale_of(call, new), scale_of(call, live));
    admission::validate(call, Operation::Update, &scale, Some(&old), options).await
}

fn write_replicas(call: &Call, object: &mut Value, scale: &Value) -> Result<(), ApiError> {
    let Some(paths) = &call.resource.scale else { return Err(ApiError::unknown_resource()) };
    let given = scale.pointer("/spec/replicas");
    let replicas = match given {
        None | Some(Value::Null) => 0,
        Some(value) => value.as_i64().filter(|value| i32::try_from(*value).is_ok()).ok_or_else(|| {
            ApiError::bad_request(
                "Scale in version \"v1\" cannot be handled as a Scale: json: cannot unmarshal into Go struct field \
                 ScaleSpec.spec.replicas of type int32",
            )
        })?,
    };
    // Custom resources are validated as themselves.
    if replicas < 0 && call.resource.strategy.typed() {
        let path = controller_runtime_schema::FieldPath::new("spec.replicas");
        let detail = "must be greater than or equal to 0";
        let error = controller_runtime_schema::FieldError::invalid(&path, replicas, detail);
        return Err(ApiError::invalid("autoscaling", "Scale", fields::text(object, "name"), &[error]));
    }
    set(object, &paths.spec_replicas, json!(replicas));
    Ok(())
}

fn scale_of(call: &Call, object: &Value) -> Value {
    let Some(paths) = &call.resource.scale else { return Value::Null };
    let mut metadata = Map::new();
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(value) = fields::get(object, field) {
            metadata.insert(field.to_owned(), value.clone());
        }
    }
    let number = |path: &[String]| at(object, path).and_then(Value::as_i64).unwrap_or_default();
    let mut spec = Map::new();
    if let replicas @ 1.. = number(&paths.spec_replicas) {
        spec.insert("replicas".to_owned(), json!(replicas));
    }
    let mut status = json!({"replicas": number(&paths.status_replicas)});
    let selector = selector(object, paths);
    if let Some(members) = status.as_object_mut().filter(|_| !selector.is_empty()) {
        members.insert("selector".to_owned(), Value::String(selector));
    }
    json!({"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": spec, "status": status})
}

fn selector(object: &Value, paths: &ScalePaths) -> String {
    match paths.label_selector.as_ref().and_then(|path| at(object, path)) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Object(selector)) => selector_text(selector),
        _ => String::new(),
    }
}

/// A `LabelSelector`, or the plain map of labels that replication controllers have, as text.
fn selector_text(selector: &Map<String, Value>) -> String {
    let is_structured = selector.keys().any(|key| key == "matchLabels" || key == "matchExpressions");
    let labels = if is_structured { selector.get("matchLabels").and_then(Value::as_object) } else { Some(selector) };
    let mut terms: Vec<(String, String)> = labels
        .into_iter()
        .flatten()
        .map(|(key, value)| (key.clone(), format!("{key}={}", value.as_str().unwrap_or_default())))
        .collect();
    let expressions = selector.get("matchExpressions").and_then(Value::as_array).into_iter().flatten();
    terms.extend(expressions.filter_map(|expression| {
        let key = expression.get("key")?.as_str()?;
        let mut values: Vec<&str> = expression
            .get("values")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        values.sort_unstable();
        let text = match expression.get("operator")?.as_str()? {
            "In" => format!("{key} in ({})", values.join(",")),
            "NotIn" => format!("{key} notin ({})", values.join(",")),
            "Exists" => key.to_owned(),
            "DoesNotExist" => format!("!{key}"),
            _ => return None,
        };
        Some((key.to_owned(), text))
    }));
    terms.sort_by(|left, right| left.0.cmp(&right.0));
    let texts: Vec<String> = terms.into_iter().map(|(_, text)| text).collect();
    texts.join(",")
}

fn at<'a>(object: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(object, |value, key| value.get(key))
}

fn set(object: &mut Value, path: &[String], value: Value) {
    let mut place = object;
    for key in path {
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        let Some(members) = place.as_object_mut() else { return };
        place = members.entry(key.clone()).or_insert(Value::Null);
    }
    *place = value;
}
