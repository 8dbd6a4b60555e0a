use rand_chacha::ChaCha8Rng;
use rand_core::Rng;
use serde_json::{Value, json};

/// Words that have a meaning somewhere.
const WORDS: [&str; 24] = [
    "null",
    "true",
    "\"\"",
    "[]",
    "{}",
    "-1",
    "1e400",
    "18446744073709551616",
    "$patch",
    "delete",
    "$retainKeys",
    "metadata",
    "managedFields",
    "f:",
    "k:{}",
    ".",
    "/",
    "~0",
    ",",
    "!",
    " in ()",
    "notin",
    "\u{0}",
    "\u{1F600}",
];

/// A new input: one of the seeds, changed a few times, in its bytes or in the JSON documents that its lines are.
pub(crate) fn mutate(seeds: &[Vec<u8>], chance: &mut ChaCha8Rng) -> Vec<u8> {
    let mut input = pick(seeds, chance).cloned().unwrap_or_default();
    for _ in 0..=below(4, chance) {
        if below(3, chance) == 0 {
            change_bytes(&mut input, seeds, chance);
        } else if let Some(changed) = change_documents(&input, seeds, chance) {
            input = changed;
        } else {
            change_bytes(&mut input, seeds, chance);
        }
    }
    input
}

fn below(bound: usize, chance: &mut ChaCha8Rng) -> usize {
    if bound == 0 { 0 } else { usize::try_from(chance.next_u64() % bound as u64).unwrap_or(0) }
}

fn pick<'a, T>(of: &'a [T], chance: &mut ChaCha8Rng) -> Option<&'a T> {
    of.get(below(of.len(), chance))
}

fn change_bytes(input: &mut Vec<u8>, seeds: &[Vec<u8>], chance: &mut ChaCha8Rng) {
    let at = below(input.len() + 1, chance);
    let end = (at + below(16, chance)).min(input.len());
    match below(7, chance) {
        0 => {
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << below(8, chance);
            }
        }
        1 => drop(input.drain(at..end)),
        2 => {
            let part = input.get(at..end).unwrap_or_default().to_vec();
            let part = part.repeat(1 + below(64, chance));
            drop(input.splice(at..at, part));
        }
        3 => {
            let byte = chance.next_u32().to_le_bytes()[0];
            input.insert(at, byte);
        }
        4 => {
            let other = pick(seeds, chance).cloned().unwrap_or_default();
            let from = below(other.len() + 1, chance);
            input.truncate(at);
            input.extend_from_slice(other.get(from..).unwrap_or_default());
        }
        5 => input.truncate(at),
        _ => {
            let word = pick(&WORDS, chance).copied().unwrap_or_default();
            drop(input.splice(at..end, word.bytes()));
        }
    }
}

/// Changes one document of the lines; `None` when the line isn't JSON.
fn change_documents(input: &[u8], seeds: &[Vec<u8>], chance: &mut ChaCha8Rng) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(input).ok()?;
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let index = below(lines.len(), chance);
    let mut document: Value = serde_json::from_str(lines.get(index)?).ok()?;
    let graft = graft(seeds, chance);
    let place = place(&mut document, chance);
    match below(4, chance) {
        0 => *place = graft,
        1 => *place = plain(chance),
        2 => match place {
            Value::Object(fields) => {
                let key = fields.keys().nth(below(fields.len(), chance)).cloned();
                key.map(|key| fields.remove(&key));
            }
            Value::Array(items) if !items.is_empty() => drop(items.remove(below(items.len(), chance))),
            other => *other = Value::Null,
        },
        _ => match place {
            Value::Object(fields) => {
                let key = pick(&WORDS, chance).copied().unwrap_or_default();
                fields.insert(key.to_owned(), graft);
            }
            Value::Array(items) => {
                let copy = items.first().cloned().unwrap_or(graft);
                items.push(copy);
            }
            other => *other = json!([other.clone(), graft]),
        },
    }
    *lines.get_mut(index)? = document.to_string();
    Some(lines.join("\n").into_bytes())
}

/// A random value inside a document of the seeds.
fn graft(seeds: &[Vec<u8>], chance: &mut ChaCha8Rng) -> Value {
    let Some(seed) = pick(seeds, chance) else { return Value::Null };
    let lines: Vec<&[u8]> = seed.split(|byte| *byte == b'\n').collect();
    let document = pick(&lines, chance).and_then(|line| serde_json::from_slice(line).ok());
    match document {
        Some(mut document) => place(&mut document, chance).take(),
        None => plain(chance),
    }
}

fn plain(chance: &mut ChaCha8Rng) -> Value {
    match below(9, chance) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(i64::MIN),
        3 => json!(u64::MAX),
        4 => json!(1e308),
        5 => json!({}),
        6 => json!([]),
        7 => json!(below(10, chance)),
        _ => json!(pick(&WORDS, chance)),
    }
}

/// A random place in a document.
fn place<'a>(document: &'a mut Value, chance: &mut ChaCha8Rng) -> &'a mut Value {
    let mut pointer = String::new();
    let mut at = &*document;
    while below(4, chance) != 0 {
        let (step, next) = match at {
            Value::Object(fields) => match fields.iter().nth(below(fields.len(), chance)) {
                Some((key, next)) => (key.replace('~', "~0").replace('/', "~1"), next),
                None => break,
            },
            Value::Array(items) => {
                let index = below(items.len(), chance);
                match items.get(index) {
                    Some(next) => (index.to_string(), next),
                    None => break,
                }
            }
            _ => break,
        };
        pointer = format!("{pointer}/{step}");
        at = next;
    }
    document.pointer_mut(&pointer).unwrap()
}
