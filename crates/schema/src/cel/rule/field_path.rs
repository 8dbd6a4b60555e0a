use crate::field_path::FieldPath;
use crate::schema::{AdditionalProperties, Schema};

/// The field that the `fieldPath` of a rule names, below the schema of the rule; `None` when there can't be such a field.
///
/// Fields are written `.name` or `['name']`.
pub(crate) fn resolve(path: &str, schema: &Schema) -> Option<FieldPath> {
    let mut resolved = FieldPath::root();
    let mut schema = schema;
    let mut rest = path;
    while let Some(token) = next(&mut rest) {
        let name = match token {
            "[" => {
                let quoted = next(&mut rest)?;
                let name = quoted.strip_prefix('\'')?.strip_suffix('\'').filter(|_| quoted.len() >= 2)?;
                let name = unescape(name)?;
                if next(&mut rest)? != "]" {
                    return None;
                }
                name
            }
            "." => next(&mut rest)?.to_owned(),
            _ => return None,
        };
        if !schema.properties.is_empty() {
            schema = schema.properties.get(&name)?.get();
            resolved = resolved.child(name);
        } else if let Some(AdditionalProperties::Schema(values)) = &schema.additional_properties {
            schema = values.get();
            resolved = resolved.key(name);
        } else {
            return None;
        }
    }
    Some(resolved)
}

/// The next delimiter, quoted text, or text up to a delimiter.
fn next<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let end = if rest.starts_with('\'') {
        let bytes = rest.as_bytes();
        let close =
            (1..bytes.len()).find(|index| bytes.get(*index) == Some(&b'\'') && bytes.get(index - 1) != Some(&b'\\'));
        close.map_or(rest.len(), |index| index + 1)
    } else {
        match rest.find(['.', '[', ']']) {
            Some(0) => 1,
            Some(end) => end,
            None => rest.len(),
        }
    };
    let (token, after) = rest.split_at(end);
    *rest = after;
    (!token.is_empty()).then_some(token)
}

fn unescape(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        let Some(escaped) = letters.next() else {
            out.push(letter);
            break;
        };
        out.push(match escaped {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            '\'' => '\'',
            '\\' => '\\',
            _ => return None,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::resolve;
    use crate::schema::Schema;

    #[test]
    fn paths_name_fields_of_the_schema() {
        let schema = Schema::from_json(&json!({"type": "object", "properties": {
            "a": {"type": "object", "properties": {"b.c": {"type": "string"}}},
            "m": {"type": "object", "additionalProperties": {"type": "string"}},
            "l": {"type": "array", "items": {"type": "string"}},
        }}))
        .unwrap();
        for (path, expected) in [
            (".a", Some("a")),
            (".a['b.c']", Some("a.b.c")),
            ("['a']['b.c']", Some("a.b.c")),
            (".m.x", Some("m[x]")),
            (".m['it\\'s']", Some("m[it's]")),
            (".l[0]", None),
            (".l.x", None),
            (".a.b", None),
            ("a", None),
            (".", None),
            ("['a", None),
            (".a['\\q']", None),
        ] {
            assert_eq!(resolve(path, &schema).map(|path| path.to_string()).as_deref(), expected, "{path}");
        }
    }
}
