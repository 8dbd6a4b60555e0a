//! The part of kubectl's JSONPath that printer columns use: fields, indexes, wildcards, recursive descent and filters.

use std::cell::Cell;

use serde_json::Value;

/// How deep filters may stand in filters. Reading and following a path takes a stack frame for each.
const MAX_DEPTH: usize = 16;

/// Values that are looked at for one path at most. Every `..` can find each value as often as those before it did.
const MAX_VISITS: usize = 100_000;

/// A parsed path, without the braces around it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JsonPath(Vec<Step>);

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(String),
    Index(i64),
    Slice(Option<i64>, Option<i64>),
    Every,
    Anywhere(String),
    Filter(Filter),
}

/// `?(@.path op literal)`, or `?(@.path)` which asks whether there is such a field.
#[derive(Clone, Debug, PartialEq)]
struct Filter {
    path: JsonPath,
    test: Option<(Comparison, Value)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl JsonPath {
    /// Parses a path such as `.status.conditions[?(@.type=="Ready")].status`; `None` when it isn't one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parser = Parser { text, at: 0, depth: 0 };
        let steps = parser.steps()?;
        (parser.at == text.len()).then_some(Self(steps))
    }

    /// The values that the path leads to; empty when there are none.
    pub(crate) fn find<'v>(&self, root: &'v Value) -> Vec<&'v Value> {
        self.find_within(root, &Visits(Cell::new(MAX_VISITS)))
    }

    fn find_within<'v>(&self, root: &'v Value, visits: &Visits) -> Vec<&'v Value> {
        self.0.iter().fold(vec![root], |found, step| {
            let mut next = Vec::new();
            for value in found {
                step.apply(value, &mut next, visits);
            }
            next
        })
    }
}

/// How many values may still be looked at.
struct Visits(Cell<usize>);

impl Visits {
    /// Counts one; false when there were too many.
    fn count(&self) -> bool {
        let left = self.0.get();
        self.0.set(left.saturating_sub(1));
        left > 0
    }
}

impl Step {
    fn apply<'v>(&self, value: &'v Value, out: &mut Vec<&'v Value>, visits: &Visits) {
        if !visits.count() {
            return;
        }
        match (self, value) {
            (Self::Field(name), Value::Object(map)) => out.extend(map.get(name)),
            (Self::Every, Value::Object(map)) => out.extend(map.values()),
            (Self::Every, Value::Array(items)) => out.extend(items),
            (Self::Index(index), Value::Array(items)) => {
                out.extend(position(*index, items.len()).and_then(|index| items.get(index)));
            }
            (Self::Slice(from, to), Value::Array(items)) => {
                let bound = |index: Option<i64>, default| index.map_or(Some(default), |at| clamped(at, items.len()));
                if let (Some(from), Some(to)) = (bound(*from, 0), bound(*to, items.len())) {
                    out.extend(items.get(from..to).unwrap_or_default());
                }
            }
            (Self::Filter(filter), Value::Array(items)) => {
                out.extend(items.iter().filter(|item| filter.holds(item, visits)));
            }
            (Self::Anywhere(name), value) => anywhere(name, value, out, visits),
            _ => {}
        }
    }
}

/// An index that counts from the end when it is negative.
fn position(index: i64, length: usize) -> Option<usize> {
    let length = i64::try_from(length).ok()?;
    let index = if index < 0 { index + length } else { index };
    usize::try_from(index).ok()
}

fn clamped(index: i64, length: usize) -> Option<usize> {
    position(index, length).map(|index| index.min(length))
}

fn anywhere<'v>(name: &str, value: &'v Value, out: &mut Vec<&'v Value>, visits: &Visits) {
    if !visits.count() {
        return;
    }
    match value {
        Value::Object(map) => {
            out.extend(map.get(name));
            map.values().for_each(|value| anywhere(name, value, out, visits));
        }
        Value::Array(items) => items.iter().for_each(|item| anywhere(name, item, out, visits)),
        _ => {}
    }
}

impl Filter {
    fn holds(&self, item: &Value, visits: &Visits) -> bool {
        let found = self.path.find_within(item, visits);
        let Some((comparison, literal)) = &self.test else { return !found.is_empty() };
        let [value] = found.as_slice() else { return false };
        let order = match (value, literal) {
            (Value::String(value), Value::String(literal)) => Some(value.cmp(literal)),
            (Value::Number(value), Value::Number(literal)) => {
                value.as_f64().zip(literal.as_f64()).and_then(|(value, literal)| value.partial_cmp(&literal))
            }
            (Value::Bool(value), Value::Bool(literal)) => Some(value.cmp(literal)),
            _ => None,
        };
        let Some(order) = order else { return *comparison == Comparison::Unequal };
        match comparison {
            Comparison::Equal => order.is_eq(),
            Comparison::Unequal => order.is_ne(),
            Comparison::Less => order.is_lt(),
            Comparison::LessOrEqual => order.is_le(),
            Comparison::Greater => order.is_gt(),
            Comparison::GreaterOrEqual => order.is_ge(),
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// How many filters are open.
    depth: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn spaces(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Steps up to where no more begins: the end, or a comparison or parenthesis in a filter.
    fn steps(&mut self) -> Option<Vec<Step>> {
        let mut steps = Vec::new();
        // Both stand for where the path begins.
        let _ = self.eat("$") || self.eat("@");
        loop {
            if self.eat("..") {
                steps.push(Step::Anywhere(self.name()?));
            } else if self.eat(".") {
                if self.eat("*") {
                    steps.push(Step::Every);
                } else if !self.rest().is_empty() && !self.rest().starts_with('[') {
                    steps.push(Step::Field(self.name()?));
                }
            } else if self.eat("[") {
                steps.push(self.bracket()?);
            } else {
                return Some(steps);
            }
        }
    }

    /// A name; a backslash takes the next character as it is.
    fn name(&mut self) -> Option<String> {
        let mut name = String::new();
        let mut chars = self.rest().char_indices();
        let mut end = self.rest().len();
        while let Some((index, c)) = chars.next() {
            match c {
                '\\' => name.extend(chars.next().map(|(_, c)| c)),
                '.' | '[' | ']' | ')' | '=' | '!' | '<' | '>' | ' ' | '(' => {
                    end = index;
                    break;
                }
                c => name.push(c),
            }
        }
        self.at += end;
        (!name.is_empty()).then_some(name)
    }

    fn bracket(&mut self) -> Option<Step> {
        if self.eat("?(") {
            self.depth += 1;
            let filter = (self.depth <= MAX_DEPTH).then(|| self.filter()).flatten()?;
            self.depth -= 1;
            return self.eat("]").then_some(Step::Filter(filter));
        }
        if self.eat("*") {
            return self.eat("]").then_some(Step::Every);
        }
        if let Some(name) = self.quoted() {
            return self.eat("]").then_some(Step::Field(name));
        }
        let (inside, _) = self.rest().split_once(']')?;
        self.at += inside.len() + 1;
        match inside.split_once(':') {
            None => inside.trim().parse().ok().map(Step::Index),
            Some((from, to)) => {
                let bound = |text: &str| if text.trim().is_empty() { Ok(None) } else { text.trim().parse().map(Some) };
                Some(Step::Slice(bound(from).ok()?, bound(to).ok()?))
            }
        }
    }

    fn quoted(&mut self) -> Option<String> {
        let quote = self.rest().chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        let mut text = String::new();
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((index, c)) = chars.next() {
            match c {
                '\\' => text.extend(chars.next().map(|(_, c)| c)),
                c if c == quote => {
                    self.at += index + 1;
                    return Some(text);
                }
                c => text.push(c),
            }
        }
        None
    }

    fn filter(&mut self) -> Option<Filter> {
        self.spaces();
        let path = JsonPath(self.steps()?);
        self.spaces();
        if self.eat(")") {
            return Some(Filter { path, test: None });
        }
        let comparison = [
            ("==", Comparison::Equal),
            ("!=", Comparison::Unequal),
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ]
        .into_iter()
        .find_map(|(token, comparison)| self.eat(token).then_some(comparison))?;
        self.spaces();
        let literal = if let Some(text) = self.quoted() {
            Value::from(text)
        } else {
            let (word, _) = self.rest().split_once(')')?;
            self.at += word.len();
            serde_json::from_str(word.trim()).ok()?
        };
        self.spaces();
        self.eat(")").then_some(Filter { path, test: Some((comparison, literal)) })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::JsonPath;

    #[test]
    fn paths_lead_to_values() {
        let object = json!({
            "metadata": {"annotations": {"a.b/c": "x"}},
            "spec": {"list": [{"n": 1, "name": "a"}, {"n": 2, "name": "b"}, {"n": 3}]},
            "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Other", "status": "False"}]},
        });
        for (path, expected) in [
            (".spec.list[0].name", json!(["a"])),
            (".spec.list[-1].n", json!([3])),
            (".spec.list[*].n", json!([1, 2, 3])),
            (".spec.list[1:].n", json!([2, 3])),
            (".spec.list[:2].n", json!([1, 2])),
            (".spec.missing", json!([])),
            (".spec.list[9]", json!([])),
            (r#".status.conditions[?(@.type=="Ready")].status"#, json!(["True"])),
            (r".status.conditions[?(@.type == 'Other')].status", json!(["False"])),
            (".spec.list[?(@.n>1)].n", json!([2, 3])),
            (".spec.list[?(@.name)].n", json!([1, 2])),
            (r".metadata.annotations.a\.b/c", json!(["x"])),
            (".metadata.annotations['a.b/c']", json!(["x"])),
            ("..type", json!(["Ready", "Other"])),
        ] {
            let found = JsonPath::parse(path).unwrap_or_else(|| panic!("{path} parses"));
            assert_eq!(json!(found.find(&object)), expected, "{path}");
        }
    }

    #[test]
    fn filters_stand_in_filters_only_so_deep() {
        let nested = |depth: usize| format!(".a{}{}", "[?(@.b".repeat(depth), ")]".repeat(depth));
        assert!(JsonPath::parse(&nested(16)).is_some());
        assert_eq!(JsonPath::parse(&nested(17)), None);
        assert_eq!(JsonPath::parse(&nested(200_000)), None);
        // What counts is the depth, not the number.
        assert!(JsonPath::parse(&".a[?(@.b)]".repeat(100)).is_some());
    }

    #[test]
    fn recursive_descents_do_not_multiply_without_end() {
        let value = (0..100).fold(json!(1), |inner, _| json!({"a": inner}));
        let path = JsonPath::parse("..a..a..a..a..a..a..a..a").unwrap();
        assert!(path.find(&value).len() <= super::MAX_VISITS);
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for path in [".a[", ".a[x]", ".a[?(@.b=)]", ".a]", "a"] {
            assert_eq!(JsonPath::parse(path), None, "{path}");
        }
    }
}
