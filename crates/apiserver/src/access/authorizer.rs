use super::Identity;
use super::rbac::grants;
use crate::pipeline::attributes::Attributes;
use crate::store::Store;

/// Who decides what users may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Authorizer {
    /// Everybody with credentials may do everything; others may see that the server is there.
    AlwaysAllow,
    /// Roles and their bindings decide.
    Rbac,
}

/// Whether somebody may do something, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) allowed: bool,
    /// In kube-apiserver's words; may be empty.
    pub(crate) reason: String,
}

/// What everybody may read where no roles say so.
const PUBLIC: [&str; 5] = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

impl Authorizer {
    /// Whether `user` may do what is `wanted`.
    pub(crate) fn decide(self, store: &Store, user: &Identity, wanted: &Attributes) -> Decision {
        if user.is_master() {
            return Decision { allowed: true, reason: String::new() };
        }
        match self {
            Self::AlwaysAllow => Decision { allowed: !user.is_anonymous() || is_public(wanted), reason: String::new() },
            Self::Rbac => by_roles(store, user, wanted),
        }
    }
}

fn is_public(wanted: &Attributes) -> bool {
    match wanted {
        Attributes::Path { verb, path } => matches!(verb.as_str(), "get" | "head") && PUBLIC.contains(&path.as_str()),
        Attributes::Resource(_) => false,
    }
}

fn by_roles(store: &Store, user: &Identity, wanted: &Attributes) -> Decision {
    let namespace = match wanted {
        Attributes::Path { .. } => "",
        Attributes::Resource(wanted) => wanted.namespace.as_str(),
    };
    let mut errors = Vec::new();
    for grant in grants(store, user, namespace) {
        match grant.rules {
            Ok(rules) if rules.iter().any(|rule| rule.allows(wanted)) => {
                return Decision { allowed: true, reason: format!("RBAC: allowed by {}", grant.source) };
            }
            Ok(_) => {}
            Err(missing) => errors.push(missing.to_string()),
        }
    }
    let reason = match errors.as_slice() {
        [] => String::new(),
        [only] => format!("rbac: RBAC: {only}"),
        many => format!("rbac: RBAC: [{}]", many.join(", ")),
    };
    Decision { allowed: false, reason }
}
