//! What the tests across the layers share: a [`Fixture`] for each test, requests at the level of HTTP, kubectl.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "in a test a panic is the report")]

mod answer;
pub mod conformance;
mod example;
mod fixture;
mod kubectl;
mod skip;
mod webhook;
mod widget;

pub use answer::Answer;
pub use example::Example;
pub use fixture::{Fixture, PatchType};
pub use kubectl::Kubectl;
pub use skip::skip;
pub use webhook::Webhook;
pub use widget::{widget, widget_definition};
