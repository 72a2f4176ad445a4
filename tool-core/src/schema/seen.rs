//! Which members of an object have come.

use std::borrow::Cow;
use std::collections::HashSet;

/// A set of small numbers. The first 64 need no memory of their own.
#[derive(Default)]
pub(crate) struct Seen {
    first: u64,
    more: Vec<u64>,
}

impl Seen {
    /// Adds a number and says whether it is new.
    #[inline]
    pub(crate) fn insert(&mut self, number: usize) -> bool {
        let word = match number / 64 {
            0 => &mut self.first,
            beyond => self.word(beyond - 1),
        };
        let bit = 1 << (number % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    #[cold]
    fn word(&mut self, index: usize) -> &mut u64 {
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

/// How many keys are compared one by one.
const FEW: usize = 16;

/// A set of keys that no schema knows.
#[derive(Default)]
pub(crate) struct Keys<'t> {
    few: Vec<Cow<'t, str>>,
    many: HashSet<Cow<'t, str>>,
}

impl<'t> Keys<'t> {
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
    fn a_key_counts_once_however_many_there_are() {
        let mut keys = Keys::default();
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
    fn a_number_is_new_once_however_great_it_is() {
        let mut seen = Seen::default();
        for number in [0, 63, 64, 200, 127, 1] {
            assert!(!seen.contains(number));
            assert!(seen.insert(number), "{number}");
            assert!(!seen.insert(number), "{number}");
            assert!(seen.contains(number));
        }
        for number in [2, 62, 65, 126, 128, 199, 201, 10_000] {
            assert!(!seen.contains(number), "{number}");
        }
    }
}
