//! From an event to the objects that are to be reconciled for it.
//!
//! ```
//! use std::time::Duration;
//! use controller_runtime_controller::Event;
//! use controller_runtime_controller::handler::{self, Handler, Triggers};
//! use controller_runtime_scheme::{Kind, ObjectKey};
//! use controller_runtime_workqueue::Add;
//! use k8s_openapi::api::apps::v1::Deployment;
//! use k8s_openapi::api::core::v1::Node;
//!
//! /// A node that goes away is looked after at once, any other change of it in a minute.
//! struct Later;
//!
//! impl Handler<Node> for Later {
//!     fn handle(&self, event: &Event<Node>, triggers: &mut Triggers) {
//!         let key = ObjectKey::of(&**event.object());
//!         if event.is_deleted() {
//!             triggers.add(key);
//!         } else {
//!             triggers.add_with(key, Add::after(Duration::from_mins(1)));
//!         }
//!     }
//! }
//! # fn check(_: impl Handler<Node>) {}
//! # check(Later); check(handler::itself()); check(handler::every_owner(&Kind::<Deployment>::typed()));
//! ```

mod itself;
mod mapped;
mod owner;
mod triggers;

use crate::event::Event;

pub use itself::{Itself, Key, itself, key};
pub use mapped::{Mapped, mapped};
pub use owner::{Owner, controller_owner, every_owner};
pub use triggers::Triggers;

/// Says which objects an event is about.
///
/// Of a kind's events, one is handled after the other, in order. [`Watch`](crate::Watch) says what happens when a
/// handler is slow or panics.
pub trait Handler<W>: Send + Sync + 'static {
    /// Adds to `triggers` what is to be reconciled for `event`.
    fn handle(&self, event: &Event<W>, triggers: &mut Triggers);
}
