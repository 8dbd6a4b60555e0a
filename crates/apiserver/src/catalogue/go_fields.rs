use std::sync::LazyLock;

/// The generated list of what only the Go types say of fields: `definition<TAB>pointers<TAB>nulls`.
const TEXT: &str = include_str!("generated/go_fields.txt");

/// A definition with its fields that are pointers, and those that are written as null.
type Line = (&'static str, &'static str, &'static str);

static LINES: LazyLock<Vec<Line>> = LazyLock::new(|| {
    let split = |line: &'static str| {
        let (definition, fields) = line.split_once('\t')?;
        let (pointers, nulls) = fields.split_once('\t')?;
        Some((definition, pointers, nulls))
    };
    TEXT.lines().filter_map(split).collect()
});

fn line(definition: &str) -> Option<&'static Line> {
    let place = LINES.binary_search_by(|(found, _, _)| (*found).cmp(definition)).ok()?;
    LINES.get(place)
}

/// Whether a scalar field of a definition is a pointer in Go, so that its zero value was said and is kept.
pub(crate) fn keeps_zero(definition: &str, field: &str) -> bool {
    line(definition).is_some_and(|(_, pointers, _)| pointers.split(',').any(|found| found == field))
}

/// The times, lists and maps of a definition that Go writes as null when they aren't there.
pub(crate) fn written_as_null(definition: &str) -> impl Iterator<Item = &'static str> {
    let nulls = line(definition).map_or("", |(_, _, nulls)| nulls);
    nulls.split(',').filter(|field| !field.is_empty())
}
