//! Which Rust type is which Kubernetes kind.
//!
//! [`Kind`] says where the objects of a Rust type are served: group, version, plural and scope. It comes from the
//! type itself ([`Kind::typed`]) or, for [`Unstructured`] objects, from whoever knows ([`Kind::dynamic`]). A
//! [`Scheme`] registers typed kinds, looks them up both ways, and converts typed objects to unstructured ones and back,
//! leniently or strictly.
//!
//! ```
//! use controller_runtime_scheme::{GroupVersionKind, Kind, ObjectKey, Scheme, Strictness, Unstructured};
//! use k8s_openapi::api::apps::v1::Deployment;
//! use serde_json::json;
//!
//! let mut scheme = Scheme::new();
//! scheme.register::<Deployment>()?;
//! scheme.require::<Deployment>(["spec", "spec.template"])?;
//!
//! let registered = scheme.get(&GroupVersionKind::gvk("apps", "v1", "Deployment")).unwrap();
//! assert_eq!((registered.resource().plural.as_str(), registered.list_kind()), ("deployments", "DeploymentList"));
//! assert!(Kind::<Deployment>::typed().is_namespaced());
//! assert_eq!(ObjectKey::namespaced("default", "web").to_string(), "default/web");
//!
//! let object: Unstructured = serde_json::from_value(json!({
//!     "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 3},
//! })).unwrap();
//! let deployment: Deployment = scheme.to_typed(&object, Strictness::Lenient)?;
//! assert_eq!(deployment.spec.replicas, Some(3));
//! let error = scheme.to_typed::<Deployment>(&object, Strictness::Strict).unwrap_err();
//! assert_eq!(error.to_string(), "cannot decode Deployment web at spec.template: expected a value, found none");
//! # Ok::<(), controller_runtime_scheme::SchemeError>(())
//! ```

mod builder;
mod conversion;
mod error;
mod group;
mod key;
mod kind;
mod object;
mod registration;
mod scheme;

pub use builder::SchemeBuilder;
pub use conversion::{ConversionError, Strictness, decode, from_unstructured, to_unstructured, with_type};
pub use error::SchemeError;
pub use group::TypeGroup;
pub use key::ObjectKey;
pub use kind::Kind;
pub use kube_core::discovery::Scope;
pub use kube_core::{ApiResource, GroupVersionKind, PartialObjectMeta, TypeMeta};
pub use object::{Object, ObjectExt, StaticScope, TypedObject, Unstructured};
pub use registration::Registration;
pub use scheme::Scheme;
