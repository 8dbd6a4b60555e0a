//! Which functions there are, and for which types: a table for each library.

mod authorizer;
mod extensions;
mod kubernetes;
mod signature;
mod standard;

use std::collections::BTreeMap;
use std::sync::LazyLock;

pub(crate) use self::signature::Overload;

/// A row of a table: function, overload, and signature. A receiver stands in front of the arguments, before a dot.
type Row = (&'static str, &'static str, &'static str);

/// The functions by name, each with its overloads in the order in which they are tried. They are read once per process
/// and never change.
pub(crate) fn functions() -> &'static BTreeMap<&'static str, Vec<Overload>> {
    static FUNCTIONS: LazyLock<BTreeMap<&'static str, Vec<Overload>>> = LazyLock::new(|| {
        let tables = [standard::ROWS, extensions::ROWS, kubernetes::ROWS, authorizer::ROWS];
        let mut functions: BTreeMap<&'static str, Vec<Overload>> = BTreeMap::new();
        for (function, overload, signature) in tables.into_iter().flatten() {
            functions.entry(function).or_default().push(Overload::read(overload, signature));
        }
        functions
    });
    &FUNCTIONS
}
