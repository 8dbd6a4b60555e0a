use super::CelValue;
use super::digest::Places;

/// The keys and values of a map that an expression made, in the order in which they were given.
#[derive(Clone, Debug, Default)]
pub struct CelEntries<'a> {
    pairs: Vec<(CelValue<'a>, CelValue<'a>)>,
    places: Places,
}

impl<'a> CelEntries<'a> {
    /// Puts a value under a new key; false when the key is there already.
    pub fn insert(&mut self, key: CelValue<'a>, value: CelValue<'a>) -> bool {
        if self.find(&key).is_some() {
            return false;
        }
        self.places.add(self.pairs.len(), &key);
        self.pairs.push((key, value));
        true
    }

    /// How many keys there are.
    pub(crate) fn len(&self) -> usize {
        self.pairs.len()
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: &CelValue<'_>) -> Option<&CelValue<'a>> {
        self.pairs.get(self.find(key)?).map(|(_, value)| value)
    }

    /// The keys in order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &CelValue<'a>> {
        self.pairs.iter().map(|(key, _)| key)
    }

    fn find(&self, key: &CelValue<'_>) -> Option<usize> {
        self.places.find(key, |index| self.pairs.get(index).map(|(key, _)| key.clone()))
    }
}

impl<'a> FromIterator<(CelValue<'a>, CelValue<'a>)> for CelEntries<'a> {
    /// Of pairs with the same key the first one counts.
    fn from_iter<I: IntoIterator<Item = (CelValue<'a>, CelValue<'a>)>>(pairs: I) -> Self {
        let mut entries = Self::default();
        for (key, value) in pairs {
            entries.insert(key, value);
        }
        entries
    }
}
