//! What a model's text and an operator's log share.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Six characters without those that are mistaken for others (Crockford's base 32).
#[derive(Debug)]
pub(super) struct Reference([u8; 6]);

impl Reference {
    /// Unlike in practice rather than secret: a process draws from its own random sequence.
    pub(super) fn new() -> Reference {
        const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
        static KEYS: OnceLock<RandomState> = OnceLock::new();
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let hash = KEYS.get_or_init(RandomState::new).hash_one(number);
        let bytes = hash.to_le_bytes();
        Reference(std::array::from_fn(|at| {
            ALPHABET[usize::from(bytes[at] & 31)]
        }))
    }

    pub(super) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("the alphabet is of ASCII")
    }
}
