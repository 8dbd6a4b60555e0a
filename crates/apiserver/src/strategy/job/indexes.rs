//! Indexes of a job as text, as in `0-3,7`.

/// How many indexes a text names, below a count; or what is wrong with it, in Go's words.
pub(super) fn count(text: &str, completions: i64) -> Result<i64, String> {
    let mut total = 0;
    let mut last: Option<i64> = None;
    for part in text.split(',').filter(|_| !text.is_empty()) {
        let (from, to) = interval(part, completions)?;
        if let Some(last) = last.filter(|last| *last >= from) {
            return Err(format!("non-increasing order, previous: {last}, current: {from}"));
        }
        total += to - from + 1;
        last = Some(to);
    }
    Ok(total)
}

/// The first index that two texts have in common.
pub(super) fn overlap(one: &str, other: &str, completions: i64) -> Option<i64> {
    let intervals = |text: &str| -> Vec<(i64, i64)> {
        text.split(',').filter_map(|part| interval(part, completions).ok()).collect()
    };
    let (one, other) = (intervals(one), intervals(other));
    let (mut left, mut right) = (one.iter().peekable(), other.iter().peekable());
    while let (Some((from, to)), Some((other_from, other_to))) = (left.peek(), right.peek()) {
        if from <= other_to && other_from <= to {
            return Some(*from.max(other_from));
        }
        if from <= other_from {
            left.next();
        } else {
            right.next();
        }
    }
    None
}

fn interval(part: &str, completions: i64) -> Result<(i64, i64), String> {
    let limits: Vec<&str> = part.split('-').collect();
    let index = |text: &str| {
        let index =
            text.parse::<i64>().map_err(|_| format!("cannot convert string to integer for index: \"{text}\""))?;
        if index >= completions { Err(format!("too large index: \"{text}\"")) } else { Ok(index) }
    };
    match limits.as_slice() {
        [one] => index(one).map(|index| (index, index)),
        [from, to] => {
            let (from, to) = (index(from)?, index(to)?);
            if from >= to {
                return Err(format!("non-increasing order, previous: {from}, current: {to}"));
            }
            Ok((from, to))
        }
        _ => Err(format!(
            "the fragment \"{part}\" violates the requirement that an index interval can have at most two parts \
             separated by '-'"
        )),
    }
}
