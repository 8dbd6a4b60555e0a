//! CEL, the Common Expression Language, as Kubernetes uses it: parsing, type checks, evaluation with a budget.

mod cel_type;
mod check;
mod declarations;
mod depth;
mod escape;
mod estimate;
mod evaluate;
mod library;
mod macros;
mod program;
pub(crate) mod rule;
mod schema_type;
mod syntax;
mod unescape;
mod value;

pub use self::cel_type::{CelType, ObjectType};
pub use self::evaluate::EvaluationError;
pub use self::library::{Authorizer, Cidr, Decision, Ip, Quantity, Question, Semver, Url};
pub use self::program::{Environment, Program};
pub use self::value::{CelEntries, CelList, CelMap, CelValue, Opaque};

/// The function behind macros that make maps.
const MAP_INSERT: &str = "cel.@mapInsert";
