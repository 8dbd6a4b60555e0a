use std::any::{Any, TypeId, type_name};

use kube_core::ApiResource;
use kube_core::discovery::Scope;

use crate::conversion::{ConversionError, RequiredField, Strictness, convert};
use crate::kind::Kind;
use crate::object::{TypedObject, Unstructured};

/// What a [`Scheme`](crate::Scheme) knows of one kind.
#[derive(Clone, Debug)]
pub struct Registration {
    kind: Kind<Unstructured>,
    type_id: TypeId,
    type_name: &'static str,
    pub(crate) required: Vec<RequiredField>,
    convert: Convert,
}

type Convert = fn(&Unstructured, Strictness, &[RequiredField]) -> Result<Box<dyn Any + Send + Sync>, ConversionError>;

impl Registration {
    pub(crate) fn of<K: TypedObject>(kind: &Kind<K>) -> Self {
        Self {
            kind: kind.erase(),
            type_id: TypeId::of::<K>(),
            type_name: type_name::<K>(),
            required: Vec::new(),
            convert: |object, strictness, required| {
                Ok(Box::new(convert(&Kind::<K>::typed(), object, strictness, required)?))
            },
        }
    }

    /// Group, version, kind and plural.
    pub fn resource(&self) -> &ApiResource {
        self.kind.resource()
    }

    /// Whether objects live in namespaces.
    pub fn scope(&self) -> &Scope {
        self.kind.scope()
    }

    /// The kind of lists of this kind.
    pub fn list_kind(&self) -> &str {
        self.kind.list_kind()
    }

    /// The Rust type's name, for messages.
    pub fn type_name(&self) -> &'static str {
        self.type_name
    }

    /// Whether `K` is the registered type.
    pub fn is<K: 'static>(&self) -> bool {
        self.type_id == TypeId::of::<K>()
    }

    /// The kind for unstructured objects.
    pub fn kind(&self) -> Kind<Unstructured> {
        self.kind.clone()
    }

    pub(crate) fn type_id(&self) -> TypeId {
        self.type_id
    }

    pub(crate) fn to_any(
        &self,
        object: &Unstructured,
        strictness: Strictness,
    ) -> Result<Box<dyn Any + Send + Sync>, ConversionError> {
        (self.convert)(object, strictness, &self.required)
    }
}
