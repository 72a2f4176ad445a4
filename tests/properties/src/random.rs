//! Reproducible random numbers: `SplitMix64`.

/// A random number generator.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator from a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Creates a separate generator for a named thing, so that adding another thing changes nothing
    /// for it.
    pub fn named(name: &str, seed: u64) -> Random {
        Random(Random::of_bytes(name.as_bytes()).0 ^ seed)
    }

    /// Creates a generator from bytes.
    pub fn of_bytes(bytes: &[u8]) -> Random {
        let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Random(hash)
    }

    /// Returns the next number.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// Returns a number below `end`, or 0.
    pub fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end.max(1)).unwrap_or(u64::MAX);
        usize::try_from(self.word() % end).unwrap_or(0)
    }

    /// Returns `true` with a chance of `chance` in a hundred.
    pub fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    /// Returns one of `things`.
    ///
    /// # Panics
    ///
    /// Panics if there are none.
    pub fn pick<'s, T>(&mut self, things: &'s [T]) -> &'s T {
        &things[self.below(things.len())]
    }
}
