//! Asking whether a user may do something, in conditions of admission.

use super::Row;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    ("path", "authorizer_path", "authorizer.(string) -> path_check"),
    ("group", "authorizer_group", "authorizer.(string) -> group_check"),
    ("serviceAccount", "authorizer_serviceaccount", "authorizer.(string, string) -> authorizer"),
    ("resource", "groupcheck_resource", "group_check.(string) -> resource_check"),
    ("subresource", "resourcecheck_subresource", "resource_check.(string) -> resource_check"),
    ("namespace", "resourcecheck_namespace", "resource_check.(string) -> resource_check"),
    ("name", "resourcecheck_name", "resource_check.(string) -> resource_check"),
    ("fieldSelector", "authorizer_fieldselector", "resource_check.(string) -> resource_check"),
    ("labelSelector", "authorizer_labelselector", "resource_check.(string) -> resource_check"),
    ("check", "pathcheck_check", "path_check.(string) -> decision"),
    ("check", "resourcecheck_check", "resource_check.(string) -> decision"),
    ("errored", "decision_errored", "decision.() -> bool"),
    ("error", "decision_error", "decision.() -> string"),
    ("allowed", "decision_allowed", "decision.() -> bool"),
    ("reason", "decision_reason", "decision.() -> string"),
];
