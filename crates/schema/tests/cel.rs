//! Expressions and what they give: `tests/cel/values.txt` has one a line, `expression => value`; `!` in front of a value
//! says that evaluation fails with that text, and in `tests/cel/issues.txt` each expression is refused with what stands
//! below it.

#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::collections::BTreeMap;

use controller_runtime_schema::Schema;
use controller_runtime_schema::cel::{CelType, CelValue, Environment};
use serde_json::json;

fn environment() -> Environment {
    let string_list = CelType::list(CelType::String);
    Environment::default()
        .variable("self", CelType::map(CelType::String, CelType::Dyn))
        .variable("s", CelType::String)
        .variable("i", CelType::Int)
        .variable("l", string_list)
}

fn evaluated(expression: &str) -> String {
    let document = json!({"a": 1, "b": {"c": [1, 2, 3]}, "text": "abc", "time": "2020-01-02T03:04:05Z", "none": null});
    let list = json!(["x", "y"]);
    let program = match environment().compile(expression) {
        Ok(program) => program,
        Err(issues) => return issues,
    };
    let variables = BTreeMap::from([
        ("self", CelValue::from_json(&document)),
        ("s", CelValue::text("hello")),
        ("i", CelValue::Int(7)),
        ("l", CelValue::from_json(&list)),
    ]);
    match program.evaluate(&variables, 1_000_000).0 {
        Ok(CelValue::Bool(truth)) => truth.to_string(),
        Ok(CelValue::Int(number)) => number.to_string(),
        Ok(CelValue::String(text)) => format!("'{text}'"),
        Ok(other) => format!("{other:?}"),
        Err(error) => format!("!{error}"),
    }
}

#[test]
fn expressions_have_values() {
    let mut wrong = Vec::new();
    for line in include_str!("cel/values.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (expression, expected) = line.rsplit_once(" => ").unwrap_or_else(|| panic!("{line}"));
        let found = evaluated(expression);
        if found != expected {
            wrong.push(format!("{expression}\n  expected {expected}\n  found    {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn expressions_are_refused() {
    let mut wrong = Vec::new();
    for case in include_str!("cel/issues.txt").split("\n\n").filter(|case| !case.trim().is_empty()) {
        let (expression, expected) = case.split_once('\n').unwrap_or_else(|| panic!("{case}"));
        let found =
            environment().compile(expression).map_or_else(|error| error, |program| program.output().to_string());
        if found != expected.trim_end() {
            wrong.push(format!("{expression}\nexpected\n{expected}\nfound\n{found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn fields_of_documents_are_what_their_schema_says() {
    let schema = Schema::from_json(&json!({"type": "object", "properties": {
        "at": {"type": "string", "format": "date-time"},
        "for": {"type": "string", "format": "duration"},
        "raw": {"type": "string", "format": "byte"},
        "ratio": {"type": "number"},
        "a-b": {"type": "string"},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "map": {"type": "object", "additionalProperties": {"type": "integer"}},
    }}))
    .unwrap();
    let document = json!({"at": "2020-01-01T00:00:00Z", "for": "1h30m", "raw": "aGk=", "ratio": 2, "a-b": "x",
        "set": ["a", "b"], "map": {"k": 1}, "unknown": true});
    let environment = Environment::default().variable("self", CelType::Dyn);
    for expression in [
        "self.at.getFullYear() == 2020",
        "self.__for__ > duration('1h')",
        "self.raw == b'hi'",
        "self.ratio == 2.0 && type(self.ratio) == double",
        "self.a__dash__b == 'x'",
        "self.set == ['b', 'a'] && (self.set + ['a', 'c']).size() == 3",
        "self.map['k'] == 1 && self.map.all(k, k == 'k')",
        "!has(self.unknown)",
    ] {
        let program = environment.compile(expression).unwrap();
        let variables = BTreeMap::from([("self", CelValue::with_schema(&document, &schema))]);
        let (result, _) = program.evaluate(&variables, 1_000_000);
        assert!(matches!(result, Ok(CelValue::Bool(true))), "{expression}: {result:?}");
    }
}

#[test]
fn what_costs_too_much_is_stopped() {
    let program = environment().compile("[1, 2, 3, 4].all(a, [1, 2, 3, 4].all(b, a + b > 0))").unwrap();
    let (result, cost) = program.evaluate(&BTreeMap::new(), 100);
    assert_eq!(result.unwrap_err().to_string(), "operation cancelled: actual cost limit exceeded");
    assert!(cost > 100);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "it is about the time of the processor")]
fn what_a_request_can_hold_is_evaluated_in_bounded_time_and_memory() {
    let schema = json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"});
    let schema = Schema::from_json(&schema).unwrap();
    let items: Vec<_> = (0..100_000).map(|number| json!(number.to_string())).collect();
    let backwards: Vec<_> = items.iter().rev().cloned().collect();
    let (items, backwards) = (json!(items), json!(backwards));
    let environment = Environment::default()
        .variable("l", CelType::list(CelType::String))
        .variable("r", CelType::list(CelType::String));
    let variables = BTreeMap::from([
        ("l", CelValue::with_schema(&items, &schema)),
        ("r", CelValue::with_schema(&backwards, &schema)),
    ]);
    for expression in [
        "l == r",
        "l + r == l",
        "l.map(x, x + 'a').size() == 100000",
        "l.filter(x, x.size() > 2).size() > 100",
        "l.transformMap(i, x, x).size() == 100000",
        "(l + l).distinct().size() == 100000",
        "l.all(x, l.reverse().size() > 0)",
        "l.all(x, lists.range(1000000).size() > 0)",
        "l.join('a').replace('', l.join('b')).size() > 0",
        "[l+l+l+l].all(a, [a+a+a+a].all(b, [b+b+b+b].all(c, [c+c+c+c].all(d, d.size() > 0))))",
    ] {
        let program = environment.compile(expression).unwrap_or_else(|issues| panic!("{issues}"));
        let began = std::time::Instant::now();
        let (result, cost) = program.evaluate(&variables, 1_000_000);
        let took = began.elapsed();
        assert!(cost <= 1_000_000 || result.is_err(), "{expression} cost {cost}");
        assert!(took.as_secs() < 20, "{expression} took {took:?}");
    }
}

#[test]
fn deep_expressions_are_refused_or_evaluated() {
    let nested = |open: &str, close: &str, count: usize| format!("{}1{}", open.repeat(count), close.repeat(count));
    for expression in [
        nested("(", ")", 50_000),
        nested("[", "]", 50_000),
        nested("-(", ")", 30_000),
        nested("{'a': ", "}", 10_000),
        nested("[1].map(x, ", ")", 5_000),
        nested("(", ")", 200),
        nested("[1].map(x, ", ")", 60),
        format!("1{}", " + 1".repeat(20_000)),
        format!("true{}", " && true".repeat(10_000)),
        format!("self{}", ".a".repeat(40_000)),
        format!("self{}", "[0]".repeat(30_000)),
        format!("{}true", "!".repeat(90_000)),
        format!("{}1", "true ? 1 : ".repeat(9_000)),
        format!("1{}", " + 1".repeat(900)),
    ] {
        let Ok(program) = environment().compile(&expression) else { continue };
        let variables = BTreeMap::from([("self", CelValue::text(""))]);
        drop(program.evaluate(&variables, 1_000_000));
    }
    let long = format!("1{} == 501", " + 1".repeat(500));
    assert_eq!(evaluated(&long), "true");
}
