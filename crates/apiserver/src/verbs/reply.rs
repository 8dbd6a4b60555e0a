use std::sync::Arc;

use http::StatusCode;
use serde_json::{Map, Value};

use crate::body::Body;
use crate::store::Object;

/// What a verb answers with, before it is brought into the form that the client accepts.
#[derive(Debug)]
pub(crate) enum Reply {
    /// A stored object.
    Stored(StatusCode, Arc<Object>),
    /// An object that is not, or not so, stored: of a dry run, or of another kind such as `Scale`.
    Made(StatusCode, Value),
    /// Objects in a list.
    List(Items),
    /// A stream of events; its form was chosen when it was opened.
    Watch(Body),
}

/// Objects of one list.
#[derive(Debug)]
pub(crate) struct Items {
    pub(crate) objects: Vec<Arc<Object>>,
    /// `metadata` of the list.
    pub(crate) metadata: Map<String, Value>,
}
