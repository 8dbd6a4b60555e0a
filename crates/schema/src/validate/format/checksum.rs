//! Formats with a check digit.

use std::sync::LazyLock;

use regex::Regex;

static CREDIT_CARD: LazyLock<Regex> = LazyLock::new(|| {
    super::fixed(
        "^(4[0-9]{12}([0-9]{3})?|5[1-5][0-9]{14}|6(011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(0[0-5]|[68][0-9])[0-9]{11}|(2131|1800|35[0-9]{3})[0-9]{11})$",
    )
});

fn without_spaces_and_dashes(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '\t' | '\n' | '\u{c}' | '\r' | ' ' | '-')).collect()
}

pub(super) fn is_isbn10(text: &str) -> bool {
    let text = without_spaces_and_dashes(text);
    let values: Option<Vec<u32>> = text
        .chars()
        .enumerate()
        .map(|(index, c)| if index == 9 && c == 'X' { Some(10) } else { c.to_digit(10) })
        .collect();
    values.is_some_and(|values| {
        values.len() == 10 && (1..).zip(values).map(|(weight, v)| weight * v).sum::<u32>() % 11 == 0
    })
}

pub(super) fn is_isbn13(text: &str) -> bool {
    let text = without_spaces_and_dashes(text);
    let values: Option<Vec<u32>> = text.chars().map(|c| c.to_digit(10)).collect();
    values.is_some_and(|values| {
        values.len() == 13
            && values.iter().zip([1, 3].into_iter().cycle()).map(|(v, weight)| weight * v).sum::<u32>() % 10 == 0
    })
}

/// A number of a known issuer with a digit by Luhn's formula.
pub(super) fn is_credit_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    if !CREDIT_CARD.is_match(&digits) {
        return false;
    }
    let doubled = |value: u32| if value < 5 { 2 * value } else { 2 * value - 9 };
    let values = digits.chars().rev().filter_map(|c| c.to_digit(10));
    let sum: u32 = values.enumerate().map(|(index, v)| if index % 2 == 0 { v } else { doubled(v) }).sum();
    sum.is_multiple_of(10)
}
