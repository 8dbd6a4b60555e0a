use cel::common::ast::IdedExpr;

use super::range::Estimate;
use crate::cel::cel_type::CelType;
use crate::cel::schema_type::SchemaType;

/// An operand of a call, for which a size is asked.
#[derive(Clone, Debug)]
pub(super) struct Node<'a> {
    /// Where it is in the schema, from a variable on; empty when it isn't part of one.
    pub(super) path: Vec<String>,
    pub(super) cel_type: CelType,
    /// `None` for the elements of a list.
    pub(super) expr: Option<&'a IdedExpr>,
    /// What the expression itself says of its size.
    pub(super) computed: Option<Estimate>,
    pub(super) sizes: Option<&'a SchemaType>,
}

/// One overload of a call, as its cost is asked.
#[derive(Clone, Debug)]
pub(super) struct Call<'a> {
    pub(super) function: &'a str,
    pub(super) overload: &'a str,
    pub(super) target: Option<Node<'a>>,
    pub(super) args: Vec<Node<'a>>,
}

impl<'a> Node<'a> {
    /// What is known of its size, by the expression or else by the schema.
    pub(super) fn size(&self) -> Estimate {
        self.computed.or_else(|| size_at(self.sizes, &self.path)).unwrap_or(Estimate::UNKNOWN)
    }

    /// The elements of a list; of a map, as in Kubernetes, its keys' type.
    pub(super) fn element(&self) -> Option<Node<'a>> {
        let cel_type = self.cel_type.parameters().into_iter().next()?.clone();
        let mut path = self.path.clone();
        if !path.is_empty() {
            path.push("@items".to_owned());
        }
        Some(Node { path, cel_type, expr: None, computed: None, sizes: self.sizes })
    }
}

/// The size that a schema allows at a path whose first part is the variable; the schema is the same for all variables.
pub(super) fn size_at(sizes: Option<&SchemaType>, path: &[String]) -> Option<Estimate> {
    let (_, rest) = path.split_first()?;
    let mut current = sizes?;
    for part in rest {
        current = match part.as_str() {
            "@items" | "@values" => current.element()?,
            // Keys are strings without a size of their own; there is nothing below them.
            "@keys" if current.is_map() => return Some(Estimate::between(0, 0)),
            name => current.field(name)?,
        };
    }
    Some(Estimate::between(0, current.max_elements()))
}
