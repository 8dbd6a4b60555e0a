//! Asking whether a user may do something. The answer comes from who evaluates the expression.

use std::fmt::{self, Debug, Formatter};
use std::rc::Rc;
use std::sync::Arc;

use super::{Outcome, failed, gives};
use crate::cel::value::{CelValue, Opaque};

/// What is asked: a path or a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Namespace and name of a service account, in the place of the request's user.
    pub service_account: Option<(String, String)>,
    /// The path, when it is no resource.
    pub path: Option<String>,
    /// The API group of the resource.
    pub group: String,
    /// The resource.
    pub resource: String,
    /// The subresource.
    pub subresource: String,
    /// The namespace.
    pub namespace: String,
    /// The object's name.
    pub name: String,
    /// What is to be done.
    pub verb: String,
}

/// The answer to a [`Question`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// Whether it is allowed.
    pub allowed: bool,
    /// Why.
    pub reason: String,
}

/// Somebody who can be asked, with what is already known of the question.
#[derive(Clone)]
pub struct Authorizer {
    answer: Arc<dyn Fn(&Question) -> Decision + Send + Sync>,
    question: Question,
    stage: Stage,
    decision: Decision,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Authorizer,
    Path,
    Group,
    Resource,
    Decision,
}

impl Authorizer {
    /// One who answers with this.
    pub fn new(answer: impl Fn(&Question) -> Decision + Send + Sync + 'static) -> Self {
        Self {
            answer: Arc::new(answer),
            question: Question::default(),
            stage: Stage::Authorizer,
            decision: Decision::default(),
        }
    }

    /// The same with more known of the question.
    fn with(&self, stage: Stage, change: impl FnOnce(&mut Question)) -> Self {
        let mut next = self.clone();
        next.stage = stage;
        change(&mut next.question);
        next
    }

    /// About a resource, as variables for the request's own have it.
    #[must_use]
    pub fn about(&self, question: Question) -> Self {
        self.with(Stage::Resource, |asked| *asked = question)
    }

    pub(crate) fn type_name(&self) -> &'static str {
        match self.stage {
            Stage::Authorizer => "kubernetes.authorization.Authorizer",
            Stage::Path => "kubernetes.authorization.PathCheck",
            Stage::Group => "kubernetes.authorization.GroupCheck",
            Stage::Resource => "kubernetes.authorization.ResourceCheck",
            Stage::Decision => "kubernetes.authorization.Decision",
        }
    }
}

impl Debug for Authorizer {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorizer")
            .field("question", &self.question)
            .field("stage", &self.stage)
            .finish_non_exhaustive()
    }
}

pub(super) fn call<'a>(function: &str, arguments: &[CelValue<'a>]) -> Outcome<'a> {
    let (CelValue::Opaque(Opaque::Authorizer(from)), rest) = arguments.split_first()? else { return None };
    let texts: Option<Vec<&str>> = rest
        .iter()
        .map(|argument| match argument {
            CelValue::String(text) => Some(text.as_ref()),
            _ => None,
        })
        .collect();
    let next = match (from.stage, function, texts?.as_slice()) {
        (Stage::Authorizer, "path", ["", ..]) => return failed("path must not be empty"),
        (Stage::Authorizer, "path", [path]) => from.with(Stage::Path, |asked| asked.path = Some((*path).to_owned())),
        (Stage::Authorizer, "group", [group]) => from.with(Stage::Group, |asked| (*group).clone_into(&mut asked.group)),
        (Stage::Authorizer, "serviceAccount", [namespace, name]) => {
            let account = ((*namespace).to_owned(), (*name).to_owned());
            from.with(Stage::Authorizer, |asked| asked.service_account = Some(account))
        }
        (Stage::Group, "resource", ["", ..]) => return failed("resource must not be empty"),
        (Stage::Group, "resource", [resource]) => {
            from.with(Stage::Resource, |asked| (*resource).clone_into(&mut asked.resource))
        }
        (Stage::Resource, "subresource", [text]) => {
            from.with(Stage::Resource, |asked| (*text).clone_into(&mut asked.subresource))
        }
        (Stage::Resource, "namespace", [text]) => {
            from.with(Stage::Resource, |asked| (*text).clone_into(&mut asked.namespace))
        }
        (Stage::Resource, "name", [text]) => from.with(Stage::Resource, |asked| (*text).clone_into(&mut asked.name)),
        (Stage::Resource, "fieldSelector" | "labelSelector", [_]) => (**from).clone(),
        (Stage::Path | Stage::Resource, "check", [verb]) => {
            let mut decided = from.with(Stage::Decision, |asked| (*verb).clone_into(&mut asked.verb));
            decided.decision = (decided.answer)(&decided.question);
            decided
        }
        (Stage::Decision, "allowed", []) => return gives(CelValue::Bool(from.decision.allowed)),
        (Stage::Decision, "reason", []) => return gives(CelValue::text(from.decision.reason.clone())),
        (Stage::Decision, "errored", []) => return gives(CelValue::Bool(false)),
        (Stage::Decision, "error", []) => return gives(CelValue::text("")),
        _ => return None,
    };
    gives(CelValue::Opaque(Opaque::Authorizer(Rc::new(next))))
}
