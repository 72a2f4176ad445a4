//! The servers. A row has only what differs.
//!
//! Sources with a version are read in that version: Pydantic AI 2.68.0 and litellm 1.110.2 (Python), rig-core 0.44.0 (Rust), all
//! of 2026-11. The recordings are the responses of real servers in the tests of rig (0xPlaygrounds/rig@b75850e8,
//! `tests/cassettes`); a row names the folder.

use tool_core::dialect::AnswerWay;
use tool_core::dialect::write::{HttpApi, Streaming};

use super::Server;
use crate::provider::openai::{chat, responses};
use crate::provider::{anthropic, bedrock, cohere, gemini, mistral, xai};
use crate::{
    Anthropic, Bedrock, ChatRules, Cohere, Gemini, Mistral, OpenAiChat, OpenAiResponses, XAi,
};

/// All rows: the providers with formats of their own, then servers of chat completions, then programs on the user's machine
/// and proxies.
pub(super) const ALL: &[Server] = &[
    OPENAI,
    OPENAI_RESPONSES,
    ANTHROPIC,
    GEMINI,
    MISTRAL,
    COHERE,
    XAI,
    XAI_RESPONSES,
    BEDROCK,
    VERTEX,
    VERTEX_ANTHROPIC,
    AZURE,
    AZURE_DEPLOYMENT,
    OPENROUTER,
    DEEPSEEK,
    GROQ,
    TOGETHER,
    FIREWORKS,
    CEREBRAS,
    PERPLEXITY,
    DATABRICKS,
    MOONSHOT,
    ZAI,
    QWEN,
    MINIMAX,
    VENICE,
    DOUBLEWORD,
    OLLAMA,
    LLAMA_CPP,
    LLAMA_CPP_PYTHON,
    LM_STUDIO,
    VLLM,
    SGLANG,
    LITELLM,
];

const NOT_TRIED: &str = "not tried";

/// An API like OpenAI's.
const fn imitation(
    name: &'static str,
    provider: &'static str,
    base_url: &'static str,
    key_variables: &'static [&'static str],
) -> HttpApi {
    HttpApi {
        name,
        streaming: chat::HTTP_API.streaming,
        key_variables,
        ..HttpApi::new(provider, base_url)
    }
}

/// OpenAI's chat completions.
pub const OPENAI: Server = Server {
    dialect: &OpenAiChat::with(ChatRules::OPENAI),
    api: HttpApi {
        name: "openai",
        ..chat::HTTP_API
    },
    telemetry_name: "openai",
    sources: "openai/openai-openapi@f85dbe2, openapi.json 2.3.0 (2026-08-21)",
    tried: "recordings: openai",
};

/// OpenAI's Responses API.
pub const OPENAI_RESPONSES: Server = Server {
    dialect: OpenAiResponses::NAMED[0].dialect,
    api: HttpApi {
        name: "openai-responses",
        ..responses::HTTP_API
    },
    ..OPENAI
};

/// Anthropic's Messages API.
pub const ANTHROPIC: Server = Server {
    dialect: Anthropic::NAMED[0].dialect,
    api: HttpApi {
        name: "anthropic",
        ..anthropic::HTTP_API
    },
    telemetry_name: "anthropic",
    sources: "anthropic 2.12.0 (Python) (2026-11)",
    tried: "recordings: anthropic",
};

/// Google's Gemini API.
pub const GEMINI: Server = Server {
    dialect: Gemini::NAMED[0].dialect,
    api: HttpApi {
        name: "gemini",
        ..gemini::HTTP_API
    },
    telemetry_name: "gcp.gemini",
    sources: "google-genai 3.4.0 (Python) (2026-11)",
    tried: "recordings: gemini",
};

/// Mistral's chat completions.
pub const MISTRAL: Server = Server {
    dialect: Mistral::NAMED[0].dialect,
    api: HttpApi {
        name: "mistral",
        ..mistral::HTTP_API
    },
    telemetry_name: "mistral_ai",
    sources: "mistralai 3.7.0 (Python) (2026-11)",
    tried: "recordings: mistral",
};

/// Cohere's Chat API, version 2.
pub const COHERE: Server = Server {
    dialect: Cohere::NAMED[0].dialect,
    api: HttpApi {
        name: "cohere",
        ..cohere::HTTP_API
    },
    telemetry_name: "cohere",
    sources: "docs.cohere.com, Chat API v2 (2026)",
    tried: "recordings: cohere",
};

/// xAI's chat completions.
pub const XAI: Server = Server {
    dialect: XAi::NAMED[0].dialect,
    api: HttpApi {
        name: "xai",
        ..xai::HTTP_API
    },
    telemetry_name: "x_ai",
    sources: "docs.x.ai (2026); pydantic_ai 2.68.0, providers/xai.py",
    tried: NOT_TRIED,
};

/// xAI's Responses API, in OpenAI's format.
pub const XAI_RESPONSES: Server = Server {
    dialect: OpenAiResponses::NAMED[0].dialect,
    api: HttpApi {
        name: "xai-responses",
        key_variables: xai::HTTP_API.key_variables,
        base_url: xai::HTTP_API.base_url,
        provider: xai::HTTP_API.provider,
        ..responses::HTTP_API
    },
    tried: "recordings: xai",
    ..XAI
};

/// Amazon Bedrock's Converse API, with a key of Bedrock, or with credentials of AWS by the feature `bedrock` of `tool-agent`.
pub const BEDROCK: Server = Server {
    dialect: Bedrock::NAMED[0].dialect,
    api: HttpApi {
        name: "bedrock",
        ..bedrock::HTTP_API
    },
    telemetry_name: "aws.bedrock",
    sources: "botocore 1.43, bedrock-runtime/2023-09-30 (2026-11)",
    tried: "recordings: bedrock",
};

/// Gemini's models on Google's Vertex AI, in `GOOGLE_CLOUD_LOCATION`. Tokens expire after an hour: use `HttpModel::key_with`.
pub const VERTEX: Server = Server {
    dialect: Gemini::NAMED[0].dialect,
    api: HttpApi {
        name: "vertex",
        provider: "Vertex AI",
        base_url: "https://{GOOGLE_CLOUD_LOCATION}-aiplatform.googleapis.com/v1/projects/{GOOGLE_CLOUD_PROJECT}/locations/{GOOGLE_CLOUD_LOCATION}/publishers/google",
        key_variables: &["GOOGLE_ACCESS_TOKEN"],
        key_header: "authorization",
        ..gemini::HTTP_API
    },
    telemetry_name: "gcp.vertex_ai",
    sources: "google-genai 3.4.0 (Python) (2026-11); genai 0.7.2 (Rust), adapters/vertex",
    tried: NOT_TRIED,
};

/// Anthropic's models on Google's Vertex AI, in `GOOGLE_CLOUD_LOCATION`. Tokens expire after an hour: use `HttpModel::key_with`.
pub const VERTEX_ANTHROPIC: Server = Server {
    dialect: Anthropic::NAMED[0].dialect,
    api: HttpApi {
        name: "vertex-anthropic",
        provider: "Anthropic on Vertex AI",
        base_url: "https://{GOOGLE_CLOUD_LOCATION}-aiplatform.googleapis.com/v1/projects/{GOOGLE_CLOUD_PROJECT}/locations/{GOOGLE_CLOUD_LOCATION}/publishers/anthropic",
        path: &["models", "{model}:rawPredict"],
        streaming: Streaming::Path {
            path: &["models", "{model}:streamRawPredict"],
            query: &[],
            fields: r#"{"stream":true}"#,
        },
        key_variables: &["GOOGLE_ACCESS_TOKEN"],
        key_header: "authorization",
        headers: &[],
        fields: r#"{"anthropic_version":"vertex-2023-10-16"}"#,
        has_model: false,
        ..anthropic::HTTP_API
    },
    telemetry_name: "gcp.vertex_ai",
    sources: "anthropic 2.12.0 (Python), lib/vertex (2026-11)",
    tried: NOT_TRIED,
};

/// OpenAI's models on Azure, with the API `v1`: `AZURE_OPENAI_ENDPOINT` is the URL of the resource, and the model is the
/// name of a deployment. For a token of Entra, use `HttpModel::without_key` and `HttpModel::header_with`.
pub const AZURE: Server = Server {
    dialect: &OpenAiChat::with(ChatRules::OPENAI),
    api: HttpApi {
        name: "azure",
        provider: "Azure OpenAI",
        base_url: "{AZURE_OPENAI_ENDPOINT}/openai/v1",
        key_variables: &["AZURE_OPENAI_API_KEY"],
        key_header: "api-key",
        imitated_max_tokens: None,
        ..chat::HTTP_API
    },
    telemetry_name: "azure.ai.openai",
    sources: "learn.microsoft.com, Azure OpenAI v1 API (2026); pydantic_ai 2.68.0, providers/azure.py",
    tried: NOT_TRIED,
};

/// OpenAI's models on Azure, with the API of deployments and its `api-version`; see [`AZURE`].
pub const AZURE_DEPLOYMENT: Server = Server {
    api: HttpApi {
        name: "azure-deployment",
        base_url: "{AZURE_OPENAI_ENDPOINT}/openai",
        path: &["deployments", "{model}", "chat", "completions"],
        query: &[("api-version", "2024-10-21")],
        has_model: false,
        ..AZURE.api
    },
    sources: "learn.microsoft.com, Azure OpenAI REST API reference (2026); rig-core 0.44.0, AZURE_DEFAULT_API_VERSION",
    ..AZURE
};

/// `OpenRouter`. Its fields, such as `provider`, are set with `HttpModel::field`, and its headers, such as `HTTP-Referer` and
/// `X-Title`, with `HttpModel::header`.
pub const OPENROUTER: Server = Server {
    dialect: &OpenAiChat::with(ChatRules {
        // Tools and a schema together reach the provider behind it.
        answer_with_tools: AnswerWay::Schema,
        has_strict: true,
        ..ChatRules::IMITATION
    }),
    api: HttpApi {
        // It reports the tokens in any case.
        streaming: Streaming::Fields(r#"{"stream":true}"#),
        ..imitation(
            "openrouter",
            "OpenRouter",
            "https://openrouter.ai/api/v1",
            &["OPENROUTER_API_KEY"],
        )
    },
    telemetry_name: "openrouter",
    sources: "rig-core 0.44.0, providers/openai/wire/dialects.rs; pydantic_ai 2.68.0, providers/openrouter.py (2026-11)",
    tried: "recordings: openrouter",
};

/// `DeepSeek`, whose models think unless they are told not to.
pub const DEEPSEEK: Server = Server {
    dialect: &OpenAiChat::with(ChatRules {
        // "This response_format type is unavailable now".
        answer: AnswerWay::Json,
        answer_with_tools: AnswerWay::Json,
        // "Thinking mode does not support this tool_choice".
        has_required: false,
        has_named_choice: false,
        has_media: false,
        // "Missing `reasoning_content` field in the assistant message", in its thinking mode.
        needs_reasoning: true,
        ..ChatRules::IMITATION
    }),
    api: imitation(
        "deepseek",
        "DeepSeek",
        "https://api.deepseek.com",
        &["DEEPSEEK_API_KEY"],
    ),
    telemetry_name: "deepseek",
    sources: "api-docs.deepseek.com (2026); pydantic_ai 2.68.0, providers/deepseek.py; recorded refusals of media and of a required call",
    tried: "recordings: deepseek",
};

/// Groq.
pub const GROQ: Server = Server {
    dialect: &OpenAiChat::with(ChatRules {
        rejected: &["reasoning_content", "reasoning_details"],
        ..ChatRules::IMITATION
    }),
    api: HttpApi {
        max_tokens: &["max_completion_tokens"],
        ..imitation(
            "groq",
            "Groq",
            "https://api.groq.com/openai/v1",
            &["GROQ_API_KEY"],
        )
    },
    telemetry_name: "groq",
    sources: "console.groq.com/docs/structured-outputs: no tools with it (2026); litellm 1.110.2, llms/groq; karthink/gptel#774 (2025-04-10)",
    tried: "recordings: groq",
};

/// Together.
pub const TOGETHER: Server = Server {
    dialect: &OpenAiChat::with(ChatRules::IMITATION),
    api: imitation(
        "together",
        "Together",
        "https://api.together.xyz/v1",
        &["TOGETHER_API_KEY"],
    ),
    telemetry_name: "together",
    sources: "pydantic_ai 2.68.0, providers/together.py; litellm 1.110.2, llms/together_ai: structured output depends on the model (2026-11)",
    tried: NOT_TRIED,
};

/// Fireworks. The name of a model is like `accounts/fireworks/models/…`.
pub const FIREWORKS: Server = Server {
    dialect: &OpenAiChat::with(ChatRules::IMITATION),
    api: imitation(
        "fireworks",
        "Fireworks",
        "https://api.fireworks.ai/inference/v1",
        &["FIREWORKS_API_KEY"],
    ),
    telemetry_name: "fireworks",
    sources: "pydantic_ai 2.68.0, providers/fireworks.py: the platform enforces schemas (2026-11)",
    tried: NOT_TRIED,
};

/// Cerebras.
pub const CEREBRAS: Server = Server {
    dialect: &OpenAiChat::with(ChatRules {
        // "tools" is incompatible with "response_format".
        has_strict: true,
        rejected: &["reasoning_content", "reasoning_details"],
        ..ChatRules::IMITATION
    }),
    api: HttpApi {
        max_tokens: &["max_completion_tokens"],
        ..imitation(
            "cerebras",
            "Cerebras",
            "https://api.cerebras.ai/v1",
            &["CEREBRAS_API_KEY"],
        )
    },
    telemetry_name: "cerebras",
    sources: "BerriAI/litellm#31445 (2026-06-26); vercel/ai#15042 (2026-05-05); pydantic_ai 2.68.0, providers/cerebras.py",
    tried: NOT_TRIED,
};

/// Perplexity. It has no calls of tools.
pub const PERPLEXITY: Server = Server {
    dialect: &OpenAiChat::with(ChatRules {
        has_tools: false,
        answer_with_tools: AnswerWay::Schema,
        ..ChatRules::IMITATION
    }),
    api: HttpApi {
        // It reports the tokens in any case.
        streaming: Streaming::Fields(r#"{"stream":true}"#),
        ..imitation(
            "perplexity",
            "Perplexity",
            "https://api.perplexity.ai",
            &["PERPLEXITY_API_KEY"],
        )
    },
    telemetry_name: "perplexity",
    sources: "pipecat-ai/pipecat#4862: \"Tool calling is not supported for this model\" (2026-06-23); docs.perplexity.ai, structured outputs (2026); rig-core 0.44.0",
    tried: "recordings: perplexity",
};

/// Databricks. `DATABRICKS_HOST` is the URL of the workspace, and the model is the name of a serving endpoint.
pub const DATABRICKS: Server = Server {
    dialect: &OpenAiChat::with(ChatRules::IMITATION),
    api: HttpApi {
        // json: unknown field "stream_options".
        streaming: Streaming::Fields(r#"{"stream":true}"#),
        ..imitation(
            "databricks",
            "Databricks",
            "{DATABRICKS_HOST}/serving-endpoints",
            &["DATABRICKS_TOKEN"],
        )
    },
    telemetry_name: "databricks",
    sources: "continuedev/continue#12936 (2026-07-07); anomalyco/opencode#4698 (2025-11-24); litellm 1.110.2, llms/databricks",
    tried: NOT_TRIED,
};

/// Moonshot, whose models are Kimi.
pub const MOONSHOT: Server = Server {
    dialect: &OpenAiChat::with(ChatRules {
        answer: AnswerWay::Json,
        answer_with_tools: AnswerWay::Json,
        // "tool_choice 'required' is incompatible with thinking enabled", as is 'specified'.
        has_required: false,
        has_named_choice: false,
        ..ChatRules::IMITATION
    }),
    api: imitation(
        "moonshot",
        "Moonshot",
        "https://api.moonshot.ai/v1",
        &["MOONSHOT_API_KEY"],
    ),
    telemetry_name: "moonshot",
    sources: "UKGovernmentBEIS/inspect_ai#5152 (2026-08-31); agentscope-ai/agentscope-java#2320 (2026-07-20); rig-core 0.44.0, MOONSHOT",
    tried: NOT_TRIED,
};

/// Z.AI, whose models are GLM.
pub const ZAI: Server = Server {
    dialect: &OpenAiChat::with(ChatRules {
        answer: AnswerWay::Json,
        answer_with_tools: AnswerWay::Json,
        ..ChatRules::IMITATION
    }),
    api: imitation(
        "zai",
        "Z.AI",
        "https://api.z.ai/api/paas/v4",
        &["ZAI_API_KEY"],
    ),
    telemetry_name: "zai",
    sources: "pydantic_ai 2.68.0, providers/zai.py; litellm 1.110.2, llms/zai: most models take no schema (2026-11)",
    tried: NOT_TRIED,
};

/// Alibaba's Qwen models at `DashScope`, outside of China.
pub const QWEN: Server = Server {
    dialect: &OpenAiChat::with(ChatRules {
        answer: AnswerWay::Json,
        answer_with_tools: AnswerWay::Json,
        ..ChatRules::IMITATION
    }),
    api: imitation(
        "qwen",
        "DashScope",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        &["DASHSCOPE_API_KEY", "ALIBABA_API_KEY"],
    ),
    telemetry_name: "qwen",
    sources: "plastic-labs/honcho#663: JSON only if the messages name it (2026-06-23); pydantic_ai 2.68.0, providers/alibaba.py",
    tried: NOT_TRIED,
};

/// `MiniMax`.
pub const MINIMAX: Server = Server {
    dialect: &OpenAiChat::with(ChatRules {
        answer: AnswerWay::Prompt,
        answer_with_tools: AnswerWay::Prompt,
        ..ChatRules::IMITATION
    }),
    api: imitation(
        "minimax",
        "MiniMax",
        "https://api.minimax.io/v1",
        &["MINIMAX_API_KEY"],
    ),
    telemetry_name: "minimax",
    sources: "567-labs/instructor#2260: no `response_format` (2026-04-12); litellm 1.110.2, llms/minimax",
    tried: NOT_TRIED,
};

/// Venice.
pub const VENICE: Server = Server {
    dialect: &OpenAiChat::with(ChatRules::IMITATION),
    api: imitation(
        "venice",
        "Venice",
        "https://api.venice.ai/api/v1",
        &["VENICE_API_KEY"],
    ),
    telemetry_name: "venice",
    sources: "rig-core 0.44.0, providers/openai/wire/dialects.rs (2026-11)",
    tried: "recordings: venice",
};

/// Doubleword.
pub const DOUBLEWORD: Server = Server {
    dialect: &OpenAiChat::with(ChatRules::IMITATION),
    api: imitation(
        "doubleword",
        "Doubleword",
        "https://api.doubleword.ai/v1",
        &["DOUBLEWORD_API_KEY"],
    ),
    telemetry_name: "doubleword",
    sources: "rig-core 0.44.0, providers/openai/wire/dialects.rs (2026-11)",
    tried: "recordings: doubleword",
};

/// Ollama on this machine.
pub const OLLAMA: Server = Server {
    // With a schema, the model calls no tool.
    dialect: &OpenAiChat::with(ChatRules::IMITATION),
    api: imitation("ollama", "Ollama", "http://localhost:11434/v1", &[]),
    telemetry_name: "ollama",
    sources: "ollama/ollama#13750 (2026-01-16); pydantic_ai 2.68.0, providers/ollama.py: no strict mode",
    tried: NOT_TRIED,
};

/// `llama-server` of llama.cpp on this machine. Tools need its flag `--jinja`.
pub const LLAMA_CPP: Server = Server {
    dialect: &OpenAiChat::with(ChatRules::IMITATION),
    api: imitation("llama-cpp", "llama.cpp", "http://localhost:8080/v1", &[]),
    telemetry_name: "llama.cpp",
    sources: "rig-core 0.44.0, LLAMACPP; ggml-org/llama.cpp#25510 (2026-07-10)",
    tried: "recordings: llamacpp",
};

/// The server of llama-cpp-python on this machine.
pub const LLAMA_CPP_PYTHON: Server = Server {
    dialect: &OpenAiChat::with(ChatRules {
        // It drops `json_schema` silently.
        answer: AnswerWay::Json,
        answer_with_tools: AnswerWay::Prompt,
        has_required: false,
        ..ChatRules::IMITATION
    }),
    api: imitation(
        "llama-cpp-python",
        "llama-cpp-python",
        "http://localhost:8000/v1",
        &[],
    ),
    telemetry_name: "llama.cpp",
    sources: "llama-cpp-python 0.3.36; modelship-ai/modelship#71 (2026-05-22)",
    tried: "llama-cpp-python 0.3.36 with SmolLM2-135M-Instruct (2026-11)",
};

/// LM Studio on this machine.
pub const LM_STUDIO: Server = Server {
    // It takes `json_schema` and `text` alone.
    dialect: &OpenAiChat::with(ChatRules::IMITATION),
    api: imitation("lm-studio", "LM Studio", "http://localhost:1234/v1", &[]),
    telemetry_name: "lm_studio",
    sources: "lmstudio-ai/lmstudio-bug-tracker#189 (2024-11-04); willmiao/ComfyUI-Lora-Manager#1033 (2026-07-23)",
    tried: NOT_TRIED,
};

/// vLLM on this machine.
pub const VLLM: Server = Server {
    // With a schema, the model calls no tool. Its reasoning goes on after a call.
    dialect: &OpenAiChat::with(ChatRules {
        repeated: &["reasoning"],
        ..ChatRules::IMITATION
    }),
    api: imitation("vllm", "vLLM", "http://localhost:8000/v1", &[]),
    telemetry_name: "vllm",
    sources: "vllm-project/vllm#39929 (2026-04-15); pydantic_ai 2.68.0, providers/vllm.py",
    tried: NOT_TRIED,
};

/// `SGLang` on this machine.
pub const SGLANG: Server = Server {
    dialect: &OpenAiChat::with(ChatRules::IMITATION),
    api: imitation("sglang", "SGLang", "http://localhost:30000/v1", &[]),
    telemetry_name: "sglang",
    sources: "docs.sglang.ai, OpenAI-compatible APIs (2026); sgl-project/sglang#28035 (2026-06-12)",
    tried: NOT_TRIED,
};

/// `LiteLLM`'s proxy on this machine. The model is a name of its configuration.
pub const LITELLM: Server = Server {
    dialect: &OpenAiChat::with(ChatRules {
        // It translates both for the provider behind it.
        answer_with_tools: AnswerWay::Schema,
        ..ChatRules::IMITATION
    }),
    // A proxy without a key does not start unless it is told to, and says so (1.108.7).
    api: imitation(
        "litellm",
        "LiteLLM",
        "http://localhost:4000/v1",
        &["LITELLM_API_KEY", "LITELLM_MASTER_KEY"],
    ),
    telemetry_name: "litellm",
    sources: "litellm 1.110.2, proxy (2026-11)",
    tried: "litellm 1.108.7 with SmolLM2-135M-Instruct (2026-11)",
};
