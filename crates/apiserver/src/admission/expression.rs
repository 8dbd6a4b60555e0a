//! Expressions in CEL about a write: the variables that they read (KEP-3488, KEP-3716).

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use controller_runtime_schema::cel::{
    Authorizer, CelType, CelValue, Decision, Environment, ObjectType, Opaque, Question,
};
use serde_json::Value;

use super::attributes::Attributes;
use crate::access::Identity;
use crate::pipeline::attributes::{Attributes as Wanted, ResourceAttributes};
use crate::verbs::Call;

const REQUEST_RESOURCE: &str = "authorizer.requestResource";

/// What expressions know of a write.
#[derive(Debug)]
pub(super) struct Subject<'a> {
    pub(super) attributes: &'a Attributes<'a>,
    /// The request of the review, without the objects.
    pub(super) request: &'a Value,
    pub(super) object: Option<&'a Value>,
    pub(super) old: Option<&'a Value>,
}

impl<'a> Subject<'a> {
    /// The values of the variables.
    pub(super) fn variables(&self) -> BTreeMap<&'static str, CelValue<'a>> {
        let value = |object: Option<&'a Value>| object.map_or(CelValue::Null, CelValue::from_json);
        let authorizer = authorizer(self.attributes.call);
        let about_request = authorizer.about(self.question());
        BTreeMap::from([
            ("object", value(self.object)),
            ("oldObject", value(self.old)),
            ("request", CelValue::from_json(self.request)),
            ("namespaceObject", CelValue::Null),
            ("authorizer", CelValue::Opaque(Opaque::Authorizer(Rc::new(authorizer)))),
            (REQUEST_RESOURCE, CelValue::Opaque(Opaque::Authorizer(Rc::new(about_request)))),
        ])
    }

    /// What would be asked about the request's own resource.
    fn question(&self) -> Question {
        let call = self.attributes.call;
        Question {
            group: call.resource.group.clone(),
            resource: call.resource.plural.clone(),
            subresource: call.subresource.clone().unwrap_or_default(),
            namespace: self.attributes.namespace.clone(),
            name: self.attributes.name.clone(),
            ..Question::default()
        }
    }
}

/// Answers what expressions ask about the user of a request.
fn authorizer(call: &Call) -> Authorizer {
    let (core, user) = (Arc::clone(&call.core), call.user.clone());
    Authorizer::new(move |question| {
        let account = question.service_account.as_ref();
        let account = account.map(|(namespace, name)| Identity::absent_service_account(namespace, name));
        let decision = core.authorizer.decide(&core.store, account.as_ref().unwrap_or(&user), &wanted(question));
        Decision { allowed: decision.allowed, reason: decision.reason }
    })
}

fn wanted(question: &Question) -> Wanted {
    if let Some(path) = &question.path {
        return Wanted::Path { verb: question.verb.clone(), path: path.clone() };
    }
    Wanted::Resource(ResourceAttributes {
        verb: question.verb.clone(),
        group: question.group.clone(),
        version: "*".to_owned(),
        namespace: question.namespace.clone(),
        resource: question.resource.clone(),
        subresource: question.subresource.clone(),
        name: question.name.clone(),
    })
}

/// The types of the variables.
pub(super) fn environment() -> Environment {
    Environment::default()
        .variable("object", CelType::Dyn)
        .variable("oldObject", CelType::Dyn)
        .variable("request", request_type())
        .variable("namespaceObject", namespace_type())
        .variable("authorizer", CelType::Opaque("kubernetes.authorization.Authorizer"))
        .variable(REQUEST_RESOURCE, CelType::Opaque("kubernetes.authorization.ResourceCheck"))
}

fn object_type<const N: usize>(name: &str, fields: [(&str, CelType); N]) -> CelType {
    let fields = fields.into_iter().map(|(name, of)| (name.to_owned(), of)).collect();
    CelType::Object(Arc::new(ObjectType { name: format!("kubernetes.{name}"), fields }))
}

fn texts() -> CelType {
    CelType::list(CelType::String)
}

fn request_type() -> CelType {
    let text = || CelType::String;
    let kind = || object_type("GroupVersionKind", [("group", text()), ("version", text()), ("kind", text())]);
    let resource =
        || object_type("GroupVersionResource", [("group", text()), ("version", text()), ("resource", text())]);
    let extra = CelType::map(text(), texts());
    let user = [("username", text()), ("uid", text()), ("groups", texts()), ("extra", extra)];
    object_type(
        "AdmissionRequest",
        [
            ("kind", kind()),
            ("resource", resource()),
            ("subResource", text()),
            ("requestKind", kind()),
            ("requestResource", resource()),
            ("requestSubResource", text()),
            ("name", text()),
            ("namespace", text()),
            ("operation", text()),
            ("userInfo", object_type("UserInfo", user)),
            ("dryRun", CelType::Bool),
            ("options", CelType::Dyn),
        ],
    )
}

fn namespace_type() -> CelType {
    let text = || CelType::String;
    let labels = || CelType::map(text(), text());
    let condition = [
        ("status", text()),
        ("type", text()),
        ("lastTransitionTime", CelType::Timestamp),
        ("message", text()),
        ("reason", text()),
    ];
    let conditions = CelType::list(object_type("NamespaceCondition", condition));
    let metadata = [
        ("name", text()),
        ("generateName", text()),
        ("namespace", text()),
        ("labels", labels()),
        ("annotations", labels()),
        ("UID", text()),
        ("creationTimestamp", CelType::Timestamp),
        ("deletionGracePeriodSeconds", CelType::Int),
        ("deletionTimestamp", CelType::Timestamp),
        ("generation", CelType::Int),
        ("resourceVersion", text()),
        ("finalizers", texts()),
    ];
    object_type(
        "Namespace",
        [
            ("metadata", object_type("NamespaceMetadata", metadata)),
            ("spec", object_type("NamespaceSpec", [("finalizers", texts())])),
            ("status", object_type("NamespaceStatus", [("conditions", conditions), ("phase", text())])),
        ],
    )
}
