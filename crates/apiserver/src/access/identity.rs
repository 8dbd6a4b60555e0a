use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Who makes a request: what kube-apiserver calls user info.
///
/// ```
/// use controller_runtime_apiserver::Identity;
///
/// let jane = Identity::new("jane").with_group("developers");
/// assert_eq!(jane.groups, ["developers"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The user's name, such as `jane` or `system:serviceaccount:kube-system:default`.
    pub name: String,
    /// An id that stays with the user when the name is given to somebody else; may be empty.
    pub uid: String,
    /// The user's groups, in order.
    pub groups: Vec<String>,
    /// What else the credentials say, by key.
    pub extra: BTreeMap<String, Vec<String>>,
}

/// The user of requests without credentials.
pub(crate) const ANONYMOUS: &str = "system:anonymous";
/// The group of everybody with valid credentials.
pub(crate) const AUTHENTICATED: &str = "system:authenticated";
/// The group of everybody else.
const UNAUTHENTICATED: &str = "system:unauthenticated";
/// The group of those who may do everything, whatever the roles say.
const MASTERS: &str = "system:masters";
/// What the names of service accounts start with.
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";

impl Identity {
    /// A user without uid and groups.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), uid: String::new(), groups: Vec::new(), extra: BTreeMap::new() }
    }

    /// The user with this uid.
    #[must_use]
    pub fn with_uid(mut self, uid: impl Into<String>) -> Self {
        self.uid = uid.into();
        self
    }

    /// The user with one more group.
    #[must_use]
    pub fn with_group(mut self, group: impl Into<String>) -> Self {
        self.groups.push(group.into());
        self
    }

    /// Who the admin token stands for: a member of `system:masters`, who may do everything.
    pub(crate) fn admin() -> Self {
        Self::new("admin").with_uid("uid-admin").with_group(MASTERS).with_group(AUTHENTICATED)
    }

    /// Who makes requests without credentials.
    pub(crate) fn anonymous() -> Self {
        Self::new(ANONYMOUS).with_group(UNAUTHENTICATED)
    }

    /// A service account, with its groups.
    pub fn service_account(namespace: &str, name: &str) -> Self {
        Self::absent_service_account(namespace, name).with_group(AUTHENTICATED)
    }

    /// A service account that is asked about, and makes no request.
    pub(crate) fn absent_service_account(namespace: &str, name: &str) -> Self {
        Self::new(service_account_name(namespace, name))
            .with_group("system:serviceaccounts")
            .with_group(format!("system:serviceaccounts:{namespace}"))
    }

    /// One of the controllers that run inside the server.
    pub(crate) fn controller(account: &str) -> Self {
        Self::service_account("kube-system", account)
    }

    /// The user whom a header of impersonation names, with the groups that the name brings.
    pub(crate) fn named(name: &str) -> Self {
        match service_account(name) {
            Some((namespace, name)) => Self::service_account(namespace, name),
            None => Self::new(name),
        }
    }

    /// With the group of those who have credentials, or of those who have none.
    pub(crate) fn authenticated(self) -> Self {
        let group = if self.is_anonymous() { UNAUTHENTICATED } else { AUTHENTICATED };
        if self.groups.iter().any(|known| known == group) { self } else { self.with_group(group) }
    }

    /// Whether roles don't count for this user.
    pub(crate) fn is_master(&self) -> bool {
        self.groups.iter().any(|group| group == MASTERS)
    }

    /// `UserInfo` of `authentication.k8s.io`.
    pub(crate) fn user_info(&self) -> Value {
        let mut info = json!({"username": self.name});
        if !self.uid.is_empty() {
            info["uid"] = json!(self.uid);
        }
        if !self.groups.is_empty() {
            info["groups"] = json!(self.groups);
        }
        if !self.extra.is_empty() {
            info["extra"] = json!(self.extra);
        }
        info
    }

    pub(crate) fn is_anonymous(&self) -> bool {
        self.name == ANONYMOUS
    }
}

/// The user name of a service account.
pub(crate) fn service_account_name(namespace: &str, name: &str) -> String {
    format!("{SERVICE_ACCOUNT}{namespace}:{name}")
}

/// Namespace and name of the service account that a user name stands for.
pub(crate) fn service_account(user: &str) -> Option<(&str, &str)> {
    let (namespace, name) = user.strip_prefix(SERVICE_ACCOUNT)?.split_once(':')?;
    (!namespace.is_empty() && !name.is_empty() && !name.contains(':')).then_some((namespace, name))
}
