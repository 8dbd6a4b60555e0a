//! Which events are worth a reconcile.
//!
//! A predicate sees every event, deletes included, with both sides of an update. Any function from event to `bool` is
//! one.
//!
//! ```
//! use controller_runtime_controller::Event;
//! use controller_runtime_controller::predicate::{self, Predicate};
//! use k8s_openapi::api::apps::v1::Deployment;
//!
//! let of_interest = predicate::or(predicate::generation_changed(), predicate::labels_changed());
//! let not_ours = predicate::not(|event: &Event<Deployment>| event.object().metadata.labels.is_some());
//! # fn check(_: impl Predicate<Deployment>) {}
//! # check(of_interest); check(not_ours);
//! ```

mod changed;
mod combine;
mod labels;

pub use changed::{
    AnnotationsChanged, GenerationChanged, LabelsChanged, ResourceVersionChanged, annotations_changed,
    generation_changed, labels_changed, resource_version_changed,
};
pub use combine::{And, Not, Or, and, not, or};
pub use labels::{Matches, matches};

use crate::event::Event;

/// Decides which events are passed on.
pub trait Predicate<K>: Send + Sync + 'static {
    /// Whether the event is passed on.
    fn test(&self, event: &Event<K>) -> bool;
}

impl<K, F: Fn(&Event<K>) -> bool + Send + Sync + 'static> Predicate<K> for F {
    fn test(&self, event: &Event<K>) -> bool {
        self(event)
    }
}
