//! What a model's text and an operator's log share.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Six characters without those that are mistaken for others (Crockford's base 32).
#[derive(Debug)]
pub(crate) struct Reference([u8; 6]);

impl Reference {
    /// Unlike in practice rather than secret: a process begins at a random place of a sequence whose
    /// neighbours are far from each other.
    pub(crate) fn new() -> Reference {
        const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
        /// 2⁶⁴ by the golden ratio.
        const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
        static FIRST: OnceLock<u64> = OnceLock::new();
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let first = FIRST.get_or_init(|| RandomState::new().hash_one(0));
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let place = first.wrapping_add(number.wrapping_mul(STEP));
        // By the highest bits, in which the places differ.
        Reference(std::array::from_fn(|at| {
            ALPHABET[(place >> (59 - 5 * at) & 31) as usize]
        }))
    }

    pub(crate) fn characters(&self) -> impl Iterator<Item = char> {
        self.0.iter().copied().map(char::from)
    }

    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("the alphabet is of ASCII")
    }
}
