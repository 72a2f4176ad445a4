//! [`Reference`]: finds the entry of a message in the log.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Connects a message for a user or a model with an entry in the log: six characters that can be read aloud.
///
/// A [`ToolError`](crate::ToolError) has [one](crate::ToolError::id). Create one for other errors whose cause only the operator
/// may see.
///
/// ```
/// use tool_core::call::Reference;
///
/// let reference = Reference::unique();
/// eprintln!("[{reference}] 10.0.0.7 refused the connection");
/// let shown = format!("the shop is closed; please say {reference} when you call us");
/// assert!(shown.contains(reference.as_str()));
/// ```
// Of Crockford's base 32, which omits characters that are easily confused.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub struct Reference([u8; 6]);

#[cfg(feature = "serde")]
impl From<Reference> for String {
    fn from(reference: Reference) -> String {
        reference.as_str().into()
    }
}

#[cfg(feature = "serde")]
impl TryFrom<String> for Reference {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Reference, &'static str> {
        let bytes = text.as_bytes().try_into();
        match bytes.map(Reference) {
            Ok(reference) if text.bytes().all(|byte| byte.is_ascii_alphanumeric()) => Ok(reference),
            _ => Err("not the reference of an error"),
        }
    }
}

impl Reference {
    pub(super) const SUFFIX_LEN: usize = " [ref ABC123]".len();

    /// Creates a reference that is unique in practice, but not secret: a process starts at a random
    /// point of a sequence whose neighbours differ widely.
    pub fn unique() -> Reference {
        const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
        /// 2⁶⁴ divided by the golden ratio.
        const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
        static START: OnceLock<u64> = OnceLock::new();
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let start = START.get_or_init(|| RandomState::new().hash_one(0));
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let point = start.wrapping_add(number.wrapping_mul(STEP));
        // From the highest bits, in which neighbours differ.
        Reference(std::array::from_fn(|at| {
            ALPHABET[(point >> (59 - 5 * at) & 31) as usize]
        }))
    }

    /// Returns the text after a reference at the start of `text`.
    pub(super) fn strip(text: &str) -> Option<&str> {
        let (reference, rest) = text.strip_prefix(" [ref ")?.split_once(']')?;
        let is_reference = reference.len() == 6
            && reference
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
        is_reference.then_some(rest)
    }

    pub(super) fn append_to(&self, message: &mut String) {
        message.push_str(" [ref ");
        message.extend(self.0.iter().copied().map(char::from));
        message.push(']');
    }

    /// Returns the six characters.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("the alphabet is ASCII")
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
