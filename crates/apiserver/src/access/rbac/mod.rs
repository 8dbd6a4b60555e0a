//! Role-based access control: `rbac.authorization.k8s.io`.

mod binding;
mod escalation;
mod policy;
mod rule;

pub(crate) use binding::grants;
pub(crate) use escalation::check_escalation;
pub(crate) use policy::default_policy;
pub(crate) use rule::PolicyRule;
