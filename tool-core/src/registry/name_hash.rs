//! A fast hash function for tool names.
//!
//! The names in a registry come from its application, so nobody can choose colliding ones. Names
//! that a model makes up are looked up and never stored.

use std::hash::{BuildHasherDefault, Hasher};

pub(super) type NameHash = BuildHasherDefault<NameHasher>;

/// Hashes eight bytes per multiplication.
#[derive(Clone, Copy, Default)]
pub(super) struct NameHasher(u64);

impl NameHasher {
    fn add(&mut self, word: u64) {
        // 2⁶⁴ divided by the golden ratio, which spreads neighbouring values.
        const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(FACTOR);
    }
}

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        // The last word may overlap the one before it. Mixing in the length keeps names distinct.
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

    /// Ignores the terminator of a string, because [`write`](Self::write) hashes the length.
    fn write_u8(&mut self, _: u8) {}

    fn finish(&self) -> u64 {
        // The low bits select the bucket, but multiplications only mix upwards.
        self.0 ^ self.0 >> 32
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::BuildHasher;

    use super::*;

    #[test]
    fn similar_names_spread() {
        let hash = NameHash::default();
        let names: Vec<_> = (0..10_000)
            .map(|number| format!("search_{number}"))
            .collect();
        let hashes: HashSet<_> = names.iter().map(|name| hash.hash_one(name)).collect();
        assert_eq!(hashes.len(), names.len());
        // 10,000 random values in 16,384 buckets fill about 7,500 of them.
        let buckets: HashSet<_> = names
            .iter()
            .map(|name| hash.hash_one(name) % 16_384)
            .collect();
        assert!(buckets.len() > 7_000, "{}", buckets.len());
        let tags: HashSet<_> = names.iter().map(|name| hash.hash_one(name) >> 57).collect();
        assert_eq!(tags.len(), 128);
    }

    #[test]
    fn prefixes_of_a_name_differ() {
        let hash = NameHash::default();
        let name = "a".repeat(64);
        let all: HashSet<_> = (0..=64).map(|end| hash.hash_one(&name[..end])).collect();
        assert_eq!(all.len(), 65);
    }
}
