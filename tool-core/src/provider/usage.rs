//! [`Usage`]: the tokens that a response used.

use std::ops::Add;

use crate::provider::event::Json;

/// The number of tokens that a response used, as the provider counts them.
///
/// ```
/// use serde_json::json;
/// use tool_core::dialect::{Anthropic, Dialect};
///
/// let response = json!({"role": "assistant", "content": [],
///     "usage": {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 20}});
/// let usage = Anthropic::default().read(&response)?.usage.unwrap();
/// assert_eq!((usage.input, usage.cached_input, usage.output), (100, 90, 20));
/// assert_eq!((usage + usage).total(), 240);
/// # Ok::<(), tool_core::dialect::ResponseError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Usage {
    /// Tokens of the request, with those from a cache.
    pub input: u64,
    /// Tokens of the request that were read from a cache.
    pub cached_input: u64,
    /// Tokens of the response, with its reasoning.
    pub output: u64,
}

impl Usage {
    /// Returns the tokens of the request and of the response.
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

impl Add for Usage {
    type Output = Usage;

    fn add(self, other: Usage) -> Usage {
        Usage {
            input: self.input.saturating_add(other.input),
            cached_input: self.cached_input.saturating_add(other.cached_input),
            output: self.output.saturating_add(other.output),
        }
    }
}

/// Where the usage of a provider has its counts: each is the sum of what is at the paths. A usage
/// without the first path of the input has none.
pub(crate) struct Counts {
    pub(crate) input: &'static [&'static str],
    pub(crate) cached_input: &'static [&'static str],
    pub(crate) output: &'static [&'static str],
}

impl Counts {
    /// Reads an object with counts.
    pub(crate) fn read<'e>(&self, usage: impl Json<'e>) -> Option<Usage> {
        let find = |path: &str| path.split('.').fold(usage, Json::get);
        if usage.is_null() || find(self.input[0]).is_null() {
            return None;
        }
        let sum = |paths: &[&str]| {
            let counts = paths.iter().filter_map(|path| find(path).as_u64());
            counts.fold(0, u64::saturating_add)
        };
        Some(Usage {
            input: sum(self.input),
            cached_input: sum(self.cached_input),
            output: sum(self.output),
        })
    }
}
