use serde_json::Value;

use crate::metadata::{fields, names};

/// A label selector: requirements that all must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LabelSelector {
    requirements: Vec<Requirement>,
}

#[derive(Clone, Debug, PartialEq)]
struct Requirement {
    key: String,
    operator: Operator,
    values: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    In,
    NotIn,
    Exists,
    NotExists,
    Greater,
    Less,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Open,
    Close,
    Comma,
    Not,
    Operator(&'static str),
    Word(String),
    End,
}

impl LabelSelector {
    /// Parses the text of a `labelSelector` parameter. The error is kube-apiserver's text.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser { tokens: tokens(text)?, at: 0 };
        let requirements = parser.selector()?;
        Ok(Self { requirements })
    }

    /// Reads the `LabelSelector` of an object: `matchLabels` and `matchExpressions`.
    pub(crate) fn of_object(selector: &Value) -> Result<Self, String> {
        let texts = |value: &Value| {
            let values = value.as_array().into_iter().flatten();
            values.filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>()
        };
        let mut requirements = Vec::new();
        for (key, value) in selector.get("matchLabels").and_then(Value::as_object).into_iter().flatten() {
            let value = value.as_str().unwrap_or_default().to_owned();
            requirements.push(Requirement::new(key.clone(), Operator::In, vec![value])?);
        }
        for expression in selector.get("matchExpressions").and_then(Value::as_array).into_iter().flatten() {
            let text = |key: &str| expression.get(key).and_then(Value::as_str).unwrap_or_default();
            let operator = match text("operator") {
                "In" => Operator::In,
                "NotIn" => Operator::NotIn,
                "Exists" => Operator::Exists,
                "DoesNotExist" => Operator::NotExists,
                other => return Err(format!("{} is not a valid label selector operator", crate::status::quote(other))),
            };
            let values = texts(expression.get("values").unwrap_or(&Value::Null));
            requirements.push(Requirement::new(text("key").to_owned(), operator, values)?);
        }
        Ok(Self { requirements })
    }

    /// Whether this selects everything.
    pub(crate) fn is_everything(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Whether the object's labels meet all requirements.
    pub(crate) fn matches(&self, object: &Value) -> bool {
        self.requirements.iter().all(|requirement| requirement.matches(fields::label(object, &requirement.key)))
    }
}

impl Requirement {
    fn new(key: String, operator: Operator, values: Vec<String>) -> Result<Self, String> {
        if let Some(text) = names::qualified_name(&key).into_iter().next() {
            return Err(format!("<nil>: Invalid value: {}: {text}", crate::status::quote(&key)));
        }
        if matches!(operator, Operator::Greater | Operator::Less)
            && values.first().is_none_or(|value| value.parse::<i64>().is_err())
        {
            let value = crate::status::quote(values.first().map_or("", String::as_str));
            return Err(format!(
                "values[0]: Invalid value: {value}: for 'Gt', 'Lt' operators, the value must be an integer"
            ));
        }
        for (index, value) in values.iter().enumerate() {
            if let Some(text) = names::label_value(value).into_iter().next() {
                return Err(format!("values[{index}][{key}]: Invalid value: {}: {text}", crate::status::quote(value)));
            }
        }
        Ok(Self { key, operator, values })
    }

    fn matches(&self, value: Option<&str>) -> bool {
        let listed = |value: &str| self.values.iter().any(|wanted| wanted == value);
        let number = |text: &str| text.parse::<i64>().ok();
        let bound = self.values.first().and_then(|text| number(text));
        match self.operator {
            Operator::In => value.is_some_and(listed),
            Operator::NotIn => !value.is_some_and(listed),
            Operator::Exists => value.is_some(),
            Operator::NotExists => value.is_none(),
            Operator::Greater => value.and_then(number).zip(bound).is_some_and(|(value, bound)| value > bound),
            Operator::Less => value.and_then(number).zip(bound).is_some_and(|(value, bound)| value < bound),
        }
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).unwrap_or(&Token::End)
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    fn selector(&mut self) -> Result<Vec<Requirement>, String> {
        let mut requirements = Vec::new();
        loop {
            match self.peek() {
                Token::Word(_) | Token::Not => {
                    let requirement =
                        self.requirement().map_err(|error| format!("unable to parse requirement: {error}"))?;
                    requirements.push(requirement);
                    match self.next() {
                        Token::End => return Ok(requirements),
                        Token::Comma if !matches!(self.peek(), Token::Word(_) | Token::Not) => {
                            return Err(format!("found '{}', expected: identifier after ','", literal(self.peek())));
                        }
                        Token::Comma => {}
                        other => {
                            return Err(format!("found '{}', expected: ',' or 'end of string'", literal(&other)));
                        }
                    }
                }
                Token::End => return Ok(requirements),
                other => {
                    return Err(format!("found '{}', expected: !, identifier, or 'end of string'", literal(other)));
                }
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let mut exists = Operator::Exists;
        if *self.peek() == Token::Not {
            self.next();
            exists = Operator::NotExists;
        }
        let key = match self.next() {
            Token::Word(key) => key,
            other => return Err(format!("found '{}', expected: identifier", literal(&other))),
        };
        if matches!(self.peek(), Token::End | Token::Comma) || exists == Operator::NotExists {
            return Requirement::new(key, exists, Vec::new());
        }
        let expected = "in, notin, =, ==, !=, gt, lt";
        let (operator, many) = match self.next() {
            Token::Operator("=" | "==") => (Operator::In, false),
            Token::Operator("!=") => (Operator::NotIn, false),
            Token::Operator(">") => (Operator::Greater, false),
            Token::Operator("<") => (Operator::Less, false),
            Token::Word(word) if word == "in" => (Operator::In, true),
            Token::Word(word) if word == "notin" => (Operator::NotIn, true),
            other => return Err(format!("found '{}', expected: {expected}", literal(&other))),
        };
        let values = if many { self.values()? } else { vec![self.exact_value()?] };
        Requirement::new(key, operator, values)
    }

    fn exact_value(&mut self) -> Result<String, String> {
        if matches!(self.peek(), Token::End | Token::Comma) {
            return Ok(String::new());
        }
        match self.next() {
            Token::Word(value) => Ok(value),
            other => Err(format!("found '{}', expected: identifier", literal(&other))),
        }
    }

    fn values(&mut self) -> Result<Vec<String>, String> {
        match self.next() {
            Token::Open => {}
            other => return Err(format!("found '{}' expected: '('", literal(&other))),
        }
        let mut values = Vec::new();
        let mut pending = true;
        loop {
            match self.next() {
                Token::Word(value) if pending => {
                    values.push(value);
                    pending = false;
                }
                Token::Comma if pending => values.push(String::new()),
                Token::Comma => pending = true,
                Token::Close => {
                    if pending {
                        values.push(String::new());
                    }
                    values.sort();
                    values.dedup();
                    return Ok(values);
                }
                other if pending => {
                    return Err(format!("found '{}', expected: ',', ')' or identifier", literal(&other)));
                }
                other => return Err(format!("found '{}', expected: ',' or ')'", literal(&other))),
            }
        }
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        let Some(first) = rest.chars().next() else { return Ok(tokens) };
        let (token, len) = match first {
            '(' => (Token::Open, 1),
            ')' => (Token::Close, 1),
            ',' => (Token::Comma, 1),
            '>' => (Token::Operator(">"), 1),
            '<' => (Token::Operator("<"), 1),
            '!' if rest.starts_with("!=") => (Token::Operator("!="), 2),
            '!' => (Token::Not, 1),
            '=' if rest.starts_with("==") => (Token::Operator("=="), 2),
            '=' => (Token::Operator("="), 1),
            _ => {
                let end = rest.find(|c: char| "()!,=<> \t\r\n".contains(c)).unwrap_or(rest.len());
                (Token::Word(rest.get(..end).unwrap_or_default().to_owned()), end)
            }
        };
        tokens.push(token);
        rest = rest.get(len..).unwrap_or_default();
    }
}

fn literal(token: &Token) -> String {
    match token {
        Token::Open => "(".to_owned(),
        Token::Close => ")".to_owned(),
        Token::Comma => ",".to_owned(),
        Token::Not => "!".to_owned(),
        Token::Operator(text) => (*text).to_owned(),
        Token::Word(word) => word.clone(),
        Token::End => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::LabelSelector;

    fn check(selector: &str, expected: &str) {
        let objects = [
            json!({"metadata": {"name": "s0"}}),
            json!({"metadata": {"name": "s1", "labels": {"env": "prod"}}}),
            json!({"metadata": {"name": "s2", "labels": {"env": "dev"}}}),
            json!({"metadata": {"name": "s3", "labels": {"env": "", "tier": "x"}}}),
        ];
        let got = match LabelSelector::parse(selector) {
            Ok(parsed) => {
                let names: Vec<_> = objects
                    .iter()
                    .filter(|o| parsed.matches(o))
                    .filter_map(|o| o["metadata"]["name"].as_str())
                    .collect();
                names.join(",")
            }
            Err(error) => error,
        };
        assert_eq!(got, expected, "{selector}");
    }

    #[test]
    fn selectors_select() {
        for (selector, expected) in [
            ("", "s0,s1,s2,s3"),
            ("env", "s1,s2,s3"),
            ("!env", "s0"),
            ("env=prod", "s1"),
            ("env==prod", "s1"),
            ("env!=prod", "s0,s2,s3"),
            ("env in (prod,dev)", "s1,s2"),
            ("env notin (prod)", "s0,s2,s3"),
            ("env notin (prod),env", "s2,s3"),
            ("env=", "s3"),
            ("env in ()", "s3"),
            ("tier=x,env!=dev", "s3"),
            ("env in (prod),env in (dev)", ""),
        ] {
            check(selector, expected);
        }
    }

    #[test]
    fn bad_selectors_are_refused() {
        for (selector, expected) in [
            ("env in prod", "unable to parse requirement: found 'prod' expected: '('"),
            ("=x", "found '=', expected: !, identifier, or 'end of string'"),
            ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
            ("env=prod,", "found '', expected: identifier after ','"),
        ] {
            check(selector, expected);
        }
    }
}
