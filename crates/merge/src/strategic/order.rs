//! The order of merged lists.

use serde_json::Value;

use super::element::{Items, find, has_directive, is_deletion, key_value};
use super::error::StrategicError;

/// The items of a merged list, by whether an order speaks of them.
pub(crate) struct Partition {
    ordered: Vec<Value>,
    /// Items that only the server's list has.
    others: Vec<Value>,
}

impl Partition {
    /// Splits items by whether they, or the items with the same merge key, are in `order`.
    pub(crate) fn by_presence(
        items: Vec<Value>,
        order: &[Value],
        merge_key: Option<&str>,
    ) -> Result<Partition, StrategicError> {
        let mut partition = Partition { ordered: Vec::new(), others: Vec::new() };
        for item in items {
            let is_present = match merge_key {
                None => order.contains(&item),
                Some(key) => find(order, key, key_value(&item, key)?)?.is_some(),
            };
            if is_present { partition.ordered.push(item) } else { partition.others.push(item) }
        }
        Ok(partition)
    }
}

/// Puts the parts together: the ordered items as `order` has them, the others as `server` has them, and between each
/// other as in `server` as far as possible.
pub(crate) fn in_order(
    partition: Partition,
    order: &[Value],
    server: &[Value],
    merge_key: Option<&str>,
    items: Items,
) -> Result<Vec<Value>, StrategicError> {
    let ordered = sorted(partition.ordered, order, merge_key, items)?;
    let others = sorted(partition.others, server, merge_key, items)?;
    let key = if items == Items::Maps { merge_key } else { None };
    let mut all = Vec::with_capacity(ordered.len() + others.len());
    let mut ordered = ordered.into_iter().peekable();
    for other in others {
        let place = position(server, &other, key);
        while let Some(next) = ordered.peek() {
            let comes_first = match (place, position(server, next, key)) {
                (Some(place), Some(next)) => place < next,
                _ => false,
            };
            if comes_first {
                break;
            }
            all.extend(ordered.next());
        }
        all.push(other);
    }
    all.extend(ordered);
    Ok(all)
}

/// Sorts items by their place in `order`; those that it doesn't have come first, deletions last.
fn sorted(
    items: Vec<Value>,
    order: &[Value],
    merge_key: Option<&str>,
    kind: Items,
) -> Result<Vec<Value>, StrategicError> {
    let key = match (kind, merge_key) {
        (Items::Maps, Some(key)) => {
            for item in items.iter().chain(order) {
                key_value(item, key)?;
            }
            Some(key)
        }
        _ => None,
    };
    let (deletions, mut items): (Vec<Value>, Vec<Value>) = items.into_iter().partition(is_deletion);
    items.sort_by_key(|item| position(order, item, key).map_or(0, |index| index + 1));
    items.extend(deletions);
    Ok(items)
}

fn position(list: &[Value], item: &Value, key: Option<&str>) -> Option<usize> {
    match key {
        None => list.iter().position(|other| other == item),
        Some(key) => {
            let wanted = item.get(key)?;
            list.iter().position(|other| other.get(key) == Some(wanted))
        }
    }
}

/// Checks that the items of the patch are in the order that it sets. Errors: they aren't, or one isn't in the order.
pub(crate) fn check_order(patch: &[Value], order: &[Value], merge_key: Option<&str>) -> Result<(), StrategicError> {
    if patch.is_empty() || order.is_empty() {
        return Ok(());
    }
    let mut kept = patch.iter().filter(|item| merge_key.is_none() || !is_deletion(item)).peekable();
    let mut order_left = order.iter().peekable();
    // Once the order is at its end nothing may be left, not even a directive.
    while let (Some(item), Some(wanted)) = (kept.peek(), order_left.peek().copied()) {
        if has_directive(item) {
            kept.next();
            continue;
        }
        order_left.next();
        let is_same = match merge_key {
            None => *item == wanted,
            Some(key) => key_value(item, key)? == key_value(wanted, key)?,
        };
        if is_same {
            kept.next();
        }
    }
    if kept.peek().is_some() {
        return Err(StrategicError::Order { patch: patch.to_vec().into(), order: order.to_vec().into() });
    }
    Ok(())
}
