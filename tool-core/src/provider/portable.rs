//! The portable rules: what every provider accepts. They are always on.

use crate::provider::profile::Profile;
use crate::provider::rule::{Rule, Source};
use crate::schema::Strings;
use crate::schema::const_check::same;

const STRICTEST: Source = Source::new("the tightest of the rules of all providers", "2026-11");

const TOOL_NAME: Rule = Rule::pattern(
    "portable.tool_name",
    "^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$",
    STRICTEST,
);
const PARAM_NAME: Rule = Rule::pattern(
    "portable.param_name",
    "^[a-zA-Z_][a-zA-Z0-9_]{0,63}$",
    STRICTEST,
);

const NO_MEMBERS: Rule = Rule::new("portable.no_members", STRICTEST);
const ENUM_CASE: Rule = Rule::new("portable.enum_case", STRICTEST);

pub(crate) const PROFILE: Profile = Profile {
    rules: &[&TOOL_NAME, &PARAM_NAME, &NO_MEMBERS, &ENUM_CASE],
    ..Profile::EMPTY
};

/// A broken portable rule: the mistake and the advice.
pub(crate) struct Problem {
    pub(crate) rule: &'static Rule,
    pub(crate) text: &'static str,
    pub(crate) remedy: &'static str,
}

pub(crate) const KEY: Problem = Problem {
    rule: &PARAM_NAME,
    text: "this key is not valid for every provider",
    remedy: "use an ASCII letter or `_`, then at most 63 ASCII letters, digits or `_`",
};
pub(crate) const EMPTY: Problem = Problem {
    rule: &NO_MEMBERS,
    text: "an enum or union without members accepts no value",
    remedy: "add a member, or remove the parameter",
};
pub(crate) const CASE_COLLISION: Problem = Problem {
    rule: &ENUM_CASE,
    text: "two values of this enum differ only by case, which some providers change",
    remedy: "rename one of them",
};

/// The characters that a kind of name may have.
#[derive(Clone, Copy)]
pub(crate) enum Grammar {
    Tool,
    Key,
    /// [`Construct::UnusualKey`](crate::provider::profile::Construct::UnusualKey).
    MapKey,
}

/// Returns `true` if `name` has 1 to 64 characters, all of them allowed by the grammar.
///
/// `tool-macros` has the same check for the names that it sees; `tests/names.rs` compares the two.
pub(crate) const fn is_name(name: &str, grammar: Grammar) -> bool {
    let bytes = name.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let is_allowed = match (bytes[at], grammar) {
            (b'a'..=b'z' | b'A'..=b'Z' | b'_', _) => true,
            (b'0'..=b'9', Grammar::Key) | (b'0'..=b'9' | b'-', Grammar::Tool) => at > 0,
            (b'0'..=b'9' | b'.' | b'-', Grammar::MapKey) => true,
            _ => false,
        };
        if !is_allowed {
            return false;
        }
        at += 1;
    }
    !bytes.is_empty() && bytes.len() <= 64
}

/// Returns `true` if every provider accepts `name` as the name of a tool.
pub(crate) const fn is_tool_name(name: &str) -> bool {
    is_name(name, Grammar::Tool)
}

/// Shortens a valid name and adds a suffix that depends on `original` only, so that two names stay different.
///
/// ```
/// use tool_core::dialect::write::with_suffix;
///
/// let name = with_suffix("read_page", "read page");
/// assert!(name.starts_with("read_page_") && name.len() == 18);
/// assert_ne!(name, with_suffix("read_page", "read-page"));
/// ```
pub fn with_suffix(name: &str, original: &str) -> String {
    // FNV-1a. Valid names are ASCII.
    let hash = original
        .bytes()
        .fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3)
        });
    format!(
        "{}_{:08x}",
        &name[..name.len().min(55)],
        (hash ^ (hash >> 32)) & 0xFFFF_FFFF
    )
}

/// Returns `true` if every provider accepts `name` as a key of an object.
pub(crate) const fn is_param_name(name: &str) -> bool {
    is_name(name, Grammar::Key)
}

/// Returns `true` if two values differ only by the case of ASCII letters.
pub(crate) const fn has_case_collision(strings: Strings) -> bool {
    // One bit per value rules out most pairs. Comparing all pairs of a thousand values would
    // trigger rustc's `long_running_const_eval`.
    let is_large = strings.values.len() > MAX_PAIRWISE;
    let mut bits = [0_u64; 64];
    let mut at = 0;
    while at < strings.values.len() {
        let mut may_collide = true;
        if is_large {
            let bit = folded_hash(strings.values[at].as_str()) as usize % (64 * 64);
            may_collide = bits[bit / 64] & (1 << (bit % 64)) != 0;
            bits[bit / 64] |= 1 << (bit % 64);
        }
        if may_collide && collides_with_earlier(strings, at) {
            return true;
        }
        at += 1;
    }
    false
}

/// The number of values up to which all pairs are compared: most differ in length.
const MAX_PAIRWISE: usize = 16;

const fn collides_with_earlier(strings: Strings, at: usize) -> bool {
    let value = strings.values[at].as_str();
    let mut other = 0;
    while other < at {
        let earlier = strings.values[other].as_str();
        if value.len() == earlier.len() && same_folded(value, earlier) && !same(value, earlier) {
            return true;
        }
        other += 1;
    }
    false
}

/// Compares strings of equal length.
const fn same_folded(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut at = 0;
    while at < left.len() {
        if !left[at].eq_ignore_ascii_case(&right[at]) {
            return false;
        }
        at += 1;
    }
    true
}

/// FNV-1a of the text in lower case.
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
