//! The controllers without which an API server is not whole: garbage collection, namespace deletion and, with RBAC,
//! the aggregation of roles, as
//! kube-controller-manager runs them. They send requests as any client does, through the server's door; what they
//! watch they read straight from the store.

mod client;
mod garbage_collection;
mod namespace_deletion;
mod queue;
mod reference;
mod role_aggregation;
mod run;

pub(crate) use garbage_collection::garbage_collection;
pub(crate) use namespace_deletion::namespace_deletion;
pub(crate) use role_aggregation::role_aggregation;
