use std::collections::HashMap;
use std::sync::LazyLock;

/// The generated list of what only the Go types say of fields: `definition<TAB>pointers<TAB>nulls`.
const TEXT: &str = include_str!("generated/go_fields.txt");

/// The fields of a definition that are pointers, and those that are written as null.
type Fields = (&'static str, &'static str);

static FIELDS: LazyLock<HashMap<&'static str, Fields>> = LazyLock::new(|| {
    let split = |line: &'static str| {
        let (definition, fields) = line.split_once('\t')?;
        Some((definition, fields.split_once('\t')?))
    };
    TEXT.lines().filter_map(split).collect()
});

/// Whether a scalar field of a definition is a pointer in Go, so that its zero value was said and is kept.
pub(crate) fn keeps_zero(definition: &str, field: &str) -> bool {
    FIELDS.get(definition).is_some_and(|(pointers, _)| pointers.split(',').any(|found| found == field))
}

/// The times, lists and maps of a definition that Go writes as null when they aren't there.
pub(crate) fn written_as_null(definition: &str) -> impl Iterator<Item = &'static str> {
    let nulls = FIELDS.get(definition).map_or("", |(_, nulls)| nulls);
    nulls.split(',').filter(|field| !field.is_empty())
}
