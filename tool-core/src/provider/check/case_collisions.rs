//! Values of an enum that a provider may mix up.

use crate::schema::Strings;
use crate::schema::check::same;

/// Whether two values differ by the case of ASCII letters alone.
pub(crate) const fn has_case_collision(strings: Strings) -> bool {
    if strings.values.len() > FEW {
        return has_twins_among_many(strings);
    }
    let mut at = 1;
    while at < strings.values.len() {
        if has_twin_before(strings, at) {
            return true;
        }
        at += 1;
    }
    false
}

/// Up to how many values are compared each with each: most differ in length.
const FEW: usize = 16;

const fn has_twin_before(strings: Strings, at: usize) -> bool {
    let value = strings.values[at].as_str();
    let mut other = 0;
    while other < at {
        let other_value = strings.values[other].as_str();
        if value.len() == other_value.len()
            && same_folded(value, other_value)
            && !same(value, other_value)
        {
            return true;
        }
        other += 1;
    }
    false
}

/// Most values are told apart by one bit each. Comparing all pairs of a thousand values would trip
/// rustc's `long_running_const_eval`.
const fn has_twins_among_many(strings: Strings) -> bool {
    let mut bits = [0_u64; 64];
    let mut at = 0;
    while at < strings.values.len() {
        let bit = folded_hash(strings.values[at].as_str()) as usize % (64 * 64);
        let is_taken = bits[bit / 64] & (1 << (bit % 64)) != 0;
        bits[bit / 64] |= 1 << (bit % 64);
        if is_taken && has_twin_before(strings, at) {
            return true;
        }
        at += 1;
    }
    false
}

const fn same_folded(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut at = 0;
    while at < left.len() && at < right.len() {
        if !left[at].eq_ignore_ascii_case(&right[at]) {
            return false;
        }
        at += 1;
    }
    true
}

const fn folded_hash(text: &str) -> u32 {
    let bytes = text.as_bytes();
    let mut hash: u32 = 0x811C_9DC5;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at].to_ascii_lowercase() as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    hash ^ (hash >> 16)
}
