//! The fields of a request, apart from the conversation: what servers of chat completions reject in them, by their names.

use serde_json::Value;

use crate::shared::Checked;

/// What a server takes besides messages.
struct Fields {
    server: &'static str,
    /// The types of `response_format`.
    formats: &'static [&'static str],
    /// Set if `response_format` and `tools` may come together. A server that ignores the tools then is one that may not:
    /// its model calls none.
    formats_with_tools: bool,
    /// Set if JSON as a format needs the word in a message.
    needs_word: bool,
    has_tools: bool,
    /// The words of `tool_choice` besides `auto` and `none`.
    choices: &'static [&'static str],
    /// Set if `tool_choice` may name a tool.
    has_named_choice: bool,
    /// Set if a message may have other parts than text.
    has_media: bool,
    /// The top-level keys that are rejected.
    unknown: &'static [&'static str],
    /// Keys of a function that are rejected, or no promise: only some servers document `strict`.
    unknown_in_tools: &'static [&'static str],
}

const ALL_FORMATS: &[&str] = &["text", "json_object", "json_schema"];

const fn of(server: &'static str) -> Fields {
    Fields {
        server,
        formats: ALL_FORMATS,
        formats_with_tools: true,
        needs_word: true,
        has_tools: true,
        choices: &["required"],
        has_named_choice: true,
        has_media: true,
        unknown: &[],
        unknown_in_tools: &["strict"],
    }
}

const SERVERS: &[Fields] = &[
    // openai/openai-openapi@f85dbe2, CreateChatCompletionRequest (2026-08-21)
    Fields {
        unknown_in_tools: &[],
        ..of("openai")
    },
    Fields {
        unknown_in_tools: &[],
        ..of("azure")
    },
    // The name of the deployment is in the path.
    Fields {
        unknown: &["model"],
        unknown_in_tools: &[],
        ..of("azure-deployment")
    },
    Fields {
        unknown_in_tools: &[],
        ..of("openrouter")
    },
    of("litellm"),
    // pydantic_ai 2.68.0, providers/deepseek.py (2026-11): "This response_format type is unavailable now"; a recorded response
    // of 2026: "Thinking mode does not support this tool_choice", and "unknown variant `image_url`, expected `text`";
    // api-docs.deepseek.com, "JSON Output" (2026): the prompt has the word
    Fields {
        formats: &["text", "json_object"],
        choices: &[],
        has_named_choice: false,
        has_media: false,
        ..of("deepseek")
    },
    // console.groq.com/docs/structured-outputs (2026): "Streaming and tool use are not currently supported with Structured
    // Outputs"
    Fields {
        formats_with_tools: false,
        ..of("groq")
    },
    // BerriAI/litellm#31445 (2026-06-26): "tools" is incompatible with "response_format"
    Fields {
        formats_with_tools: false,
        unknown_in_tools: &[],
        ..of("cerebras")
    },
    // pipecat-ai/pipecat#4862 (2026-06-23): "Tool calling is not supported for this model"; 567-labs/instructor#1005
    // (2024-09-18): `type` is `text`, `json_schema` or `regex`
    Fields {
        formats: &["text", "json_schema", "regex"],
        has_tools: false,
        unknown: &["tool_choice", "parallel_tool_calls"],
        ..of("perplexity")
    },
    // continuedev/continue#12936 (2026-07-07): json: unknown field "stream_options"
    Fields {
        unknown: &["stream_options"],
        ..of("databricks")
    },
    // UKGovernmentBEIS/inspect_ai#5152 (2026-08-31): "tool_choice 'required' is incompatible with thinking enabled", and
    // 'specified'; rig-core 0.44.0, MOONSHOT (2026-11): it rejects `json_schema`
    Fields {
        formats: &["text", "json_object"],
        choices: &[],
        has_named_choice: false,
        ..of("moonshot")
    },
    // litellm 1.110.2, llms/zai (2026-11): most models take no schema
    Fields {
        formats: &["text", "json_object"],
        ..of("zai")
    },
    // plastic-labs/honcho#663 (2026-06-23): "'messages' must contain the word 'json'"
    Fields {
        formats: &["text", "json_object"],
        ..of("qwen")
    },
    // 567-labs/instructor#2260 (2026-04-12): it has no `response_format`
    Fields {
        formats: &[],
        ..of("minimax")
    },
    // ollama/ollama#13750 (2026-01-16): with a format, the model calls no tool
    Fields {
        formats_with_tools: false,
        needs_word: false,
        ..of("ollama")
    },
    // modelship-ai/modelship#71 (2026-05-22): a grammar excludes calls
    Fields {
        formats_with_tools: false,
        needs_word: false,
        ..of("llama-cpp")
    },
    // llama-cpp-python 0.3.36, tried (2026-11): `tool_choice` is `auto`, `none` or names a tool; modelship-ai/modelship#71: it
    // drops a schema
    Fields {
        formats: &["text", "json_object"],
        formats_with_tools: false,
        needs_word: false,
        choices: &[],
        ..of("llama-cpp-python")
    },
    // willmiao/ComfyUI-Lora-Manager#1033 (2026-07-23): "'response_format.type' must be 'json_schema' or 'text'"
    Fields {
        formats: &["text", "json_schema"],
        formats_with_tools: false,
        ..of("lm-studio")
    },
    // vllm-project/vllm#39929 (2026-04-15): with a format, the model calls no tool
    Fields {
        formats_with_tools: false,
        needs_word: false,
        ..of("vllm")
    },
    Fields {
        formats_with_tools: false,
        needs_word: false,
        ..of("sglang")
    },
    of("together"),
    of("fireworks"),
    of("venice"),
    of("doubleword"),
];

/// Checks the fields of a request to a server of chat completions, by its name: what it rejects, with a status of 400, or
/// does not do.
///
/// ```
/// use serde_json::json;
///
/// let request = json!({"messages": [], "response_format": {"type": "json_schema"}});
/// let error = strict::check_fields("deepseek", &request).unwrap_err();
/// assert_eq!(error, "response_format: the type json_schema is unavailable");
/// assert_eq!(strict::check_fields("groq", &request), Ok(()));
/// ```
///
/// # Errors
///
/// Returns the first fault with its place, or that the server is unknown here.
pub fn check_fields(server: &str, request: &Value) -> Result<(), String> {
    let fields = SERVERS.iter().find(|fields| fields.server == server);
    let Some(fields) = fields else {
        return Err(format!("there are no rules of the server {server}"));
    };
    // Every server: openai/openai-openapi@f85dbe2 (2026-08-21)
    for (key, value) in request.as_object().into_iter().flatten() {
        if value.is_null() {
            return Err(format!("{key}: it is null"));
        }
        if fields.unknown.contains(&&**key) {
            return Err(format!("unknown field {key:?}"));
        }
    }
    let tools = request["tools"].as_array().map_or(0, Vec::len);
    tools_of(fields, request, tools)?;
    format_of(fields, request, tools)?;
    let parts = request["messages"].as_array().into_iter().flatten();
    let parts = parts.filter_map(|message| message["content"].as_array());
    match parts.flatten().find(|part| part["type"] != "text") {
        Some(part) if !fields.has_media => Err(format!(
            "messages: unknown variant {}, expected `text`",
            part["type"]
        )),
        _ => Ok(()),
    }
}

fn tools_of(fields: &Fields, request: &Value, tools: usize) -> Checked {
    if tools > 0 && !fields.has_tools {
        return Err("tools: tool calling is not supported".into());
    }
    for tool in request["tools"].as_array().into_iter().flatten() {
        let mut keys = fields.unknown_in_tools.iter();
        if let Some(key) = keys.find(|key| !tool["function"][**key].is_null()) {
            return Err(format!("tools: the property {key} is unsupported"));
        }
    }
    let choice = &request["tool_choice"];
    if !choice.is_null() && tools == 0 {
        return Err("tool_choice: it is only allowed with tools".into());
    }
    match choice {
        Value::Null => Ok(()),
        Value::String(word) if ["auto", "none"].contains(&&**word) => Ok(()),
        Value::String(word) if fields.choices.contains(&&**word) => Ok(()),
        Value::Object(_) if fields.has_named_choice && choice["type"] == "function" => Ok(()),
        other => Err(format!("tool_choice: it does not support {other}")),
    }
}

fn format_of(fields: &Fields, request: &Value, tools: usize) -> Checked {
    let format = &request["response_format"];
    if format.is_null() {
        return Ok(());
    }
    let kind = format["type"].as_str().unwrap_or_default();
    if !fields.formats.contains(&kind) {
        return Err(format!("response_format: the type {kind} is unavailable"));
    }
    if tools > 0 && !fields.formats_with_tools {
        return Err("response_format: it is incompatible with tools".into());
    }
    let has_word = || {
        let messages = request["messages"].to_string();
        messages.to_lowercase().contains("json")
    };
    if kind == "json_object" && fields.needs_word && !has_word() {
        return Err("messages: they must contain the word 'json'".into());
    }
    Ok(())
}
