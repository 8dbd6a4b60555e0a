use super::Predicate;
use crate::event::Event;

/// See [`and`].
#[derive(Clone, Copy, Debug)]
pub struct And<A, B>(A, B);

/// See [`or`].
#[derive(Clone, Copy, Debug)]
pub struct Or<A, B>(A, B);

/// See [`not`].
#[derive(Clone, Copy, Debug)]
pub struct Not<P>(P);

/// Passes what both pass.
pub fn and<A, B>(a: A, b: B) -> And<A, B> {
    And(a, b)
}

/// Passes what either passes.
pub fn or<A, B>(a: A, b: B) -> Or<A, B> {
    Or(a, b)
}

/// Passes what `predicate` doesn't.
pub fn not<P>(predicate: P) -> Not<P> {
    Not(predicate)
}

impl<K, A: Predicate<K>, B: Predicate<K>> Predicate<K> for And<A, B> {
    fn test(&self, event: &Event<K>) -> bool {
        self.0.test(event) && self.1.test(event)
    }
}

impl<K, A: Predicate<K>, B: Predicate<K>> Predicate<K> for Or<A, B> {
    fn test(&self, event: &Event<K>) -> bool {
        self.0.test(event) || self.1.test(event)
    }
}

impl<K, P: Predicate<K>> Predicate<K> for Not<P> {
    fn test(&self, event: &Event<K>) -> bool {
        !self.0.test(event)
    }
}
