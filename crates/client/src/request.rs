use bytes::Bytes;
use controller_runtime_scheme::{Kind, Object, ObjectKey};
use http::Method;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use crate::error::{ClientError, RequestInfo, RequestProblem, Verb};
use crate::options::{DeleteOptions, FieldValidation, ListOptions, ResourceVersionMatch, WatchOptions, WriteOptions};

/// What may not stand in a segment of a URL's path as it is.
const SEGMENT: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>').add(b'?').add(b'`').add(b'{').add(b'}');

const JSON: &str = "application/json";
const METADATA_ONLY: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const METADATA_ONLY_LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// A request as it goes over the wire, ready to be sent more than once.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) info: Box<RequestInfo>,
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: Vec<(&'static str, String)>,
    pub(crate) accept: &'static str,
    pub(crate) body: Option<(&'static str, Bytes)>,
    /// Whether it is about objects that live in namespaces.
    pub(crate) namespaced: bool,
}

impl Request {
    /// A request about one object.
    pub(crate) fn object<K: Object>(
        kind: &Kind<K>,
        verb: Verb,
        key: &ObjectKey,
        subresource: Option<&str>,
    ) -> Result<Self, ClientError> {
        let info = info(kind, verb, key.namespace.clone(), Some(key.name.clone()), subresource);
        if key.name.is_empty() {
            return Err(refuse(info, RequestProblem::MissingName));
        }
        if kind.is_namespaced() && key.namespace.is_none() {
            return Err(refuse(info, RequestProblem::MissingNamespace));
        }
        let mut request = Self::collection(kind, info)?;
        request.push_segment(&key.name)?;
        if let Some(subresource) = subresource {
            request.push_segment(subresource)?;
        }
        Ok(request)
    }

    /// A request that makes an object.
    pub(crate) fn create<K: Object>(kind: &Kind<K>, key: &ObjectKey) -> Result<Self, ClientError> {
        let name = (!key.name.is_empty()).then(|| key.name.clone());
        let info = info(kind, Verb::Create, key.namespace.clone(), name, None);
        if kind.is_namespaced() && key.namespace.is_none() {
            return Err(refuse(info, RequestProblem::MissingNamespace));
        }
        Self::collection(kind, info)
    }

    /// A request about many objects.
    pub(crate) fn objects<K: Object>(
        kind: &Kind<K>,
        verb: Verb,
        namespace: Option<String>,
    ) -> Result<Self, ClientError> {
        Self::collection(kind, info(kind, verb, namespace, None, None))
    }

    /// A request about something that isn't an object of a kind, for example discovery.
    pub(crate) fn get_path(info: RequestInfo, path: String) -> Self {
        let info = Box::new(info);
        Self { info, method: Method::GET, path, query: Vec::new(), accept: JSON, body: None, namespaced: false }
    }

    fn collection<K: Object>(kind: &Kind<K>, info: RequestInfo) -> Result<Self, ClientError> {
        if !kind.is_namespaced()
            && let Some(namespace) = info.namespace.clone()
        {
            return Err(refuse(info, RequestProblem::UnexpectedNamespace(namespace)));
        }
        let resource = kind.resource();
        let prefix = if resource.group.is_empty() { "/api" } else { "/apis" };
        let mut request = Self {
            method: method_of(info.verb),
            path: format!("{prefix}/{}", resource.api_version),
            query: Vec::new(),
            accept: accept::<K>(info.verb),
            body: None,
            namespaced: kind.is_namespaced(),
            info: Box::new(info),
        };
        if let Some(namespace) = request.info.namespace.clone() {
            request.push_segment("namespaces")?;
            request.push_segment(&namespace)?;
        }
        request.push_segment(&resource.plural)?;
        Ok(request)
    }

    fn push_segment(&mut self, segment: &str) -> Result<(), ClientError> {
        // The API's own rule for names (IsValidPathSegmentName).
        if segment.is_empty() || segment == "." || segment == ".." || segment.contains(['/', '%']) {
            return Err(self.refuse(RequestProblem::InvalidName(segment.to_owned())));
        }
        self.path.push('/');
        self.path.extend(utf8_percent_encode(segment, SEGMENT));
        Ok(())
    }

    /// The error of a request that isn't sent.
    pub(crate) fn refuse(&self, problem: RequestProblem) -> ClientError {
        ClientError::Refused { request: self.info.clone(), problem }
    }

    pub(crate) fn with_body(mut self, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        self.body = Some((content_type, body.into()));
        self
    }

    pub(crate) fn with_query(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.query.push((name, value.into()));
        self
    }

    fn with_some(self, name: &'static str, value: Option<impl Into<String>>) -> Self {
        match value {
            Some(value) => self.with_query(name, value),
            None => self,
        }
    }

    pub(crate) fn with_write(self, options: &WriteOptions) -> Self {
        self.with_some("dryRun", options.dry_run.then_some("All"))
            .with_some("fieldManager", options.field_manager.clone())
            .with_some("fieldValidation", options.field_validation.map(FieldValidation::as_str))
    }

    pub(crate) fn with_list(self, options: &ListOptions) -> Self {
        self.with_some("labelSelector", selector(&options.labels))
            .with_some("fieldSelector", options.fields.clone())
            .with_some("limit", options.limit.map(|limit| limit.to_string()))
            .with_some("continue", options.continue_token.clone())
            .with_some("resourceVersion", options.resource_version.clone())
            .with_some("resourceVersionMatch", options.resource_version_match.map(ResourceVersionMatch::as_str))
    }

    pub(crate) fn with_watch(self, options: &WatchOptions) -> Self {
        self.with_query("watch", "true")
            .with_some("labelSelector", selector(&options.labels))
            .with_some("fieldSelector", options.fields.clone())
            .with_some("resourceVersion", options.resource_version.clone())
            .with_some("timeoutSeconds", options.timeout.map(|timeout| timeout.as_secs().to_string()))
            .with_some("allowWatchBookmarks", options.bookmarks.then_some("true"))
            .with_some("sendInitialEvents", options.send_initial_events.then_some("true"))
            .with_some("resourceVersionMatch", options.send_initial_events.then_some("NotOlderThan"))
    }

    /// Deletion takes all its options, dry run among them, in a body.
    pub(crate) fn with_delete(self, options: &DeleteOptions, write: &WriteOptions) -> Self {
        let mut body = serde_json::json!({"apiVersion": "v1", "kind": "DeleteOptions"});
        if let Some(propagation) = options.propagation {
            body["propagationPolicy"] = propagation.as_str().into();
        }
        if let Some(seconds) = options.grace_period_seconds {
            body["gracePeriodSeconds"] = seconds.into();
        }
        if let Some(uid) = &options.uid {
            body["preconditions"]["uid"] = uid.as_str().into();
        }
        if let Some(version) = &options.resource_version {
            body["preconditions"]["resourceVersion"] = version.as_str().into();
        }
        if write.dry_run {
            body["dryRun"] = serde_json::json!(["All"]);
        }
        self.with_body(JSON, body.to_string())
    }

    /// Path and query.
    pub(crate) fn uri(&self) -> String {
        if self.query.is_empty() {
            return self.path.clone();
        }
        let start = self.path.len() + 1;
        let mut query = form_urlencoded::Serializer::for_suffix(format!("{}?", self.path), start);
        query.extend_pairs(&self.query);
        query.finish()
    }
}

fn selector(labels: &kube_core::Selector) -> Option<String> {
    (!labels.selects_all()).then(|| labels.to_string())
}

fn info<K: Object>(
    kind: &Kind<K>,
    verb: Verb,
    namespace: Option<String>,
    name: Option<String>,
    subresource: Option<&str>,
) -> RequestInfo {
    RequestInfo { verb, kind: kind.to_string(), namespace, name, subresource: subresource.map(str::to_owned) }
}

fn refuse(info: RequestInfo, problem: RequestProblem) -> ClientError {
    ClientError::Refused { request: Box::new(info), problem }
}

fn method_of(verb: Verb) -> Method {
    match verb {
        Verb::Get | Verb::List | Verb::Watch => Method::GET,
        Verb::Create => Method::POST,
        Verb::Update => Method::PUT,
        Verb::Patch | Verb::Apply => Method::PATCH,
        Verb::Delete | Verb::DeleteCollection => Method::DELETE,
    }
}

fn accept<K: Object>(verb: Verb) -> &'static str {
    match verb {
        _ if !K::metadata_api() => JSON,
        Verb::List | Verb::DeleteCollection => METADATA_ONLY_LIST,
        _ => METADATA_ONLY,
    }
}

#[cfg(test)]
mod tests {
    use controller_runtime_scheme::{Kind, ObjectKey, TypedObject};
    use k8s_openapi::api::apps::v1::Deployment;
    use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
    use k8s_openapi::api::rbac::v1::ClusterRole;

    use super::Request;
    use crate::error::Verb;
    use crate::options::{ListOptions, WatchOptions};

    #[test]
    fn objects_have_urls() {
        fn check<K: TypedObject>(key: &ObjectKey, subresource: Option<&str>, expected: Result<&str, &str>) {
            let request = Request::object(&Kind::<K>::typed(), Verb::Get, key, subresource);
            let uri = request.map(|request| request.uri()).map_err(|error| error.to_string());
            assert_eq!(uri.as_deref().map_err(String::as_str), expected);
        }
        check::<Deployment>(
            &ObjectKey::namespaced("ns", "web"),
            Some("scale"),
            Ok("/apis/apps/v1/namespaces/ns/deployments/web/scale"),
        );
        check::<Namespace>(&ObjectKey::cluster("ns"), None, Ok("/api/v1/namespaces/ns"));
        check::<ClusterRole>(
            &ObjectKey::cluster("system:a b"),
            None,
            Ok("/apis/rbac.authorization.k8s.io/v1/clusterroles/system:a%20b"),
        );
        check::<ConfigMap>(
            &ObjectKey::cluster("a"),
            None,
            Err("cannot get ConfigMap/v1 a: the kind is namespaced and no namespace is given"),
        );
        check::<Namespace>(
            &ObjectKey::namespaced("b", "a"),
            None,
            Err("cannot get Namespace/v1 b/a: the kind is cluster-scoped and the namespace \"b\" is given"),
        );
        check::<ConfigMap>(
            &ObjectKey::namespaced("ns", ""),
            None,
            Err("cannot get ConfigMap/v1 ns/: the object has no name"),
        );
        check::<ConfigMap>(
            &ObjectKey::namespaced("ns", "../a"),
            None,
            Err("cannot get ConfigMap/v1 ns/../a: \"../a\" is not a valid name"),
        );
    }

    #[test]
    fn options_become_queries() {
        let kind = Kind::<ConfigMap>::typed();
        let list = ListOptions::in_namespace("ns").label("app", "web").fields("metadata.name!=a b").limit(500);
        let request = Request::objects(&kind, Verb::List, list.namespace.clone()).unwrap().with_list(&list);
        assert_eq!(
            request.uri(),
            "/api/v1/namespaces/ns/configmaps?labelSelector=app%3Dweb&fieldSelector=metadata.name%21%3Da+b&limit=500"
        );
        let watch = WatchOptions { resource_version: Some("7".to_owned()), bookmarks: true, ..WatchOptions::default() };
        let request = Request::objects(&kind, Verb::Watch, None).unwrap().with_watch(&watch);
        assert_eq!(request.uri(), "/api/v1/configmaps?watch=true&resourceVersion=7&allowWatchBookmarks=true");
    }
}
