//! [`Usage`]: the tokens that a response used.

use std::ops::Add;

/// The number of tokens that a response used, as the provider counts them.
///
/// ```
/// use serde_json::json;
/// use tool_core::dialect::Dialect;
/// use tool_dialects::Anthropic;
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
