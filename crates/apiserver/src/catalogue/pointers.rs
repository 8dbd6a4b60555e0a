use std::sync::LazyLock;

/// The generated list of optional scalars that Go writes even when they are zero.
const TEXT: &str = include_str!("generated/pointers.txt");

/// The lines of [`TEXT`], as definition and fields.
static LINES: LazyLock<Vec<(&str, &str)>> =
    LazyLock::new(|| TEXT.lines().filter_map(|line| line.split_once('\t')).collect());

/// Whether a scalar field of a definition is a pointer in Go, so that its zero value was said and is kept.
pub(crate) fn keeps_zero(definition: &str, field: &str) -> bool {
    let place = LINES.binary_search_by(|(found, _)| (*found).cmp(definition));
    let fields = place.ok().and_then(|place| LINES.get(place));
    fields.is_some_and(|(_, fields)| fields.split(',').any(|found| found == field))
}
