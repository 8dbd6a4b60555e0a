//! The name under which a client writes.

use controller_runtime_schema::{FieldError, FieldPath};

/// How long a field manager's name is at most, in bytes.
const MAX_LENGTH: usize = 128;

/// The field manager of a request: the one it names, else the first part of its user agent.
pub(crate) fn field_manager_of(named: &str, user_agent: &str) -> String {
    if !named.is_empty() {
        return named.to_owned();
    }
    let program = user_agent.split('/').next().unwrap_or_default();
    let mut manager = String::new();
    for character in program.chars().filter(|character| is_printable(*character)) {
        if manager.len() + character.len_utf8() > MAX_LENGTH {
            break;
        }
        manager.push(character);
    }
    manager
}

/// What is wrong with a field manager that a request names.
pub(crate) fn check_field_manager(manager: &str) -> Vec<FieldError> {
    let field = FieldPath::new("fieldManager");
    let mut errors = Vec::new();
    if manager.len() > MAX_LENGTH {
        errors.push(FieldError::too_long(&field, i64::try_from(MAX_LENGTH).unwrap_or(i64::MAX)));
    }
    for (position, character) in manager.char_indices().filter(|(_, character)| !is_printable(*character)) {
        let code = u32::from(character);
        let detail = format!("invalid character U+{code:04X} (at position {position})");
        errors.push(FieldError::invalid(&field, manager, detail));
    }
    errors
}

/// Letters, marks, numbers, punctuation, symbols and the space.
fn is_printable(character: char) -> bool {
    character == ' ' || !(character.is_control() || character.is_whitespace() || is_invisible(character))
}

/// Format characters and those without a meaning of their own.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..)
}
