//! From an event to the objects that are to be reconciled for it.

mod itself;
mod mapped;
mod owner;

use std::collections::BTreeSet;

use controller_runtime_scheme::ObjectKey;

use crate::event::Event;

pub(crate) use itself::Itself;
pub(crate) use mapped::Mapped;
pub(crate) use owner::ControllerOwner;

/// Says which objects an event is about. A set, since both sides of an update may lead to the same object.
pub(crate) trait Handler<W>: Send + Sync + 'static {
    fn keys(&self, event: &Event<W>) -> BTreeSet<ObjectKey>;
}
