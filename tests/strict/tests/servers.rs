//! Servers by name: each request that a row writes is one that the server takes.

use serde_json::{Value, json};
use strict::check_fields;
use tool_core::content::Image;
use tool_core::dialect::write::Streaming;
use tool_core::dialect::{AnswerWay, Dialect, RequestOptions, ToolChoice};
use tool_core::{Registry, ToolCall, ToolResult, ToolType, tool, tools};
use tool_dialects::server::{self, Server};
use tool_dialects::{ChatRules, OpenAiChat};

/// Adds two numbers.
#[tool(read_only, unlinked)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Takes a number and must be followed exactly.
#[tool(read_only, unlinked, strict)]
fn exact(number: i64) -> i64 {
    number
}

/// Runs a query.
#[tool(freeform, unlinked)]
fn run_sql(sql: &str) -> usize {
    sql.len()
}

#[derive(ToolType)]
#[allow(dead_code)] // It is for its schema.
struct Sum {
    total: i64,
    unit: Option<String>,
}

fn registry() -> Registry {
    Registry::builder()
        .tools(tools![add, exact, run_sql])
        .build()
        .unwrap()
}

fn chats() -> impl Iterator<Item = &'static Server> {
    server::all().filter(|server| server.dialect.provider() == "chat completions")
}

/// Returns the body of a request as `HttpModel` writes it.
fn body(
    dialect: &dyn Dialect,
    registry: &Registry,
    options: &RequestOptions,
) -> (Value, Option<AnswerWay>) {
    let request = registry
        .request(dialect)
        .options(options.clone())
        .build()
        .unwrap();
    let api = dialect.http_api().unwrap();
    let mut messages = vec![dialect.user_message("How much is it?")];
    if let Some(instructions) = request.instructions() {
        messages.insert(0, json!({"role": "system", "content": instructions}));
    }
    let mut own = json!({"messages": messages});
    if api.has_model {
        own[api.model] = "any".into();
    }
    if let Streaming::Fields(fields) = api.streaming {
        let fields: Value = serde_json::from_str(fields).unwrap();
        own.as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
    }
    let body = serde_json::from_str(&request.body(own)).unwrap();
    (body, request.answer_way())
}

/// Returns the settings of requests: each choice, with and without an answer of a type and parallel calls.
fn settings() -> Vec<RequestOptions> {
    let choices = [
        None,
        Some(ToolChoice::Auto),
        Some(ToolChoice::Required),
        Some(ToolChoice::None),
        Some(ToolChoice::tool("add")),
    ];
    let mut settings = Vec::new();
    for choice in choices {
        for parallel in [None, Some(false)] {
            let mut options = RequestOptions::new();
            if let Some(choice) = &choice {
                options = options.choice(choice.clone());
            }
            if let Some(parallel) = parallel {
                options = options.parallel(parallel);
            }
            settings.push(options.clone());
            settings.push(options.answer::<Sum>());
        }
    }
    settings
}

#[test]
fn each_request_of_a_row_is_accepted() {
    let mut count = 0;
    for server in chats() {
        for options in settings() {
            let (body, way) = body(server, &registry(), &options);
            let checked = check_fields(server.name(), &body);
            assert_eq!(checked, Ok(()), "{}: {body:#}", server.name());
            // The schema of an answer reaches the model in some way.
            let text = body.to_string();
            assert_eq!(
                way.is_some(),
                text.contains("total"),
                "{}: {body:#}",
                server.name()
            );
            count += 1;
        }
        let without = body(
            server,
            &Registry::new(),
            &RequestOptions::new().answer::<Sum>(),
        );
        assert_eq!(
            check_fields(server.name(), &without.0),
            Ok(()),
            "{}",
            server.name()
        );
        assert!(without.0.to_string().contains("total"), "{}", server.name());
    }
    assert!(count > 400, "{count}");
}

/// The judge has teeth: OpenAI's own requests are rejected where a server differs.
#[test]
fn requests_for_openai_are_rejected_elsewhere() {
    let answer = RequestOptions::new().answer::<Sum>();
    let rejected = |server: &str, registry: &Registry, options: &RequestOptions| {
        let (body, _) = body(&server::OPENAI, registry, options);
        check_fields(server, &body).unwrap_err()
    };
    let none = Registry::new();
    let type_unavailable = "response_format: the type json_schema is unavailable";
    for server in [
        "deepseek",
        "moonshot",
        "zai",
        "qwen",
        "minimax",
        "llama-cpp-python",
    ] {
        assert_eq!(
            rejected(server, &none, &answer),
            type_unavailable,
            "{server}"
        );
    }
    let tools = Registry::builder().tools(tools![add]).build().unwrap();
    for server in [
        "groq",
        "cerebras",
        "ollama",
        "llama-cpp",
        "lm-studio",
        "vllm",
        "sglang",
    ] {
        let error = rejected(server, &tools, &answer);
        assert_eq!(
            error, "response_format: it is incompatible with tools",
            "{server}"
        );
    }
    let required = RequestOptions::new().choice(ToolChoice::Required);
    for server in ["deepseek", "moonshot", "llama-cpp-python"] {
        let error = rejected(server, &tools, &required);
        assert_eq!(
            error, "tool_choice: it does not support \"required\"",
            "{server}"
        );
    }
    let plain = RequestOptions::new();
    assert_eq!(
        rejected("perplexity", &tools, &plain),
        "tools: tool calling is not supported"
    );
    assert_eq!(
        rejected("databricks", &tools, &plain),
        "unknown field \"stream_options\""
    );
    assert_eq!(
        rejected("azure-deployment", &tools, &plain),
        "unknown field \"model\""
    );
    assert_eq!(
        rejected("nowhere", &tools, &plain),
        "there are no rules of the server nowhere"
    );
}

#[test]
fn the_strongest_way_of_an_answer_is_chosen() {
    use AnswerWay::{Call, Json, Prompt, Schema};
    let tools = Registry::builder().tools(tools![add]).build().unwrap();
    let way = |server: &Server, registry: &Registry| {
        body(server, registry, &RequestOptions::new().answer::<Sum>())
            .1
            .unwrap()
    };
    let ways = |server: Server| (way(&server, &Registry::new()), way(&server, &tools));
    assert_eq!(ways(server::OPENAI), (Schema, Schema));
    assert_eq!(ways(server::OPENROUTER), (Schema, Schema));
    assert_eq!(ways(server::GROQ), (Schema, Call));
    assert_eq!(ways(server::OLLAMA), (Schema, Call));
    assert_eq!(ways(server::DEEPSEEK), (Json, Json));
    assert_eq!(ways(server::MINIMAX), (Prompt, Prompt));
    // Its tools are left out.
    assert_eq!(ways(server::PERPLEXITY), (Schema, Schema));
    assert_eq!(ways(server::COHERE), (Schema, Call));
    assert_eq!(ways(server::ANTHROPIC), (Schema, Schema));
}

/// Notes name the server, and the rows of servers without a setting note it.
#[test]
fn what_a_server_lacks_is_noted() {
    let notes = |server: &Server, options: RequestOptions| {
        let request = registry().request(server).options(options).build().unwrap();
        request.notes().join("\n")
    };
    let required = RequestOptions::new().choice(ToolChoice::Required);
    let said = notes(&server::MOONSHOT, required);
    assert_eq!(
        said,
        "Moonshot has no choice that requires a call; it is left out"
    );
    let named = RequestOptions::new().choice(ToolChoice::tool("add"));
    assert_eq!(
        notes(&server::MOONSHOT, named),
        "Moonshot has no choice of one tool; it is left out"
    );
    let said = notes(&server::PERPLEXITY, RequestOptions::new());
    assert_eq!(
        said,
        "Perplexity has no calls of tools; the tools are left out of the request"
    );
    let said = notes(&server::GROQ, RequestOptions::new().answer::<Sum>());
    assert!(
        said.starts_with("Groq does not take the schema of the answer"),
        "{said}"
    );
    let rules = ChatRules {
        has_parallel: false,
        ..ChatRules::IMITATION
    };
    let own = OpenAiChat::with(rules);
    let request = registry().request(&own).parallel(false).build().unwrap();
    assert!(
        request.notes()[0].contains("forbids several calls"),
        "{:?}",
        request.notes()
    );
}

#[test]
fn media_and_keys_are_left_out_where_they_are_rejected() {
    let result = ToolResult::new(
        &ToolCall::new("call_1", "picture", "{}"),
        Image::png([0; 24]),
    );
    let messages = |server: Server| server.results(std::slice::from_ref(&result));
    let request = |server: Server| json!({"messages": messages(server)});
    assert_eq!(check_fields("deepseek", &request(server::DEEPSEEK)), Ok(()));
    let error = check_fields("deepseek", &request(server::GROQ)).unwrap_err();
    assert_eq!(
        error,
        "messages: unknown variant \"image_url\", expected `text`"
    );
    assert_eq!(
        server::DEEPSEEK
            .omitted(std::slice::from_ref(&result))
            .len(),
        1
    );

    let message = json!({"role": "assistant", "content": "Hi!", "reasoning": "Hm.", "reasoning_content": "Hm."});
    let keys = |server: Server| {
        let repeated = server.repeat(&message).into_owned();
        let keys = repeated.as_object().unwrap().keys();
        keys.filter(|key| key.starts_with("reasoning"))
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(server::GROQ), [""; 0]);
    assert_eq!(keys(server::DEEPSEEK), ["reasoning_content"]);
    assert_eq!(keys(server::VLLM), ["reasoning", "reasoning_content"]);
}

/// A row without evidence says so.
#[test]
fn each_row_names_its_sources_and_what_was_tried() {
    let mut names = std::collections::BTreeSet::new();
    for server in server::all() {
        let name = server.name();
        assert!(names.insert(name), "{name} is there twice");
        let is_plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        assert!(!name.is_empty() && name.bytes().all(is_plain), "{name}");
        assert!(server.sources.contains("202"), "{name}: a date is missing");
        let is_tried = server.tried.starts_with("recordings: ") || server.tried.contains(" with ");
        assert!(
            is_tried || server.tried == "not tried",
            "{name}: {}",
            server.tried
        );
        let fields: Value = serde_json::from_str(server.api.fields).unwrap();
        assert!(fields.is_object(), "{name}");
        let found = server::find(name).unwrap();
        assert_eq!(found.api.base_url, server.api.base_url);
        assert_eq!(server::find(&name.to_uppercase()).unwrap().name(), name);
    }
    let least = [
        "openai",
        "azure",
        "azure-deployment",
        "openrouter",
        "deepseek",
        "groq",
        "together",
        "fireworks",
        "cerebras",
        "perplexity",
        "databricks",
        "moonshot",
        "zai",
        "qwen",
        "minimax",
        "ollama",
        "llama-cpp",
        "lm-studio",
        "vllm",
        "sglang",
        "litellm",
        "vertex",
        "vertex-anthropic",
        "anthropic",
        "gemini",
        "mistral",
        "cohere",
        "xai",
        "bedrock",
    ];
    for name in least {
        assert!(names.contains(name), "{name}");
    }
}

/// Every constant is in the list: the names of the constants are those of the rows.
#[test]
fn each_constant_is_listed_under_its_name() {
    let code = include_str!("../../../crates/tool-dialects/src/server/rows.rs");
    let constants = code.lines().filter_map(|line| {
        let (name, _) = line.strip_prefix("pub const ")?.split_once(": Server =")?;
        Some(name.to_lowercase().replace('_', "-"))
    });
    let listed: Vec<_> = server::all()
        .map(|server| server.name().to_owned())
        .collect();
    let mut constants: Vec<_> = constants.collect();
    assert_eq!(constants.len(), listed.len());
    constants.retain(|name| !listed.contains(name));
    assert_eq!(constants, [""; 0]);
}

/// Returns the table in the guide.
fn table() -> String {
    let word = |way: AnswerWay| match way {
        AnswerWay::Schema => "schema",
        AnswerWay::Call => "call",
        AnswerWay::Json => "JSON",
        _ => "prompt",
    };
    let tools = Registry::builder().tools(tools![add]).build().unwrap();
    let mut table =
        "| constant | at | key | typed answer; with tools | tried |\n|---|---|---|---|---|\n"
            .to_owned();
    for server in server::all() {
        let constant = server.name().to_uppercase().replace('-', "_");
        let way = |registry: &Registry| {
            let request = registry.request(server).answer::<Sum>().build().unwrap();
            word(request.answer_way().unwrap())
        };
        let key = match server.api.key_variables {
            [] => "none".to_owned(),
            names => format!("`{}`", names.join("` or `")),
        };
        let (alone, with_tools) = (way(&Registry::new()), way(&tools));
        let (provider, url, tried) = (server.api.provider, server.api.base_url, server.tried);
        let url = url.replace('|', "\\|");
        table.push_str(&format!(
            "| `{constant}`, {provider} | `{url}` | {key} | {alone}; {with_tools} | {tried} |\n"
        ));
    }
    table
}

#[test]
fn the_table_in_the_guide_is_that_of_the_rows() {
    let guide = include_str!("../../../crates/tool-agent/src/guide/servers.md");
    let table = table();
    assert!(
        guide.contains(&table),
        "the guide lacks this table:\n{table}"
    );
}
