//! Fields that other managers own.

use std::fmt::{self, Display, Formatter};

use crate::field::{FieldPath, FieldSet, quoted};
use crate::managed::{ManagerId, Operation};

/// A field that an apply would change and another manager owns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    id: ManagerId,
    field: FieldPath,
}

impl Conflict {
    /// Who owns the field, as messages name them: `"m1"`, or `"kubectl-edit" using apps/v1` for a manager of updates.
    pub fn manager(&self) -> String {
        describe(&self.id)
    }

    /// The field.
    pub fn field(&self) -> &FieldPath {
        &self.field
    }
}

/// All conflicts of an apply; displays as the message of kube-apiserver's answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conflicts(Vec<Conflict>);

impl Conflicts {
    /// The conflicts, manager by manager.
    pub fn conflicts(&self) -> &[Conflict] {
        &self.0
    }

    pub(crate) fn add(&mut self, id: &ManagerId, fields: &FieldSet) {
        self.0.extend(fields.paths().into_iter().map(|field| Conflict { id: id.clone(), field }));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The conflicts about fields that aren't in `fields`.
    pub(crate) fn outside(&self, fields: &FieldSet) -> Conflicts {
        Conflicts(self.0.iter().filter(|conflict| !fields.has(&conflict.field)).cloned().collect())
    }
}

impl Display for Conflicts {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let [conflict] = self.0.as_slice() {
            return write!(f, "Apply failed with 1 conflict: conflict with {}: {}", conflict.manager(), conflict.field);
        }
        write!(f, "Apply failed with {} conflicts: ", self.0.len())?;
        let mut last: Option<&ManagerId> = None;
        for conflict in &self.0 {
            if last != Some(&conflict.id) {
                let newline = if last.is_some() { "\n" } else { "" };
                write!(f, "{newline}conflicts with {}:", conflict.manager())?;
                last = Some(&conflict.id);
            }
            write!(f, "\n- {}", conflict.field)?;
        }
        Ok(())
    }
}

fn describe(id: &ManagerId) -> String {
    let mut text = quoted(&id.manager).to_string();
    if let Some(subresource) = &id.subresource {
        text = format!("{text} with subresource {}", quoted(subresource));
    }
    if id.operation == Operation::Update {
        text = format!("{text} using {}", id.api_version);
    }
    text
}
