//! Acting as somebody else: the `Impersonate-…` headers.

use http::request::Parts;
use http::{HeaderMap, HeaderName};

use super::identity::service_account;
use super::{Authorizer, Identity};
use crate::pipeline::attributes::{Attributes, ResourceAttributes};
use crate::status::ApiError;
use crate::store::Store;

const USER: HeaderName = HeaderName::from_static("impersonate-user");
const GROUP: HeaderName = HeaderName::from_static("impersonate-group");
const UID: HeaderName = HeaderName::from_static("impersonate-uid");
const EXTRA: &str = "impersonate-extra-";
const AUTHENTICATION: &str = "authentication.k8s.io";

/// The user that a request wants to be, if `user` may be that one; `user` itself without the headers.
pub(crate) fn impersonate(
    authorizer: Authorizer,
    store: &Store,
    user: Identity,
    parts: &mut Parts,
) -> Result<Identity, ApiError> {
    let Some(wanted) = requested(&parts.headers)? else { return Ok(user) };
    let allowed =
        |attributes: ResourceAttributes| authorizer.decide(store, &user, &Attributes::Resource(attributes)).allowed;
    let mut needed = checks("impersonate", &wanted).into_iter();
    if !needed.all(&allowed) {
        check_constrained(authorizer, store, &user, &wanted, parts)?;
    }
    remove_headers(&mut parts.headers);
    Ok(complete(wanted))
}

/// Whom the headers name, as they name it.
fn requested(headers: &HeaderMap) -> Result<Option<Identity>, ApiError> {
    let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut wanted = Identity::new(text(&USER)).with_uid(text(&UID));
    wanted.groups = headers.get_all(GROUP).iter().filter_map(|value| value.to_str().ok()).map(str::to_owned).collect();
    for (name, value) in headers {
        let Some(key) = name.as_str().strip_prefix(EXTRA) else { continue };
        let key = percent_encoding::percent_decode_str(key).decode_utf8_lossy().into_owned();
        wanted.extra.entry(key).or_default().push(String::from_utf8_lossy(value.as_bytes()).into_owned());
    }
    if !wanted.name.is_empty() {
        return Ok(Some(wanted));
    }
    if wanted == Identity::new("") {
        return Ok(None);
    }
    Err(ApiError::bad_request(format!("requested {} without impersonating a user name", in_go(&wanted))))
}

/// With the groups that come with the name, unless the request names groups itself.
fn complete(wanted: Identity) -> Identity {
    let named = if wanted.groups.is_empty() { Identity::named(&wanted.name).groups } else { wanted.groups.clone() };
    Identity { groups: named, ..wanted }.authenticated()
}

/// What must be allowed with a verb: one check for each thing that the headers name.
fn checks(verb: &str, wanted: &Identity) -> Vec<ResourceAttributes> {
    let check = |group: &str, resource: &str, name: &str| ResourceAttributes {
        verb: verb.to_owned(),
        group: group.to_owned(),
        version: "v1".to_owned(),
        resource: resource.to_owned(),
        name: name.to_owned(),
        ..ResourceAttributes::default()
    };
    let mut checks = vec![match service_account(&wanted.name) {
        Some((namespace, name)) => {
            ResourceAttributes { namespace: namespace.to_owned(), ..check("", "serviceaccounts", name) }
        }
        None => check("", "users", &wanted.name),
    }];
    checks.extend(wanted.groups.iter().map(|group| check("", "groups", group)));
    if !wanted.uid.is_empty() {
        checks.push(check(AUTHENTICATION, "uids", &wanted.uid));
    }
    for (key, values) in &wanted.extra {
        checks.extend(values.iter().map(|value| ResourceAttributes {
            subresource: key.clone(),
            ..check(AUTHENTICATION, "userextras", value)
        }));
    }
    checks
}

/// The newer way (KEP-5284): to be the user at all, and to be it for what the request does.
fn check_constrained(
    authorizer: Authorizer,
    store: &Store,
    user: &Identity,
    wanted: &Identity,
    parts: &Parts,
) -> Result<(), ApiError> {
    let mode = if service_account(&wanted.name).is_some() { "serviceaccount" } else { "user-info" };
    let mut on = Attributes::of(parts);
    match &mut on {
        Attributes::Path { verb, .. } => *verb = format!("impersonate-on:{mode}:{verb}"),
        Attributes::Resource(wanted) => wanted.verb = format!("impersonate-on:{mode}:{}", wanted.verb),
    }
    let mut needed = vec![on];
    let subjects = checks(&format!("impersonate:{mode}"), wanted).into_iter();
    needed.extend(
        subjects.map(|check| Attributes::Resource(ResourceAttributes { group: AUTHENTICATION.to_owned(), ..check })),
    );
    for attributes in needed {
        let decision = authorizer.decide(store, user, &attributes);
        if !decision.allowed {
            return Err(crate::pipeline::authorize::refusal(user, &attributes, &decision));
        }
    }
    Ok(())
}

fn remove_headers(headers: &mut HeaderMap) {
    let names: Vec<_> = headers.keys().filter(|name| name.as_str().starts_with("impersonate-")).cloned().collect();
    for name in names {
        headers.remove(name);
    }
}

/// As Go prints the value, which is part of the error.
fn in_go(user: &Identity) -> String {
    let quoted =
        |values: &[String]| values.iter().map(|value| crate::status::quote(value)).collect::<Vec<_>>().join(", ");
    let groups = if user.groups.is_empty() { "(nil)".to_owned() } else { format!("{{{}}}", quoted(&user.groups)) };
    let extra = if user.extra.is_empty() {
        "(nil)".to_owned()
    } else {
        let entry = |(key, values): (&String, &Vec<String>)| {
            format!("{}:[]string{{{}}}", crate::status::quote(key), quoted(values))
        };
        format!("{{{}}}", user.extra.iter().map(entry).collect::<Vec<_>>().join(", "))
    };
    format!(
        "&user.DefaultInfo{{Name:{}, UID:{}, Groups:[]string{groups}, Extra:map[string][]string{extra}}}",
        crate::status::quote(&user.name),
        crate::status::quote(&user.uid)
    )
}
