//! A fast hash function for tool names.
//!
//! The names may come from elsewhere, such as a server of the Model Context Protocol. The process
//! hashes with secret random numbers, so that nobody can choose names that collide.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::OnceLock;

/// The secret of a table.
#[derive(Clone, Copy)]
pub(super) struct NameHash {
    seed: u64,
    /// Odd.
    factor: u64,
}

impl Default for NameHash {
    fn default() -> NameHash {
        static SECRET: OnceLock<NameHash> = OnceLock::new();
        *SECRET.get_or_init(|| {
            let random = RandomState::new();
            NameHash {
                seed: random.hash_one(0),
                factor: random.hash_one(1) | 1,
            }
        })
    }
}

impl BuildHasher for NameHash {
    type Hasher = NameHasher;

    #[inline]
    fn build_hasher(&self) -> NameHasher {
        NameHasher {
            state: self.seed,
            factor: self.factor,
        }
    }
}

/// Hashes eight bytes per multiplication.
#[derive(Clone, Copy)]
pub(super) struct NameHasher {
    state: u64,
    factor: u64,
}

impl NameHasher {
    fn add(&mut self, word: u64) {
        // Both halves of the product, so that every bit depends on every bit of the secret.
        let product = u128::from(self.state ^ word) * u128::from(self.factor);
        #[allow(clippy::cast_possible_truncation)] // The two halves.
        let (low, high) = (product as u64, (product >> 64) as u64);
        self.state = low ^ high;
    }
}

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        // The last word may overlap the one before it. Mixing in the length keeps names distinct.
        self.state ^= bytes.len() as u64;
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
        self.state
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
    fn names_chosen_to_collide_spread_in_another_process() {
        let known = NameHash {
            seed: 0,
            factor: 0x9E37_79B9_7F4A_7C15,
        };
        let bucket = |hash: NameHash, name: &String| hash.hash_one(name) % 1024;
        let names = (0..2_000_000).map(|number| format!("get_{number}"));
        let chosen: Vec<_> = names.filter(|name| bucket(known, name) == 0).collect();
        let hash = NameHash::default();
        let buckets: HashSet<_> = chosen.iter().map(|name| bucket(hash, name)).collect();
        assert!(chosen.len() > 1_000 && buckets.len() > 700);
    }

    #[test]
    fn prefixes_of_a_name_differ() {
        let hash = NameHash::default();
        let name = "a".repeat(64);
        let all: HashSet<_> = (0..=64).map(|end| hash.hash_one(&name[..end])).collect();
        assert_eq!(all.len(), 65);
    }
}
