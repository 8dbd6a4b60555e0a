use std::sync::Arc;

use crate::cel::cel_type::CelType;

/// One form of a function.
#[derive(Debug)]
pub(crate) struct Overload {
    /// Its name, by which costs are known.
    pub(crate) id: &'static str,
    /// Whether the first argument stands before the function's name.
    pub(crate) is_member: bool,
    pub(crate) arguments: Vec<CelType>,
    pub(crate) result: CelType,
}

impl Overload {
    /// Reads `receiver.(a, b) -> c` or `(a, b) -> c`. Signatures are part of the program; one that can't be read has the
    /// error type, which a test looks for.
    pub(super) fn read(id: &'static str, signature: &'static str) -> Self {
        let mut reader = Reader { rest: signature };
        let mut arguments = Vec::new();
        let is_member = !signature.starts_with('(');
        if is_member {
            arguments.push(reader.one());
            reader.skip(".");
        }
        reader.skip("(");
        while !reader.skip(")") && !reader.rest.is_empty() {
            arguments.push(reader.one());
            reader.skip(", ");
        }
        reader.skip(" -> ");
        Self { id, is_member, arguments, result: reader.one() }
    }
}

struct Reader {
    rest: &'static str,
}

impl Reader {
    fn skip(&mut self, text: &str) -> bool {
        let skipped = self.rest.strip_prefix(text);
        self.rest = skipped.unwrap_or(self.rest);
        skipped.is_some()
    }

    fn one(&mut self) -> CelType {
        let end = self.rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        let mut of = Vec::new();
        if matches!(name, "list" | "map" | "optional" | "type") {
            self.skip("(");
            while !self.skip(")") && !self.rest.is_empty() {
                of.push(Arc::new(self.one()));
                self.skip(", ");
            }
        }
        let mut of = of.into_iter();
        let mut next = || of.next().unwrap_or_else(|| Arc::new(CelType::Error));
        match name {
            "dyn" => CelType::Dyn,
            "null" => CelType::Null,
            "bool" => CelType::Bool,
            "int" => CelType::Int,
            "uint" => CelType::Uint,
            "double" => CelType::Double,
            "string" => CelType::String,
            "bytes" => CelType::Bytes,
            "duration" => CelType::Duration,
            "timestamp" => CelType::Timestamp,
            "list" => CelType::List(next()),
            "map" => CelType::Map(next(), next()),
            "optional" => CelType::Optional(next()),
            "type" => CelType::Type(next()),
            "A" | "B" | "K" | "V" | "T" => CelType::Parameter(name.into()),
            other => super::kubernetes::opaque(other).map_or(CelType::Error, CelType::Opaque),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::cel::cel_type::CelType;
    use crate::cel::declarations::functions;

    fn is_read(of: &CelType) -> bool {
        *of != CelType::Error && of.parameters().into_iter().all(is_read)
    }

    #[test]
    fn every_signature_can_be_read() {
        for (function, overloads) in functions() {
            for overload in overloads {
                let types = overload.arguments.iter().chain([&overload.result]);
                assert!(types.clone().all(is_read), "{function}, {}: {overload:?}", overload.id);
            }
        }
    }
}
