//! [`OwnedError`]: the texts of an error that can't leave its thread.

use std::error::Error;
use std::fmt;

use crate::call::panic_payload;

/// Limits the length of a copied chain, since a chain of sources may be endless.
const MAX_SOURCES: usize = 32;

/// The `Display` text of an error, and its source.
#[derive(Debug)]
pub(super) struct OwnedError {
    text: String,
    source: Option<Box<OwnedError>>,
}

impl OwnedError {
    pub(super) fn of(error: &dyn Error) -> OwnedError {
        OwnedError::up_to(MAX_SOURCES, error)
    }

    fn up_to(max: usize, error: &dyn Error) -> OwnedError {
        let source = error.source().filter(|_| max > 1);
        OwnedError {
            text: panic_payload::displayed(error),
            source: source.map(|source| Box::new(OwnedError::up_to(max - 1, source))),
        }
    }
}

impl fmt::Display for OwnedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for OwnedError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error that is its own source.
    #[derive(Debug)]
    struct Endless;

    impl fmt::Display for Endless {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("again")
        }
    }

    impl Error for Endless {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(self)
        }
    }

    #[test]
    fn an_endless_chain_is_truncated() {
        let error = OwnedError::of(&Endless);
        let chain = std::iter::successors(Some(&error), |error| error.source.as_deref());
        assert_eq!(chain.count(), MAX_SOURCES);
    }
}
