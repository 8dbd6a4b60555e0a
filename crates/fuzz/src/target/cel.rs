//! Expressions in CEL: a value in JSON on the first line, an expression about it on the others.

use std::collections::BTreeMap;

use controller_runtime_schema::cel::{Authorizer, CelType, CelValue, Decision, Environment, Opaque};
use controller_runtime_schema::{EarlierRules, FieldPath, RuleValidator, Schema, check_structural};
use serde_json::{Value, json};

use crate::document::text;

/// What evaluating one expression may cost in kube-apiserver.
const LIMIT: u64 = 1_000_000;

pub(super) fn run(data: &[u8]) {
    let Some((value, expression)) = text(data).and_then(|text| text.split_once('\n')) else { return };
    let Ok(value) = serde_json::from_str(value) else { return };
    condition(expression, &value);
    rule(expression, &value);
}

/// The expression as a condition, which finds out types when it is evaluated.
fn condition(expression: &str, value: &Value) {
    let environment = Environment::default()
        .variable("self", CelType::Dyn)
        .variable("authorizer", CelType::Opaque("kubernetes.authorization.Authorizer"));
    let Ok(program) = environment.compile(expression) else { return };
    let authorizer = Authorizer::new(|question| Decision { allowed: question.verb == "get", reason: String::new() });
    let variables = BTreeMap::from([
        ("self", CelValue::from_json(value)),
        ("authorizer", CelValue::Opaque(Opaque::Authorizer(authorizer.into()))),
    ]);
    for limit in [0, 100, LIMIT] {
        let (result, cost) = program.evaluate(&variables, limit);
        assert!(result.is_err() || cost <= limit, "it cost {cost} of {limit}");
    }
}

/// The expression as a rule of a schema, which knows types beforehand and estimates costs.
fn rule(expression: &str, value: &Value) {
    let mut schema = schema();
    let rule = json!([{"rule": expression, "messageExpression": expression}, {"rule": "self == oldSelf"}]);
    for place in ["", "/properties/list/items", "/properties/map"] {
        schema.pointer_mut(place).unwrap()["x-kubernetes-validations"] = rule.clone();
    }
    check_structural(&schema, &FieldPath::new("schema"), true, EarlierRules::Changed);
    let Ok(schema) = Schema::from_json(&schema) else { return };
    let rules = RuleValidator::new(&schema, false).unwrap();
    rules.validate(value, None, &FieldPath::root());
    rules.validate_update(value, value, &FieldPath::root());
}

fn schema() -> Value {
    json!({"type": "object", "properties": {
        "list": {"type": "array", "maxItems": 5, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string", "maxLength": 9}}}},
        "map": {"type": "object", "additionalProperties": {"type": "integer"}},
        "text": {"type": "string"}, "time": {"type": "string", "format": "date-time"},
        "span": {"type": "string", "format": "duration"}, "bytes": {"type": "string", "format": "byte"},
        "port": {"x-kubernetes-int-or-string": true}, "number": {"type": "number"}, "a-b": {"type": "boolean"},
    }})
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let value = json!({"list": [{"k": "a"}, {"k": "b"}], "map": {"x": 1, "y": -1}, "text": "a,b.c/1", "port": "http",
        "time": "2026-01-01T00:00:00Z", "span": "1h30m", "bytes": "AAEC", "number": 1.5, "a-b": true});
    let expressions = [
        "self.list.all(x, self.list.exists(y, y.k == x.k && self.list.map(z, z.k + x.k).filter(w, w.size() > 1) != []))",
        "has(self.map) && 'x' in self.map ? self.map['x'] + 1 > 0x10 : self.map.transformMap(k, v, v * 2).size() >= 1u",
        "self.text.split(',')[0].replace('a', 'b').matches('^[a-z]+(x|y)*$') || self.text.substring(1, 2).format([1]) == ''",
        "self.time.getHours('+01:30') + duration(self.span).getMinutes() == int(timestamp('2026-01-01T00:00:00Z') - self.time)",
        "[1, 2, 3].sum() + [1, -9223372036854775808].max() == [[1], [2]].size() && {'a': {1: b'\\x00'}}.a[1] == bytes('a')",
        "cel.bind(x, self.list, x.exists_one(i, v, i == 0 && v.k == 'a')) && optional.of(self).?list[?0].?k.orValue('') == \"a\"",
        "quantity('1Gi').add(quantity('1Mi')).isGreaterThan(quantity('1')) && semver('1.2.3').major() == 1 && isIP('::1')",
        "url('https://a/b?c=d').getQuery() != {} && cidr('10.0.0.0/8').containsIP(ip('10.1.1.1')) && ip('1.1.1.1').family() == 4",
        "authorizer.group('apps').resource('deployments').namespace('x').name('y').check('get').allowed()",
        "'%s %d %.2f %x %e'.format(['a', 1, 2.5, 255, 1e300]) == string(self.number) && type(self.port) == string",
        "((((((((-(-(-1)) * 2))) / 1) % 3) - !!true ? 1 : 2)) == 1.0 || sets.contains([1], [2]) && self.a__dash__b",
        "!format.dns1123Label().validate(self.text).hasValue() || self.text.findAll('[a-z]', 2).join('-') == 'a-b'",
        "self.list.sortBy(x, x.k).map(x, x.k).isSorted() && lists.range(9).flatten().slice(1, 3).reverse().distinct() == [2, 1]",
    ];
    expressions.iter().map(|expression| format!("{value}\n{expression}").into_bytes()).collect()
}
