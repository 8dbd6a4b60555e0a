//! Custom resources: what a CustomResourceDefinition must be, what it adds to the served resources, and how its objects
//! behave.

mod accept;
mod column;
mod conversion;
mod conversion_webhook;
mod definition;
mod definition_strategy;
mod embedded;
mod json_path;
mod object;
mod selectable;
mod served;
mod settle;
mod validate;
mod versions;
mod warning;

#[cfg(test)]
mod tests;

pub(crate) use self::column::{Cell, PrinterColumn};
pub(crate) use self::conversion::validate_client;
pub(crate) use self::definition_strategy::DefinitionStrategy;
pub(crate) use self::embedded::coerce;
pub(crate) use self::versions::Versions;
