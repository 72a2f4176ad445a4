//! Sets of the properties and keys of an object that validation has seen.

use std::borrow::Cow;
use std::collections::HashSet;

/// A set of small numbers. Numbers below 64 need no allocation.
#[derive(Default)]
pub(crate) struct BitSet {
    first: u64,
    more: Vec<u64>,
}

impl BitSet {
    /// Inserts a number. Returns `true` if it was not in the set.
    #[inline]
    pub(crate) fn insert(&mut self, number: usize) -> bool {
        let word = match number / 64 {
            0 => &mut self.first,
            beyond => self.word_mut(beyond - 1),
        };
        let bit = 1 << (number % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    #[cold]
    fn word_mut(&mut self, index: usize) -> &mut u64 {
        if self.more.len() <= index {
            self.more.resize(index + 1, 0);
        }
        &mut self.more[index]
    }

    #[inline]
    pub(crate) fn contains(&self, number: usize) -> bool {
        let word = match number / 64 {
            0 => self.first,
            beyond => self.more.get(beyond - 1).copied().unwrap_or(0),
        };
        word & 1 << (number % 64) != 0
    }
}

/// The number of keys that are compared one by one before hashing pays off.
const FEW: usize = 16;

/// A set of keys that are not in the schema.
#[derive(Default)]
pub(crate) struct KeySet<'t> {
    few: Vec<Cow<'t, str>>,
    many: HashSet<Cow<'t, str>>,
}

impl<'t> KeySet<'t> {
    pub(crate) fn insert(&mut self, key: Cow<'t, str>) {
        if self.contains(&key) {
            return;
        }
        if self.few.len() < FEW {
            self.few.push(key);
        } else {
            self.many.insert(key);
        }
    }

    pub(crate) fn contains(&self, key: &str) -> bool {
        self.few.iter().any(|few| few == key) || self.many.contains(key)
    }

    pub(crate) fn len(&self) -> usize {
        self.few.len() + self.many.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_is_counted_once() {
        let mut keys = KeySet::default();
        for round in 0..2 {
            for number in 0..100 {
                let key = number.to_string();
                assert_eq!(keys.contains(&key), round == 1, "{key}");
                keys.insert(key.into());
            }
            assert_eq!(keys.len(), 100);
        }
    }

    #[test]
    fn each_number_is_new_once() {
        let mut set = BitSet::default();
        for number in [0, 63, 64, 200, 127, 1] {
            assert!(!set.contains(number));
            assert!(set.insert(number), "{number}");
            assert!(!set.insert(number), "{number}");
            assert!(set.contains(number));
        }
        for number in [2, 62, 65, 126, 128, 199, 201, 10_000] {
            assert!(!set.contains(number), "{number}");
        }
    }
}
