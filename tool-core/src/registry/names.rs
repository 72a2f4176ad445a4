//! A quick hash for the names of tools.
//!
//! The names in a registry are those of its program, so nobody can choose them to collide. A name
//! that a model makes up is looked for and never stored.

use std::hash::{BuildHasherDefault, Hasher};

pub(super) type NameHash = BuildHasherDefault<NameHasher>;

/// Takes eight bytes at a time, each time by a multiplication.
#[derive(Clone, Copy, Default)]
pub(super) struct NameHasher(u64);

impl NameHasher {
    fn add(&mut self, word: u64) {
        // Two to the 64th by the golden ratio, which spreads what is close together.
        const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(FACTOR);
    }
}

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        // The last word may hold bytes of the one before it; then their number tells how many.
        self.0 ^= bytes.len() as u64;
        if let Some(last) = bytes.last_chunk() {
            let (words, _) = bytes.as_chunks();
            for word in words {
                self.add(u64::from_be_bytes(*word));
            }
            self.add(u64::from_be_bytes(*last));
        } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
            let (first, last) = (u32::from_be_bytes(*first), u32::from_be_bytes(*last));
            self.add(u64::from(first) << 32 | u64::from(last));
        } else {
            let bytes = bytes.iter();
            self.add(bytes.fold(1, |word, &byte| word << 8 | u64::from(byte)));
        }
    }

    /// The end of a string, which the length that [`write`](Self::write) begins with shows already.
    fn write_u8(&mut self, _: u8) {}

    fn finish(&self) -> u64 {
        // The low bits choose the place, and a multiplication mixes upwards.
        self.0 ^ self.0 >> 32
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::BuildHasher;

    use super::*;

    #[test]
    fn names_that_are_nearly_alike_spread() {
        let hash = NameHash::default();
        let names: Vec<_> = (0..10_000)
            .map(|number| format!("search_{number}"))
            .collect();
        let whole: HashSet<_> = names.iter().map(|name| hash.hash_one(name)).collect();
        assert_eq!(whole.len(), names.len());
        // 10,000 balls in 16,384 places: chance fills some 7,500.
        let places: HashSet<_> = names
            .iter()
            .map(|name| hash.hash_one(name) % 16_384)
            .collect();
        assert!(places.len() > 7_000, "{}", places.len());
        let tags: HashSet<_> = names.iter().map(|name| hash.hash_one(name) >> 57).collect();
        assert_eq!(tags.len(), 128);
    }

    #[test]
    fn a_name_and_its_beginning_differ() {
        let hash = NameHash::default();
        let name = "a".repeat(64);
        let all: HashSet<_> = (0..=64).map(|end| hash.hash_one(&name[..end])).collect();
        assert_eq!(all.len(), 65);
    }
}
