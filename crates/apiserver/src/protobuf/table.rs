//! How messages are written: the generated table, read when it is first needed.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The generated table; `cargo xtask codegen` says what its lines mean.
const TEXT: &str = include_str!("../catalogue/generated/protobuf.txt");

/// The package of kinds that are no resources, and of all lists of metadata.
const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";

/// One message.
#[derive(Debug)]
pub(super) struct Message {
    /// The full name, as in `io.k8s.api.core.v1.Pod`.
    pub(super) name: &'static str,
    /// Whether its JSON is that of its one repeated field.
    pub(super) is_list: bool,
    /// How its JSON is made when that isn't an object with its fields.
    pub(super) special: Option<Special>,
    /// The fields in the order of their numbers.
    pub(super) fields: Vec<Field>,
}

impl Message {
    /// The name without the package.
    pub(super) fn short_name(&self) -> &'static str {
        self.name.rsplit('.').next().unwrap_or(self.name)
    }
}

/// One field of a message.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) number: u32,
    /// The name in JSON.
    pub(super) json: &'static str,
    pub(super) shape: Shape,
    pub(super) value: ValueKind,
    pub(super) zero: Zero,
    /// Whether Go has a pointer, so that zero and absent differ.
    pub(super) is_pointer: bool,
    /// Whether its fields stand in the JSON of the message that it is in.
    pub(super) is_inlined: bool,
}

/// How many values a field has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    One,
    Repeated,
    Map,
}

/// What Go's JSON does with a field that is not a pointer and zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Zero {
    /// A struct is written, everything else is not.
    Usual,
    /// It is always written; lists, maps and pointers as null.
    Written,
    /// It is never written.
    Omitted,
}

/// The type of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    Text,
    Bytes,
    Bool,
    Int32,
    Int64,
    Double,
    /// A message, by its place in the table.
    Message(usize),
}

/// Types that write their JSON themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Special {
    Quantity,
    IntOrString,
    Time,
    MicroTime,
    /// JSON text in a field of bytes.
    Raw,
    /// A schema or a list of schemas.
    SchemaOrArray,
    /// A schema or a switch.
    SchemaOrBool,
    /// A schema or a list of names.
    SchemaOrNames,
}

impl Special {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "io.k8s.apimachinery.pkg.api.resource.Quantity" => Self::Quantity,
            "io.k8s.apimachinery.pkg.util.intstr.IntOrString" => Self::IntOrString,
            "io.k8s.apimachinery.pkg.apis.meta.v1.Time" => Self::Time,
            "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime" => Self::MicroTime,
            "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1"
            | "io.k8s.apimachinery.pkg.runtime.RawExtension"
            | "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON" => Self::Raw,
            "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray" => Self::SchemaOrArray,
            "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool" => Self::SchemaOrBool,
            "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray" => {
                Self::SchemaOrNames
            }
            _ => return None,
        })
    }
}

/// All messages.
#[derive(Debug)]
pub(super) struct Table {
    /// Sorted by name.
    messages: Vec<Message>,
    /// The package of each group and version.
    packages: BTreeMap<&'static str, &'static str>,
}

/// The table, which is read once per process.
pub(super) fn table() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(Table::read);
    &TABLE
}

impl Table {
    fn read() -> Self {
        let lines = || TEXT.lines().filter(|line| !line.starts_with('#'));
        let packages = lines().filter_map(|line| line.strip_prefix('@')?.split_once('\t')).collect();
        let declared: Vec<(&str, &str)> = lines()
            .filter(|line| !line.starts_with('@'))
            .map(|line| line.split_once('\t').unwrap_or((line, "")))
            .collect();
        let names: BTreeMap<&str, usize> = declared.iter().enumerate().map(|(at, (name, _))| (*name, at)).collect();
        let messages = declared.iter().map(|(name, fields)| read_message(name, fields, &names)).collect();
        Self { messages, packages }
    }

    /// A message by its place.
    pub(super) fn at(&self, place: usize) -> Option<&Message> {
        self.messages.get(place)
    }

    /// A message by its full name.
    pub(super) fn named(&self, name: &str) -> Option<&Message> {
        let place = self.messages.binary_search_by(|message| message.name.cmp(name)).ok()?;
        self.messages.get(place)
    }

    /// The message of a kind.
    pub(super) fn of_kind(&self, api_version: &str, kind: &str) -> Option<&Message> {
        let package = self.packages.get(api_version);
        let own = package.and_then(|package| self.named(&format!("{package}.{kind}")));
        own.or_else(|| {
            let is_meta = matches!(api_version, "" | "v1" | "meta.k8s.io/v1") || kind == "DeleteOptions";
            is_meta.then(|| self.named(&format!("{META}.{kind}"))).flatten()
        })
    }

    #[cfg(test)]
    pub(super) fn messages(&self) -> &[Message] {
        &self.messages
    }
}

fn read_message(name: &'static str, fields: &'static str, names: &BTreeMap<&str, usize>) -> Message {
    let package = name.rsplit_once('.').map_or("", |(package, _)| package);
    let words = || fields.split('\t').filter(|word| !word.is_empty());
    Message {
        name,
        is_list: words().any(|word| word == "="),
        special: Special::of(name),
        fields: words().filter_map(|word| read_field(word, package, names)).collect(),
    }
}

/// Reads `number json type flags`.
fn read_field(text: &'static str, package: &str, names: &BTreeMap<&str, usize>) -> Option<Field> {
    let mut words = text.split(' ');
    let (number, json, declared) = (words.next()?.parse().ok()?, words.next()?, words.next()?);
    let flags = words.next().unwrap_or_default();
    let (shape, declared) = if let Some(repeated) = declared.strip_prefix("[]") {
        (Shape::Repeated, repeated)
    } else if let Some(values) = declared.strip_prefix("{}") {
        (Shape::Map, values)
    } else {
        (Shape::One, declared)
    };
    let value = match declared {
        "s" => ValueKind::Text,
        "y" => ValueKind::Bytes,
        "b" => ValueKind::Bool,
        "i" => ValueKind::Int32,
        "l" => ValueKind::Int64,
        "d" => ValueKind::Double,
        _ if declared.starts_with('.') => ValueKind::Message(*names.get(format!("{package}{declared}").as_str())?),
        _ => ValueKind::Message(*names.get(declared)?),
    };
    let zero = if flags.contains('0') {
        Zero::Omitted
    } else if flags.contains('!') {
        Zero::Written
    } else {
        Zero::Usual
    };
    let (is_pointer, is_inlined) = (flags.contains('*'), flags.contains('<'));
    Some(Field { number, json, shape, value, zero, is_pointer, is_inlined })
}
