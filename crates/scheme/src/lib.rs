//! Which Rust type is which Kubernetes kind.
//!
//! [`Kind`] says where the objects of a Rust type are served: group, version, plural and scope. It comes from the
//! type itself ([`Kind::typed`]) or, for [`Unstructured`] objects, from whoever knows ([`Kind::dynamic`]). A
//! [`Scheme`] registers typed kinds and looks them up both ways.
//!
//! ```
//! use controller_runtime_scheme::{GroupVersionKind, Kind, ObjectKey, Scheme};
//! use k8s_openapi::api::apps::v1::Deployment;
//!
//! let mut scheme = Scheme::new();
//! scheme.register::<Deployment>()?;
//!
//! let registered = scheme.get(&GroupVersionKind::gvk("apps", "v1", "Deployment")).unwrap();
//! assert_eq!(registered.resource().plural, "deployments");
//! assert_eq!(registered.list_kind(), "DeploymentList");
//! assert!(Kind::<Deployment>::typed().is_namespaced());
//! assert_eq!(ObjectKey::namespaced("default", "web").to_string(), "default/web");
//! # Ok::<(), controller_runtime_scheme::SchemeError>(())
//! ```

mod conversion;
mod key;
mod kind;
mod object;
mod scheme;

pub use conversion::{ConversionError, decode, from_unstructured, to_unstructured, with_type};
pub use key::ObjectKey;
pub use kind::Kind;
pub use kube_core::discovery::Scope;
pub use kube_core::{ApiResource, GroupVersionKind, PartialObjectMeta, TypeMeta};
pub use object::{Object, ObjectExt, StaticScope, TypedObject, Unstructured};
pub use scheme::{Registration, Scheme, SchemeError};
