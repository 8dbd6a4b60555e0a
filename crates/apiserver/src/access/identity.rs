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
}

/// The user of requests without credentials.
pub(crate) const ANONYMOUS: &str = "system:anonymous";
/// The group of everybody with valid credentials.
pub(crate) const AUTHENTICATED: &str = "system:authenticated";

impl Identity {
    /// A user without uid and groups.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), uid: String::new(), groups: Vec::new() }
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
        Self::new("admin").with_uid("uid-admin").with_group("system:masters").with_group(AUTHENTICATED)
    }

    /// Who makes requests without credentials.
    pub(crate) fn anonymous() -> Self {
        Self::new(ANONYMOUS).with_group("system:unauthenticated")
    }

    /// One of the controllers that run inside the server.
    pub(crate) fn controller(account: &str) -> Self {
        Self::new(format!("system:serviceaccount:kube-system:{account}"))
            .with_group("system:serviceaccounts")
            .with_group("system:serviceaccounts:kube-system")
            .with_group(AUTHENTICATED)
    }

    pub(crate) fn is_anonymous(&self) -> bool {
        self.name == ANONYMOUS
    }
}
