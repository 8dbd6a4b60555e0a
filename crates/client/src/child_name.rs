use sha2::{Digest, Sha256};

/// The longest DNS-1123 label and subdomain.
const LABEL: usize = 63;
const SUBDOMAIN: usize = 253;

/// The digits of the hash: those of Kubernetes' generated names, which spell nothing and read like nothing else.
const DIGITS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
const HASH: usize = 13;

/// A name for a child that is the same each time it is computed: `prefix`, a dash, and a hash of `prefix` and `key`.
///
/// A program that crashes between creating an object and noting so finds it again under this name, where a name that
/// the server generates would make it create a second one. `prefix` is usually the parent's name; `key` says which of
/// its children it is, for example the number of a run. To tell a parent from its namesake that lived before it,
/// put its uid into `key`.
///
/// The name is a DNS-1123 subdomain of at most 253 bytes: what `prefix` has beyond that is cut off, and characters that
/// a name may not have become dashes. For kinds whose names are labels use [`child_label`].
///
/// The hash is part of what this library promises to keep: the first eight bytes of the SHA-256 of `prefix`, a zero
/// byte and `key`, read as a big-endian number, in 13 digits of base 27, the lowest digit first, with the digits
/// `bcdfghjklmnpqrstvwxz2456789`.
///
/// ```
/// use controller_runtime_client::{child_label, child_name};
///
/// assert_eq!(child_name("nightly.example", "run-7"), "nightly.example-r2n428tg9gx88");
/// assert_eq!(child_label("nightly.example", "run-7"), "nightly-example-r2n428tg9gx88");
/// ```
pub fn child_name(prefix: &str, key: &str) -> String {
    named(prefix, key, SUBDOMAIN, true)
}

/// [`child_name`] as a DNS-1123 label of at most 63 bytes: for Services, Namespaces, Pods that have a host name, and
/// wherever the name becomes the value of a label.
pub fn child_label(prefix: &str, key: &str) -> String {
    named(prefix, key, LABEL, false)
}

fn named(prefix: &str, key: &str, longest: usize, dots: bool) -> String {
    let mut name = readable(prefix, longest - HASH - 1, dots);
    if !name.is_empty() {
        name.push('-');
    }
    push_hash(&mut name, prefix, key);
    name
}

/// What a name may have of `prefix`: it starts and ends with a letter or a digit, and so does each part between dots.
fn readable(prefix: &str, longest: usize, dots: bool) -> String {
    let mut name = String::new();
    for character in prefix.chars().map(|character| character.to_ascii_lowercase()) {
        if name.len() >= longest {
            break;
        }
        let at_start = name.is_empty() || name.ends_with('.');
        match character {
            'a'..='z' | '0'..='9' => name.push(character),
            '.' if dots => {
                name.truncate(name.trim_end_matches(['-', '.']).len());
                if !name.is_empty() {
                    name.push('.');
                }
            }
            _ if at_start => {}
            _ => name.push('-'),
        }
    }
    name.truncate(name.trim_end_matches(['-', '.']).len());
    name
}

fn push_hash(name: &mut String, prefix: &str, key: &str) {
    let mut hasher = Sha256::new();
    hasher.update(prefix);
    hasher.update([0]);
    hasher.update(key);
    let mut number = hasher.finalize().iter().take(8).fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
    for _ in 0..HASH {
        let digit = usize::try_from(number % 27).unwrap_or_default();
        number /= 27;
        name.extend(DIGITS.get(digit).copied().map(char::from));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::{child_label, child_name};

    fn is_label(label: &str) -> bool {
        let inside = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit();
        label.starts_with(inside)
            && label.ends_with(inside)
            && label.chars().all(|character| inside(character) || character == '-')
    }

    #[test]
    fn names_keep_what_can_be_read() {
        for (prefix, expected) in [
            ("web", "web-"),
            ("Web_App", "web-app-"),
            ("a.b", "a.b-"),
            ("a-.-b", "a.b-"),
            ("..a", "a-"),
            ("-a-", "a-"),
            ("", ""),
            ("é", ""),
        ] {
            let name = child_name(prefix, "k");
            let (start, hash) = name.split_at(name.len() - 13);
            assert_eq!((start, hash.len()), (expected, 13), "{prefix}");
        }
    }

    #[test]
    fn different_children_have_different_names() {
        let pairs = [("a", "b"), ("a", "c"), ("b", "b"), ("ab", ""), ("", "ab"), ("A", "b")];
        let names: BTreeSet<_> = pairs.iter().map(|(prefix, key)| child_name(prefix, key)).collect();
        assert_eq!(names.len(), pairs.len());
        let long = "x".repeat(300);
        assert_ne!(child_name(&format!("{long}1"), ""), child_name(&format!("{long}2"), ""));
    }

    proptest! {
        #[test]
        fn names_are_valid_whatever_they_are_made_of(prefix in ".{0,300}|[a-zA-Z0-9._-]{0,300}", key in ".{0,20}") {
            let (name, label) = (child_name(&prefix, &key), child_label(&prefix, &key));
            prop_assert!(name.len() <= 253 && name.split('.').all(is_label), "{}", name);
            prop_assert!(label.len() <= 63 && is_label(&label), "{}", label);
            prop_assert_eq!(name, child_name(&prefix, &key));
        }
    }
}
