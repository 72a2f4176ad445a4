//! [`CallFormat`]: the form in which a family of models writes calls and reads results, as data.

use serde::de::IgnoredAny;
use serde_json::Value;
use tool_core::dialect::write::JsonWriter;
use tool_core::{Registry, ToolCall};

/// How a family of models writes calls and reads results in text; see [`Prompted`](crate::Prompted).
///
/// For a family that is not here, change what differs:
///
/// ```
/// use tool_dialects::CallFormat;
///
/// const OURS: CallFormat = CallFormat {
///     start: "<call>",
///     end: "</call>",
///     ..CallFormat::QWEN
/// };
/// # let _ = OURS;
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CallFormat {
    /// What starts a call. JSON follows: an object, or an array of them.
    pub start: &'static str,
    /// What ends a call, or the empty string if the JSON does.
    pub end: &'static str,
    /// The key of the arguments in a call. `arguments` and `parameters` are read in any case.
    pub arguments: &'static str,
    /// What stands between the name of a tool and its arguments, if a call may be written as these two.
    pub between: Option<&'static str>,
    /// Set if a call may come without its [start](CallFormat::start): as the whole response, or in a block of Markdown that
    /// starts with `` ```json ``. Other JSON stays text.
    pub is_bare: bool,
    /// Set if calls and tools are written as an array.
    pub is_array: bool,
    /// What stands before and behind the tools in the system prompt.
    pub tools: [&'static str; 2],
    /// The role of messages with results.
    pub role: &'static str,
    /// What stands before and behind a result.
    pub result: [&'static str; 2],
    /// The keys of a result that is an object: `name`, `content` and `call_id`. If there are none, it is the text.
    pub result_keys: &'static [&'static str],
}

impl CallFormat {
    /// Hermes of Nous Research, and models that were trained like it: `<tool_call>{…}</tool_call>` (the dataset
    /// `NousResearch/hermes-function-calling-v1`).
    pub const HERMES: CallFormat = CallFormat {
        start: "<tool_call>",
        end: "</tool_call>",
        arguments: "arguments",
        between: None,
        is_bare: false,
        is_array: false,
        tools: ["<tools>", "</tools>"],
        role: "tool",
        result: ["<tool_response>\n", "\n</tool_response>"],
        result_keys: &["name", "content"],
    };

    /// Qwen 2.5 and 3: the calls of Hermes, and results in a message of the user (the chat template of
    /// `Qwen/Qwen2.5-7B-Instruct`).
    pub const QWEN: CallFormat = CallFormat {
        role: "user",
        result_keys: &[],
        ..CallFormat::HERMES
    };

    /// Llama 3.1 and later: a JSON object as the whole response, or behind `<|python_tag|>` (the chat template of
    /// `meta-llama/Llama-3.1-8B-Instruct`). Servers write messages of the role `tool` as those of `ipython`.
    pub const LLAMA: CallFormat = CallFormat {
        start: "<|python_tag|>",
        end: ";",
        arguments: "parameters",
        between: None,
        is_bare: true,
        is_array: false,
        tools: ["", ""],
        role: "tool",
        result: ["", ""],
        result_keys: &[],
    };

    /// Mistral: `[TOOL_CALLS][{…}]`, or `[TOOL_CALLS]name[ARGS]{…}` (`mistral-common`, tokenizers of version 3 and 11). The
    /// results are in a message of the user, because templates reject one of the role `tool` without a call of the API.
    pub const MISTRAL: CallFormat = CallFormat {
        start: "[TOOL_CALLS]",
        end: "",
        arguments: "arguments",
        between: Some("[ARGS]"),
        is_bare: false,
        is_array: true,
        tools: ["[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"],
        role: "user",
        result: ["[TOOL_RESULTS]", "[/TOOL_RESULTS]"],
        result_keys: &["content", "call_id"],
    };

    /// Returns a grammar in the Lark format of llguidance: one call of these tools, with what stands around it, as text. vLLM
    /// and `SGLang` take it with their backend `guidance` or `llguidance`, llama.cpp if it was built with llguidance.
    ///
    /// An engine that takes a JSON Schema alone gets [`Registry::call_schema`]. What the model then writes has no start, so read
    /// it with [`is_bare`](CallFormat::is_bare).
    ///
    /// ```
    /// use tool_core::{Registry, tool, tools};
    /// use tool_dialects::CallFormat;
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![add]).build()?;
    /// let grammar = CallFormat::HERMES.grammar(&registry);
    /// assert!(grammar.starts_with("start: \"<tool_call>\" call \"</tool_call>\"\n"), "{grammar}");
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn grammar(&self, registry: &Registry) -> String {
        let schema = registry.call_schema_with(self.arguments);
        let [start, end] = if self.is_bare {
            [""; 2]
        } else {
            [self.start, self.end]
        };
        let [open, close] = if self.is_array { ["[", "]"] } else { [""; 2] };
        let [before, behind] = [[start, open], [close, end]].map(|parts| {
            let text = parts.concat();
            if text.is_empty() {
                text
            } else {
                Value::from(text).to_string()
            }
        });
        format!("start: {before} call {behind}\ncall: %json {schema}\n")
    }

    /// Writes calls as a model of the family does.
    pub(super) fn calls(&self, calls: &[ToolCall]) -> String {
        let start = if self.is_bare { "" } else { self.start };
        let json = calls.iter().map(|call| {
            let mut out = JsonWriter::new();
            out.object(|out| {
                out.key("name").string(&call.name);
                let text = call.arguments.text();
                match serde_json::from_str::<IgnoredAny>(&text) {
                    Ok(_) => out.key(self.arguments).raw(&text),
                    Err(_) => out.key(self.arguments).string(&text),
                };
                if self.result_keys.contains(&"call_id") {
                    out.key("id").string(&call.id);
                }
            });
            out.into_string()
        });
        let json: Vec<_> = json.collect();
        if self.is_array {
            return format!("{start}[{}]{}", json.join(","), self.end);
        }
        let calls = json.iter().map(|call| format!("{start}{call}{}", self.end));
        calls.collect::<Vec<_>>().join("\n")
    }
}
