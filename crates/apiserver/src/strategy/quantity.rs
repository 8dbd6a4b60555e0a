//! Quantities of resources, as in `500m` or `1Gi`: reading and the canonical form in which Kubernetes writes them.

use serde_json::Value;

/// A quantity in thousandths of thousandths of thousandths: Kubernetes rounds what is finer up to a nano.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Quantity {
    nanos: i128,
    format: Format,
}

/// How a quantity was written, which is how it stays written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Format {
    Decimal,
    Binary,
    Exponent,
}

const NANO: i128 = 1_000_000_000;

/// Powers of 1000 from a nano upwards.
const DECIMAL: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
/// Powers of 1024 from 1 upwards.
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

impl Quantity {
    /// Reads a quantity; `None` when it isn't one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let end = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '+' | '-')).unwrap_or(text.len());
        let (number, suffix) = text.split_at(end);
        let (unit, format) = unit(suffix)?;
        let (negative, digits) = match number.as_bytes().first()? {
            b'-' => (true, number.get(1..)?),
            b'+' => (false, number.get(1..)?),
            _ => (false, number),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty() && fraction.is_empty() || !(whole.to_owned() + fraction).bytes().all(|b| b.is_ascii_digit())
        {
            return None;
        }
        let mantissa: i128 = format!("0{whole}{fraction}").parse().ok()?;
        let divisor = 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
        let nanos = mantissa.checked_mul(unit)?.checked_add(divisor - 1)? / divisor;
        Some(Self { nanos: if negative { -nanos } else { nanos }, format })
    }

    /// Whether it is less than zero.
    pub(crate) fn is_negative(self) -> bool {
        self.nanos < 0
    }

    /// Whether it is zero.
    pub(crate) fn is_zero(self) -> bool {
        self.nanos == 0
    }

    /// How much it is.
    pub(crate) fn nanos(self) -> i128 {
        self.nanos
    }

    /// So many whole ones.
    pub(crate) fn of(count: i64) -> Self {
        Self { nanos: i128::from(count) * NANO, format: Format::Decimal }
    }

    /// The sum, written as this one is; as the other one when this is nothing.
    pub(crate) fn plus(self, other: Self) -> Self {
        let format = if self.nanos == 0 { other.format } else { self.format };
        Self { nanos: self.nanos.saturating_add(other.nanos), format }
    }

    /// The difference, written as this one is; as the other one when this is nothing.
    pub(crate) fn minus(self, other: Self) -> Self {
        let format = if self.nanos == 0 { other.format } else { self.format };
        Self { nanos: self.nanos.saturating_sub(other.nanos), format }
    }

    /// The form in which Kubernetes writes it: the largest suffix that needs no fraction.
    pub(crate) fn canonical(self) -> String {
        if self.nanos == 0 {
            return "0".to_owned();
        }
        // What a binary suffix can't express without a fraction is written as a decimal number.
        if self.format == Format::Binary && self.nanos % NANO == 0 && (self.nanos / NANO).abs() >= 1024 {
            let (value, power) = reduce(self.nanos / NANO, 1024, BINARY.len() - 1);
            return format!("{value}{}", BINARY.get(power).copied().unwrap_or_default());
        }
        if self.format == Format::Binary && self.nanos % NANO == 0 {
            return (self.nanos / NANO).to_string();
        }
        let (value, power) = reduce(self.nanos, 1000, DECIMAL.len() - 1);
        if self.format == Format::Exponent {
            let exponent = i64::try_from(power).unwrap_or_default() * 3 - 9;
            return if exponent == 0 { value.to_string() } else { format!("{value}e{exponent}") };
        }
        format!("{value}{}", DECIMAL.get(power).copied().unwrap_or_default())
    }
}

/// Whether a text is a quantity; what Go says where it isn't.
pub(crate) fn quantity_error(text: &str) -> Result<(), &'static str> {
    let text = text.trim();
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let number = unsigned.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let fraction = number.strip_prefix('.').map(|rest| rest.trim_start_matches(|letter: char| letter.is_ascii_digit()));
    let suffix = fraction.unwrap_or(number);
    let exponent = suffix.trim_start_matches(|letter: char| "eEinumkKMGTP".contains(letter));
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if text.is_empty() || !exponent.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
    }
    if unit(suffix).is_none() {
        return Err("unable to parse quantity's suffix");
    }
    let digits = unsigned.bytes().take(unsigned.len() - suffix.len()).any(|byte| byte.is_ascii_digit());
    if digits { Ok(()) } else { Err("unable to parse numeric part of quantity") }
}

/// The nanos in one of what the suffix stands for.
fn unit(suffix: &str) -> Option<(i128, Format)> {
    if let Some(power) = BINARY.iter().position(|known| !suffix.is_empty() && *known == suffix) {
        return Some((NANO * 1024_i128.pow(u32::try_from(power).ok()?), Format::Binary));
    }
    if let Some(power) = DECIMAL.iter().position(|known| *known == suffix) {
        return Some((1000_i128.pow(u32::try_from(power).ok()?), Format::Decimal));
    }
    let exponent: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    let power = u32::try_from(exponent.checked_add(9)?).ok()?;
    Some((10_i128.checked_pow(power)?, Format::Exponent))
}

/// Divides while nothing is lost: what is left, and how often it was divided.
fn reduce(mut value: i128, by: i128, most: usize) -> (i128, usize) {
    let mut power = 0;
    while power < most && value % by == 0 {
        value /= by;
        power += 1;
    }
    (value, power)
}

/// Writes a quantity as Kubernetes does; leaves alone what isn't one. Numbers become text.
pub(crate) fn canonicalize(value: &mut Value) {
    let parsed = match &*value {
        Value::String(text) => Quantity::parse(text.trim()),
        Value::Number(number) => Quantity::parse(&number.to_string()),
        _ => None,
    };
    if let Some(quantity) = parsed {
        *value = Value::from(quantity.canonical());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_written_canonically() {
        let cases = [
            ("1000m", "1"),
            ("1500m", "1500m"),
            ("0.5", "500m"),
            ("1024Mi", "1Gi"),
            ("1536Mi", "1536Mi"),
            ("512Ki", "512Ki"),
            ("1.5Gi", "1536Mi"),
            ("1000", "1k"),
            ("1000k", "1M"),
            ("100", "100"),
            ("0", "0"),
            ("0Gi", "0"),
            ("1e3", "1e3"),
            ("12e6", "12e6"),
            ("-5", "-5"),
            ("+5", "5"),
            (".5", "500m"),
            ("1.", "1"),
            ("0.1n", "1n"),
            ("1Ki", "1Ki"),
            ("0.5Ki", "512"),
            ("0.5Mi", "512Ki"),
        ];
        for (written, canonical) in cases {
            assert_eq!(Quantity::parse(written).map(Quantity::canonical).as_deref(), Some(canonical), "{written}");
        }
    }

    #[test]
    fn what_is_no_quantity_is_refused() {
        for text in ["", "a", "1x", "1.2.3", "--1", "1 Gi", "Mi", "1e", "."] {
            assert_eq!(Quantity::parse(text), None, "{text}");
        }
    }
}
