//! Rules of kinds that say where traffic goes: Endpoints, EndpointSlice, IngressClass.

mod address;
mod endpoint_slice;
mod endpoints;
mod ingress_class;

pub(super) use self::endpoint_slice::{endpoint_slice, endpoint_slice_warnings};
pub(super) use self::endpoints::endpoints;
pub(super) use self::ingress_class::ingress_class;
