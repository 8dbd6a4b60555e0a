use std::sync::LazyLock;

/// The generated schemas, one a line, sorted by name.
const TEXT: &str = include_str!("generated/definitions.txt");

/// The lines of [`TEXT`], as name and schema.
static LINES: LazyLock<Vec<(&str, &str)>> =
    LazyLock::new(|| TEXT.lines().filter_map(|line| line.split_once('\t')).collect());

/// The JSON text of a schema.
pub(crate) fn definition_text(name: &str) -> Option<&'static str> {
    let place = LINES.binary_search_by(|(found, _)| (*found).cmp(name)).ok()?;
    LINES.get(place).map(|(_, schema)| *schema)
}

/// The names of all schemas, in order.
#[cfg(test)]
pub(crate) fn definition_names() -> impl Iterator<Item = &'static str> {
    LINES.iter().map(|(name, _)| *name)
}
