//! What calls of Kubernetes' and cel-go's extension libraries cost at most (k8s.io/apiserver's `library/cost.go`, cel-go's
//! `ext`).

use cel::common::ast::{Expr, LiteralValue};

use super::node::{Call, Node};
use super::range::Estimate;
use super::{LIST_COST, REGEX_FACTOR, STRING_FACTOR};
use crate::cel::cel_type::CelType;

/// An authorization check costs so much that an expression can make two.
const CHECK_COST: u64 = 350_000;
/// The longest regular expression behind a named format.
const MAX_FORMAT_REGEX: f64 = 128.0;
/// The longest name of a format.
const MAX_FORMAT_SIZE: u64 = 64;
/// What one requirement of a selector costs: a list and a struct.
const REQUIREMENT_COST: f64 = 50.0;

/// What a call costs beyond its arguments, and how large its result is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CallCost {
    pub(super) cost: Estimate,
    pub(super) size: Option<Estimate>,
}

impl CallCost {
    pub(super) fn new(cost: Estimate) -> Self {
        Self { cost, size: None }
    }

    pub(super) fn sized(cost: Estimate, size: Estimate) -> Self {
        Self { cost, size: Some(size) }
    }
}

/// The cost of a call of cel-go's extension libraries; `None` when the call isn't one of them.
pub(super) fn extension(call: &Call<'_>) -> Option<CallCost> {
    let args = call.args.as_slice();
    match (call.overload, call.target.as_ref(), args) {
        ("list_sets_contains_list" | "list_sets_intersects_list", _, [left, right]) => Some(sets(left, right, 1.0)),
        ("list_sets_equivalent_list", _, [left, right]) => Some(sets(left, right, 2.0)),
        ("list_slice", Some(target), [start, end]) => {
            let start = literal(start).unwrap_or(0);
            let end = literal(end).unwrap_or(target.size().max);
            Some(new_list(1.0, Estimate::fixed(end.wrapping_sub(start))))
        }
        ("lists_range", None, [count]) => Some(new_list(1.0, Estimate::fixed(literal(count).unwrap_or(u64::MAX)))),
        ("list_reverse" | "list_flatten", Some(target), []) => Some(new_list(1.0, target.size())),
        ("list_flatten_int", Some(target), [depth]) => {
            #[expect(clippy::cast_precision_loss, reason = "cel-go computes costs in floats")]
            let depth = literal(depth).unwrap_or(u64::MAX) as f64;
            Some(new_list(depth, target.size()))
        }
        ("list_distinct", Some(target), []) => Some(new_list(2.0, target.size().times(target.size()))),
        (overload, Some(target), args) => sort(overload, target, args),
        _ => None,
    }
}

fn sets(left: &Node<'_>, right: &Node<'_>, factor: f64) -> CallCost {
    CallCost::new(left.size().times(right.size()).scaled(factor).plus(Estimate::fixed(1)))
}

fn sort(overload: &str, target: &Node<'_>, args: &[Node<'_>]) -> Option<CallCost> {
    let rest = overload.strip_prefix("list_")?;
    let (element, sorted) = match (rest.strip_suffix("_sort"), rest.strip_suffix("_sortByAssociatedKeys"), args) {
        (Some(element), _, []) => (element, target),
        (_, Some(element), [keys]) => (element, keys),
        _ => return None,
    };
    let factor = if matches!(element, "string" | "bytes") { 2.0 + STRING_FACTOR } else { 2.0 };
    Some(new_list(factor, sorted.size().times(sorted.size())))
}

/// The cost of a call that makes a list.
fn new_list(factor: f64, size: Estimate) -> CallCost {
    CallCost::sized(size.scaled(factor).plus(Estimate::fixed(1)).plus(Estimate::fixed(LIST_COST)), size)
}

/// A literal number; a negative one counts as zero.
fn literal(node: &Node<'_>) -> Option<u64> {
    match &node.expr?.expr {
        Expr::Literal(LiteralValue::Int(value)) => Some(u64::try_from(*value.inner()).unwrap_or(0)),
        _ => None,
    }
}

/// The cost of a call of Kubernetes' libraries; `None` when cel-go's own estimate holds.
pub(super) fn kubernetes(call: &Call<'_>) -> Option<CallCost> {
    let args = call.args.as_slice();
    let first = args.first();
    match call.function {
        "check" => Some(CallCost::new(Estimate::fixed(CHECK_COST))),
        "fieldSelector" | "labelSelector" => match args {
            [selector] => Some(CallCost::new(selector_cost(selector.size()))),
            _ => None,
        },
        "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" | "includes" => {
            call.target.as_ref().map(|target| traversal(call.function, target))
        }
        "url" | "jsonpatch.escapeKey" => match args {
            [text] => Some(CallCost::sized(text.size().scaled(STRING_FACTOR), text.size())),
            _ => None,
        },
        "lowerAscii" | "upperAscii" | "substring" | "trim" => {
            let size = call.target.as_ref()?.size();
            Some(CallCost::sized(size.scaled(STRING_FACTOR), size))
        }
        "replace" => match (&call.target, args) {
            (Some(target), [from, to, ..]) => Some(replace(target.size(), from.size(), to.size())),
            _ => None,
        },
        "split" => {
            let size = call.target.as_ref()?.size();
            let pieces = args.get(1).and_then(literal_int).unwrap_or(size.max);
            Some(CallCost::sized(size.scaled(2.0 * STRING_FACTOR), Estimate::between(0, pieces)))
        }
        "join" => call.target.as_ref().map(|target| join(target, first)),
        "find" | "findAll" => {
            let size = call.target.as_ref()?.size();
            let text = size.plus(Estimate::fixed(1)).scaled(STRING_FACTOR);
            let regex = first?.size().scaled(REGEX_FACTOR);
            Some(CallCost::sized(text.times(regex), Estimate::between(0, size.max)))
        }
        "ip" if call.overload == "cidr_ip" => Some(CallCost::new(Estimate::fixed(1))),
        "cidr" | "isIP" | "isCIDR" | "ip" | "quantity" | "isQuantity" | "semver" | "isSemver" => {
            first.map(|text| CallCost::new(text.size().scaled(STRING_FACTOR)))
        }
        "ip.isCanonical" => first.map(|text| CallCost::new(text.size().scaled(2.0 * STRING_FACTOR))),
        "containsIP" => first.map(|other| contains(call.overload == "cidr_contains_ip_string", false, other)),
        "containsCIDR" => first.map(|other| contains(call.overload == "cidr_contains_cidr_string", true, other)),
        "validate" => {
            first.map(|text| CallCost::new(text.size().scaled(STRING_FACTOR).scaled(MAX_FORMAT_REGEX * REGEX_FACTOR)))
        }
        "_==_" => equality(args),
        function if is_nominal(function) => Some(CallCost::new(Estimate::fixed(1))),
        _ => None,
    }
}

/// Whether a function only looks at what is there already.
fn is_nominal(function: &str) -> bool {
    const AUTHORIZER: [&str; 11] = [
        "serviceAccount",
        "path",
        "group",
        "resource",
        "subresource",
        "namespace",
        "name",
        "allowed",
        "reason",
        "error",
        "errored",
    ];
    const ADDRESSES: [&str; 8] = [
        "masked",
        "prefixLength",
        "family",
        "isUnspecified",
        "isLoopback",
        "isLinkLocalMulticast",
        "isLinkLocalUnicast",
        "isGlobalUnicast",
    ];
    const NUMBERS: [&str; 12] = [
        "sign",
        "asInteger",
        "isInteger",
        "asApproximateFloat",
        "isGreaterThan",
        "isLessThan",
        "compareTo",
        "add",
        "sub",
        "major",
        "minor",
        "patch",
    ];
    const URLS: [&str; 6] = ["getScheme", "getHostname", "getHost", "getPort", "getEscapedPath", "getQuery"];
    function == "format.named"
        || AUTHORIZER.contains(&function)
        || ADDRESSES.contains(&function)
        || NUMBERS.contains(&function)
        || URLS.contains(&function)
}

fn selector_cost(length: Estimate) -> Estimate {
    let requirements = length.scaled(0.5).scaled(REQUIREMENT_COST);
    Estimate::fixed(LIST_COST).plus(length.scaled(STRING_FACTOR)).plus(requirements)
}

/// Looking at each element of a list once, or at each character of a string.
fn traversal(function: &str, target: &Node<'_>) -> CallCost {
    let mut each = Estimate::fixed(1);
    let cost = if let Some(element) = target.element() {
        if matches!(element.cel_type, CelType::String | CelType::Bytes) {
            each = each.plus(element.size().scaled(STRING_FACTOR));
        }
        target.size().times(each)
    } else if function == "includes" {
        target.size().times(each)
    } else {
        target.size().scaled(STRING_FACTOR)
    };
    CallCost::new(cost)
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "cel-go computes costs in floats"
)]
fn replace(text: Estimate, from: Estimate, to: Estimate) -> CallCost {
    let pieces = |size: u64, piece: u64| (size as f64 / piece as f64).ceil() as u64;
    let (mut count, mut kept) = (Estimate::default(), Estimate::default());
    // An empty text is found around every character.
    if from.min == 0 {
        count.max = text.max.saturating_add(1);
        kept.max = text.max;
    } else if to.max <= from.min {
        kept.max = text.max;
    } else {
        count.max = pieces(text.max, from.min);
    }
    if from.max == 0 {
        count.min = text.min.saturating_add(1);
        kept.min = text.min;
    } else if from.max <= to.min {
        kept.min = text.min;
    } else {
        count.min = pieces(text.min, from.max);
    }
    CallCost::sized(text.scaled(2.0 * STRING_FACTOR), count.times(to).plus(kept))
}

fn literal_int(node: &Node<'_>) -> Option<u64> {
    match &node.expr?.expr {
        // As in Kubernetes a negative number counts as a very large one.
        Expr::Literal(LiteralValue::Int(value)) => Some(value.inner().cast_unsigned()),
        _ => None,
    }
}

fn join(list: &Node<'_>, separator: Option<&Node<'_>>) -> CallCost {
    let count = list.size();
    let mut size = list.element().map_or(Estimate::default(), |element| count.times(element.size()));
    if let Some(separator) = separator {
        let between = Estimate::between(count.min.saturating_sub(1), count.max.saturating_sub(1));
        size = size.plus(separator.size().times(between));
    }
    CallCost::sized(size.scaled(STRING_FACTOR), size)
}

fn contains(is_text: bool, is_network: bool, other: &Node<'_>) -> CallCost {
    let address = Estimate::between(4, 16);
    let mut cost = address.plus(address).scaled(STRING_FACTOR);
    if is_network {
        cost = cost.plus(address.scaled(STRING_FACTOR)).plus(Estimate::fixed(1));
    }
    if is_text {
        cost = cost.plus(other.size().scaled(STRING_FACTOR));
    }
    CallCost::new(cost)
}

/// Values of Kubernetes' own types are compared at once.
fn equality(args: &[Node<'_>]) -> Option<CallCost> {
    let [left, right] = args else { return None };
    if left.cel_type != right.cel_type {
        return None;
    }
    let CelType::Opaque(name) = left.cel_type else { return None };
    let cost = match name {
        "net.IP"
        | "net.CIDR"
        | "kubernetes.Quantity"
        | "kubernetes.Semver"
        | "kubernetes.authorization.Authorizer"
        | "kubernetes.authorization.PathCheck"
        | "kubernetes.authorization.GroupCheck"
        | "kubernetes.authorization.ResourceCheck"
        | "kubernetes.authorization.Decision" => Estimate::fixed(1),
        "kubernetes.NamedFormat" => Estimate::between(1, MAX_FORMAT_SIZE).scaled(STRING_FACTOR),
        "kubernetes.URL" => {
            let size = right.computed.map_or(1, |size| size.max);
            Estimate::between(1, size).scaled(STRING_FACTOR)
        }
        _ => return None,
    };
    Some(CallCost::new(cost))
}
