//! [`Words`]: what is kept of an error that only its own thread may hold.

use std::error::Error;
use std::fmt;

use crate::call::panic_payload;

/// The most errors of one chain that are kept, since a chain may have no end.
const KEPT: usize = 32;

/// An error in its own words, with its sources behind it.
#[derive(Debug)]
pub(super) struct Words {
    text: String,
    source: Option<Box<Words>>,
}

impl Words {
    pub(super) fn of(error: &dyn Error) -> Words {
        Words::up_to(KEPT, error)
    }

    fn up_to(most: usize, error: &dyn Error) -> Words {
        let source = error.source().filter(|_| most > 1);
        Words {
            text: panic_payload::displayed(error),
            source: source.map(|source| Box::new(Words::up_to(most - 1, source))),
        }
    }
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for Words {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Its own source.
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
    fn a_chain_without_an_end_is_cut() {
        let words = Words::of(&Endless);
        let chain = std::iter::successors(Some(&words), |words| words.source.as_deref());
        assert_eq!(chain.count(), KEPT);
    }
}
