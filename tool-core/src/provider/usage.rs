//! [`Usage`] and stop reasons, which providers put under different keys.

use std::ops::Add;

use serde_json::Value;

use super::response::find;

/// The number of tokens that a response used, as the provider counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "agent", derive(serde::Serialize, serde::Deserialize))]
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

    /// Reads the usage of a whole response.
    pub(crate) fn find(response: &Value) -> Option<Usage> {
        FORMATS.iter().find_map(|format| {
            let sum = |paths: &[&str]| {
                let counts = paths
                    .iter()
                    .filter_map(|path| find(response, path).as_u64());
                counts.fold(0, u64::saturating_add)
            };
            let is_this = !find(response, format.input[0]).is_null();
            is_this.then(|| Usage {
                input: sum(format.input),
                cached_input: sum(format.cached_input),
                output: sum(format.output),
            })
        })
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

/// The paths whose sums are the counts. The first path of `input` identifies the format.
struct Format {
    input: &'static [&'static str],
    cached_input: &'static [&'static str],
    output: &'static [&'static str],
}

/// From the reference documentation of each provider, as of 2026-11.
const FORMATS: [Format; 5] = [
    // OpenAI chat, Mistral, xAI.
    Format {
        input: &["usage.prompt_tokens"],
        cached_input: &["usage.prompt_tokens_details.cached_tokens"],
        output: &["usage.completion_tokens"],
    },
    // Gemini.
    Format {
        input: &[
            "usageMetadata.promptTokenCount",
            "usageMetadata.toolUsePromptTokenCount",
        ],
        cached_input: &["usageMetadata.cachedContentTokenCount"],
        output: &[
            "usageMetadata.candidatesTokenCount",
            "usageMetadata.thoughtsTokenCount",
        ],
    },
    // Bedrock, which counts tokens from a cache apart.
    Format {
        input: &[
            "usage.inputTokens",
            "usage.cacheReadInputTokens",
            "usage.cacheWriteInputTokens",
        ],
        cached_input: &["usage.cacheReadInputTokens"],
        output: &["usage.outputTokens"],
    },
    // Cohere.
    Format {
        input: &["usage.tokens.input_tokens"],
        cached_input: &["usage.cached_tokens"],
        output: &["usage.tokens.output_tokens"],
    },
    // Anthropic, which counts tokens from a cache apart, and OpenAI Responses, which does not.
    Format {
        input: &[
            "usage.input_tokens",
            "usage.cache_read_input_tokens",
            "usage.cache_creation_input_tokens",
        ],
        cached_input: &[
            "usage.cache_read_input_tokens",
            "usage.input_tokens_details.cached_tokens",
        ],
        output: &["usage.output_tokens"],
    },
];

/// Reads the reason why the model stopped.
pub(crate) fn stop_reason(response: &Value) -> Option<String> {
    const KEYS: [&str; 5] = [
        "stop_reason",
        "stopReason",
        "finish_reason",
        "incomplete_details.reason",
        "status",
    ];
    let candidates = [
        (&response["choices"][0], "finish_reason"),
        (&response["candidates"][0], "finishReason"),
    ];
    let keys = KEYS.iter().map(|key| (response, *key));
    let mut reasons = candidates.into_iter().chain(keys);
    reasons.find_map(|(holder, key)| find(holder, key).as_str().map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn usage_of_every_provider_is_read() {
        let usage = |input, cached_input, output| {
            Some(Usage {
                input,
                cached_input,
                output,
            })
        };
        for (response, expected) in [
            (json!({"choices": []}), None),
            (
                json!({"usage": {"prompt_tokens": 9, "completion_tokens": 2,
                    "prompt_tokens_details": {"cached_tokens": 4}}}),
                usage(9, 4, 2),
            ),
            (
                json!({"usage": {"input_tokens": 9, "output_tokens": 2,
                    "input_tokens_details": {"cached_tokens": 4}}}),
                usage(9, 4, 2),
            ),
            (
                json!({"usage": {"input_tokens": 5, "output_tokens": 2,
                    "cache_read_input_tokens": 3, "cache_creation_input_tokens": 1}}),
                usage(9, 3, 2),
            ),
            (
                json!({"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 2,
                    "thoughtsTokenCount": 5}}),
                usage(9, 0, 7),
            ),
            (
                json!({"usage": {"inputTokens": 9, "outputTokens": 2, "totalTokens": 11}}),
                usage(9, 0, 2),
            ),
            (
                json!({"usage": {"billed_units": {"input_tokens": 1},
                    "tokens": {"input_tokens": 9, "output_tokens": 2}}}),
                usage(9, 0, 2),
            ),
        ] {
            assert_eq!(Usage::find(&response), expected, "{response}");
        }
    }

    #[test]
    fn stop_reasons_of_every_provider_are_read() {
        for (response, expected) in [
            (
                json!({"choices": [{"finish_reason": "stop"}]}),
                Some("stop"),
            ),
            (json!({"stop_reason": "tool_use"}), Some("tool_use")),
            (json!({"stopReason": "end_turn"}), Some("end_turn")),
            (
                json!({"candidates": [{"finishReason": "STOP"}]}),
                Some("STOP"),
            ),
            (json!({"finish_reason": "COMPLETE"}), Some("COMPLETE")),
            (
                json!({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}),
                Some("max_output_tokens"),
            ),
            (
                json!({"status": "completed", "incomplete_details": null}),
                Some("completed"),
            ),
            (json!({}), None),
        ] {
            assert_eq!(stop_reason(&response).as_deref(), expected, "{response}");
        }
    }
}
