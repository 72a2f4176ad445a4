//! Requests as a whole: choices, allowed tools, cache marks, typed answers.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use tool_core::dialect::HostedTool;
use tool_core::dialect::write::JsonWriter;
use tool_core::dialect::{
    AnswerWay, Dialect, RequestOptions, ResponseError, ToolChoice, ToolRequest, Turn, TypedAnswer,
};
use tool_core::schema::Violation;
use tool_core::{Registry, ToolEntry, ToolResult, ToolType, tool, tools};
use tool_dialects::{
    Anthropic, Bedrock, Cohere, Gemini, GeminiInteractions, Mcp, Mistral, OpenAiChat,
    OpenAiResponses, XAi,
};

use super::{dialects, registry};

/// Returns a request, which must be possible.
fn request(registry: &Registry, dialect: &dyn Dialect, options: RequestOptions) -> ToolRequest {
    let request = registry.request(dialect).options(options);
    request.build().unwrap()
}

/// Returns the fields other than tools, and the notes.
fn fields(dialect: &dyn Dialect, options: RequestOptions) -> (Value, Vec<String>) {
    fields_of(&registry(), dialect, options)
}

fn fields_of(
    registry: &Registry,
    dialect: &dyn Dialect,
    options: RequestOptions,
) -> (Value, Vec<String>) {
    let request = request(registry, dialect, options);
    let mut fields = json!(request.fields());
    fields.as_object_mut().unwrap().remove("tools");
    if let Some(config) = fields["toolConfig"].as_object_mut() {
        config.remove("tools");
    }
    if fields["toolConfig"] == json!({}) || fields["toolConfig"].is_null() {
        fields.as_object_mut().unwrap().remove("toolConfig");
    }
    (fields, request.notes().to_vec())
}

fn options() -> RequestOptions {
    RequestOptions::new()
}

#[test]
fn a_request_without_settings_has_the_rendered_tools_alone() {
    for (dialect, _) in dialects() {
        let request = registry().request(&dialect).build().unwrap();
        let rendered = registry().render(&dialect);
        assert_eq!(*request.tools(), rendered);
        assert_eq!(request.notes(), [""; 0]);
        assert_eq!(request.headers().len(), 0);
        let (others, _) = fields(&*dialect, options());
        assert_eq!(others, json!({}), "{}", dialect.provider());
        assert!(request.body(json!({})).contains(rendered.as_str()));
    }
}

#[test]
fn every_provider_has_its_form_of_a_choice() {
    let choices = [
        ToolChoice::Auto,
        ToolChoice::Required,
        ToolChoice::None,
        ToolChoice::tool("list_alarms"),
    ];
    let chat = |required: &str| {
        [
            json!({"tool_choice": "auto"}),
            json!({"tool_choice": required}),
            json!({"tool_choice": "none"}),
            json!({"tool_choice": {"type": "function", "function": {"name": "list_alarms"}}}),
        ]
    };
    let expected: [(&dyn Dialect, [Value; 4]); 8] = [
        (&OpenAiChat::default(), chat("required")),
        (&XAi::default(), chat("required")),
        (&Mistral::default(), chat("any")),
        (
            &OpenAiResponses::default(),
            [
                json!({"tool_choice": "auto"}),
                json!({"tool_choice": "required"}),
                json!({"tool_choice": "none"}),
                json!({"tool_choice": {"type": "function", "name": "list_alarms"}}),
            ],
        ),
        (
            &Anthropic::default(),
            [
                json!({"tool_choice": {"type": "auto"}}),
                json!({"tool_choice": {"type": "any"}}),
                json!({"tool_choice": {"type": "none"}}),
                json!({"tool_choice": {"type": "tool", "name": "list_alarms"}}),
            ],
        ),
        (
            &Gemini::default(),
            [
                json!({"toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}}),
                json!({"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}),
                json!({"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}}),
                json!({"toolConfig": {"functionCallingConfig": {
                    "mode": "ANY", "allowedFunctionNames": ["list_alarms"],
                }}}),
            ],
        ),
        (
            &GeminiInteractions::default(),
            [
                json!({"generation_config": {"tool_choice": "auto"}}),
                json!({"generation_config": {"tool_choice": "any"}}),
                json!({"generation_config": {"tool_choice": "none"}}),
                json!({"generation_config": {"tool_choice": {"allowed_tools": {
                    "mode": "any", "tools": ["list_alarms"],
                }}}}),
            ],
        ),
        (
            &Bedrock::default(),
            [
                json!({"toolConfig": {"toolChoice": {"auto": {}}}}),
                json!({"toolConfig": {"toolChoice": {"any": {}}}}),
                json!({}),
                json!({"toolConfig": {"toolChoice": {"tool": {"name": "list_alarms"}}}}),
            ],
        ),
    ];
    for (dialect, expected) in expected {
        for (choice, expected) in choices.iter().zip(expected) {
            let (fields, notes) = fields(dialect, options().choice(choice.clone()));
            assert_eq!(fields, expected, "{}: {choice:?}", dialect.provider());
            let is_emulated = dialect.provider() == "Amazon Bedrock" && *choice == ToolChoice::None;
            assert_eq!(notes.len(), usize::from(is_emulated), "{notes:?}");
        }
    }
}

#[test]
fn a_choice_that_a_provider_lacks_is_replaced_and_noted() {
    // Converse can't forbid calls, so there are no tools.
    let none = request(
        &registry(),
        &Bedrock::default(),
        options().choice(ToolChoice::None),
    );
    assert_eq!(json!(none.fields()), json!({}));
    assert!(none.notes()[0].starts_with("Amazon Bedrock can't forbid calls"));
    // The rule that Converse needs a tool is about a list of tools.
    assert_eq!(none.tools().as_str(), "[]");

    // Cohere can't name the tool, so there is no other one.
    let cohere = Cohere::default();
    let one = request(
        &registry(),
        &cohere,
        options().choice(ToolChoice::tool("say")),
    );
    let fields = json!(one.fields());
    assert_eq!(fields["tool_choice"], "REQUIRED");
    assert_eq!(fields["tools"].as_array().unwrap().len(), 1);
    assert_eq!(fields["tools"][0]["function"]["name"], "say");
    assert!(one.notes()[0].starts_with("Cohere can't require a call of one tool among several"));
    for (choice, expected) in [
        (ToolChoice::Auto, Value::Null),
        (ToolChoice::Required, json!("REQUIRED")),
        (ToolChoice::None, json!("NONE")),
    ] {
        let (fields, notes) = self::fields(&cohere, options().choice(choice));
        assert_eq!(fields["tool_choice"], expected);
        assert_eq!(notes, [""; 0]);
    }
}

#[test]
fn allowed_tools_are_a_setting_or_a_shorter_list() {
    let only = || options().only(["say", "find_person", "say"]);
    let (fields, notes) = fields(&OpenAiResponses::default(), only());
    assert_eq!(
        fields,
        json!({"tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [
            {"type": "function", "name": "say"}, {"type": "function", "name": "find_person"},
        ]}})
    );
    assert_eq!(notes, [""; 0]);
    let required = || only().choice(ToolChoice::Required);
    let (fields, notes) = self::fields(&OpenAiChat::default(), required());
    assert_eq!(
        fields,
        json!({"tool_choice": {"type": "allowed_tools", "allowed_tools": {
            "mode": "required",
            "tools": [
                {"type": "function", "function": {"name": "say"}},
                {"type": "function", "function": {"name": "find_person"}},
            ],
        }}})
    );
    assert_eq!(notes, [""; 0]);
    for (options, mode) in [(only(), "VALIDATED"), (required(), "ANY")] {
        let (fields, notes) = self::fields(&Gemini::default(), options);
        assert_eq!(
            fields,
            json!({"toolConfig": {"functionCallingConfig": {
                "mode": mode, "allowedFunctionNames": ["say", "find_person"],
            }}})
        );
        assert_eq!(notes, [""; 0]);
    }
    for (options, mode) in [(only(), "validated"), (required(), "any")] {
        let (fields, notes) = self::fields(&GeminiInteractions::default(), options);
        assert_eq!(
            fields,
            json!({"generation_config": {"tool_choice": {"allowed_tools": {
                "mode": mode, "tools": ["say", "find_person"],
            }}}})
        );
        assert_eq!(notes, [""; 0]);
    }
    let others: [&dyn Dialect; 7] = [
        &Anthropic::default(),
        &Bedrock::default(),
        &Cohere::default(),
        &XAi::default(),
        &Mistral::default(),
        &Mcp::default(),
        &GeminiInteractions::agent(),
    ];
    for dialect in others {
        let request = request(&registry(), dialect, only());
        let subset = registry().select(|tool| ["say", "find_person"].contains(&&*tool.name));
        assert_eq!(request.tools(), &subset.render(dialect));
        assert_eq!(request.notes().len(), 1, "{}", dialect.provider());
        // A list of all tools restricts nothing.
        let specs = registry().specs();
        let names = specs.iter().map(|tool| &*tool.name);
        let all = self::request(&registry(), dialect, options().only(names));
        assert_eq!(all.tools(), &registry().render(dialect));
        assert_eq!(all.notes(), [""; 0]);
    }
}

/// Prompt caches depend on it: the prefix of a prompt that is cached contains the tools.
#[test]
fn the_tools_are_the_same_bytes_whatever_the_model_may_call() {
    let unrestricted: [&dyn Dialect; 4] = [
        &OpenAiChat::default(),
        &OpenAiResponses::default(),
        &Gemini::default(),
        &GeminiInteractions::default(),
    ];
    let registry = registry();
    for (dialect, _) in dialects() {
        let restricts = unrestricted
            .iter()
            .any(|other| other.provider() == dialect.provider());
        for is_cached in [false, true] {
            let base = || {
                if is_cached {
                    options().cached()
                } else {
                    options()
                }
            };
            let first = request(&registry, &*dialect, base());
            let mut others = vec![
                base(),
                base().choice(ToolChoice::Auto),
                base().choice(ToolChoice::Required),
                base().parallel(false),
                base().parallel(true).choice(ToolChoice::Required),
            ];
            let provider = dialect.provider();
            if provider != "Cohere" {
                others.push(base().choice(ToolChoice::tool("say")));
            }
            if !["Amazon Bedrock", "the Model Context Protocol"].contains(&provider) {
                others.push(base().choice(ToolChoice::None));
            }
            if restricts {
                others.push(base().only(["say"]));
                others.push(
                    base()
                        .only(["say", "list_alarms"])
                        .choice(ToolChoice::Required),
                );
            }
            for options in others {
                let label = format!("{provider}: {options:?}");
                let other = request(&registry, &*dialect, options);
                assert_eq!(other.tools().as_str(), first.tools().as_str(), "{label}");
                // In the body, too.
                assert!(
                    other
                        .body(json!({"model": "m"}))
                        .contains(first.tools().as_str())
                );
            }
        }
    }
}

#[test]
fn parallel_calls_can_be_forbidden() {
    let forbidden = |dialect: &dyn Dialect| fields(dialect, options().parallel(false));
    let chat: [&dyn Dialect; 4] = [
        &OpenAiChat::default(),
        &OpenAiResponses::default(),
        &Mistral::default(),
        &XAi::default(),
    ];
    for dialect in chat {
        assert_eq!(
            forbidden(dialect),
            (json!({"parallel_tool_calls": false}), vec![])
        );
        let (fields, _) = fields(dialect, options().parallel(true));
        assert_eq!(fields, json!({"parallel_tool_calls": true}));
    }
    let anthropic = Anthropic::default();
    let (fields, notes) = forbidden(&anthropic);
    let auto = json!({"type": "auto", "disable_parallel_tool_use": true});
    assert_eq!((fields, notes.len()), (json!({"tool_choice": auto}), 0));
    let options = options().parallel(false).choice(ToolChoice::tool("say"));
    assert_eq!(
        self::fields(&anthropic, options).0["tool_choice"],
        json!({"type": "tool", "name": "say", "disable_parallel_tool_use": true})
    );
    for dialect in [
        &Gemini::default() as &dyn Dialect,
        &GeminiInteractions::default(),
        &GeminiInteractions::agent(),
        &Bedrock::default(),
        &Cohere::default(),
    ] {
        let (fields, notes) = forbidden(dialect);
        assert_eq!(fields, json!({}));
        assert!(
            notes[0].contains("has no setting that forbids several calls"),
            "{notes:?}"
        );
    }
}

#[test]
fn a_cache_mark_is_at_the_end_of_the_tools() {
    let anthropic = Anthropic::default();
    let marked = json!(request(&registry(), &anthropic, options().cached()).fields());
    let tools = marked["tools"].as_array().unwrap();
    let (last, others) = tools.split_last().unwrap();
    assert_eq!(last["cache_control"], json!({"type": "ephemeral"}));
    assert!(others.iter().all(|tool| tool["cache_control"].is_null()));

    // Hosted tools are behind the others.
    let search = json!({"type": "web_search_20250305", "name": "web_search"});
    let with_hosted = registry();
    with_hosted.add_hosted(HostedTool::new(search.clone()));
    let marked = json!(request(&with_hosted, &anthropic, options().cached()).fields());
    let tools = marked["tools"].as_array().unwrap();
    let (last, others) = tools.split_last().unwrap();
    assert_eq!(last["cache_control"], json!({"type": "ephemeral"}));
    assert_eq!(last["name"], "web_search");
    assert!(others.iter().all(|tool| tool["cache_control"].is_null()));

    // The application's own mark stays.
    let mut own = search;
    own["cache_control"] = json!({"type": "ephemeral", "ttl": "1h"});
    let with_own = registry();
    with_own.add_hosted(HostedTool::new(own.clone()));
    let marked = json!(request(&with_own, &anthropic, options().cached()).fields());
    assert_eq!(marked["tools"].as_array().unwrap().last().unwrap(), &own);

    let bedrock = Bedrock::default();
    let marked = json!(request(&registry(), &bedrock, options().cached()).fields());
    let tools = marked["toolConfig"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), registry().len() + 1);
    assert_eq!(
        tools.last().unwrap(),
        &json!({"cachePoint": {"type": "default"}})
    );
    // A list with nothing but a mark has no tool.
    assert_eq!(
        json!(request(&Registry::new(), &bedrock, options().cached()).fields()),
        json!({})
    );

    // The others cache by themselves.
    for (dialect, _) in dialects() {
        if !["Anthropic", "Amazon Bedrock"].contains(&dialect.provider()) {
            let marked = request(&registry(), &*dialect, options().cached());
            assert_eq!(marked.tools(), &registry().render(&*dialect));
            assert_eq!(marked.notes(), [""; 0]);
        }
    }
}

#[test]
fn an_unknown_name_is_an_error_with_the_nearest_one() {
    for (dialect, _) in dialects() {
        let error = |options: RequestOptions| {
            let request = registry().request(&dialect).options(options).build();
            request.unwrap_err().to_string()
        };
        let expected = "the request has no tool list_alarm; did you mean list_alarms?";
        assert_eq!(
            error(options().choice(ToolChoice::tool("list_alarm"))),
            expected
        );
        assert_eq!(error(options().only(["say", "list_alarm"])), expected);
        assert_eq!(
            error(options().only(["zzzzzz"])),
            "the request has no tool zzzzzz"
        );
        assert_eq!(
            error(options().only::<&str>([])),
            "`only` has no names; to forbid calls, use `ToolChoice::None`"
        );
        assert_eq!(
            error(
                options()
                    .only(["say"])
                    .choice(ToolChoice::tool("list_alarms"))
            ),
            "the request requires a call of list_alarms, which is not among the tools of `only`"
        );
    }
}

#[test]
fn a_tool_with_a_mapped_name_has_both_names_in_settings() {
    let tool = tool_core::dynamic::DynamicTool::foreign("weather.get")
        .parameters(json!({"type": "object"}))
        .description("The weather.")
        .build(async |_, _| Ok::<_, String>("sunny"))
        .unwrap();
    let registry = Registry::builder()
        .tools([ToolEntry::from(tool)])
        .build()
        .unwrap();
    let sent = registry.specs()[0].name.clone();
    assert_ne!(sent, "weather.get");
    for name in [&*sent, "weather.get"] {
        let options = options().choice(ToolChoice::tool(name));
        let (fields, _) = fields_of(&registry, &OpenAiResponses::default(), options);
        assert_eq!(
            fields["tool_choice"],
            json!({"type": "function", "name": sent})
        );
    }
}

#[test]
fn hosted_tools_have_references_headers_and_results() {
    let registry = registry();
    for json in [
        json!({"type": "mcp", "server_label": "docs", "server_url": "https://example.com"}),
        json!({"type": "file_search", "vector_store_ids": ["v"]}),
        json!({"type": "web_search"}),
        json!({"type": "web_search_preview"}),
        json!({"type": "code_interpreter", "container": {"type": "auto"}}),
        json!({"type": "mcp_toolset", "mcp_server_name": "docs"}),
        json!({"type": "computer_20251124", "name": "computer", "display_width_px": 1, "display_height_px": 1}),
        json!({"type": "computer_20241022", "name": "old_computer", "display_width_px": 1, "display_height_px": 1}),
        json!({"googleSearch": {}}),
    ] {
        registry.add_hosted(HostedTool::new(json));
    }
    let responses = OpenAiResponses::default();
    let (fields, _) = fields_of(&registry, &responses, options().hosted_results());
    assert_eq!(
        fields,
        json!({"include": [
            "file_search_call.results",
            "web_search_call.action.sources",
            "code_interpreter_call.outputs",
        ]})
    );
    let only = options().only(["say", "file_search"]);
    let (fields, notes) = fields_of(&registry, &responses, only);
    assert_eq!(
        fields["tool_choice"]["tools"],
        json!([{"type": "function", "name": "say"}, {"type": "file_search"}])
    );
    assert_eq!(notes, [""; 0]);
    let one = options().choice(ToolChoice::tool("code_interpreter"));
    let (fields, _) = fields_of(&registry, &responses, one);
    assert_eq!(fields["tool_choice"], json!({"type": "code_interpreter"}));
    // The API has no choice of this one.
    let one = options().choice(ToolChoice::tool("web_search"));
    let (fields, notes) = fields_of(&registry, &responses, one);
    assert_eq!(fields, json!({}));
    assert!(
        notes[0].contains(r#"the hosted tool {"type":"web_search"}"#),
        "{notes:?}"
    );

    let anthropic = request(&registry, &Anthropic::default(), options());
    assert_eq!(
        anthropic.headers().collect::<Vec<_>>(),
        [(
            "anthropic-beta",
            "mcp-client-2025-11-20,computer-use-2025-11-24,computer-use-2024-10-22"
        )]
    );
    let one = options().choice(ToolChoice::tool("computer"));
    let (fields, _) = fields_of(&registry, &Anthropic::default(), one);
    assert_eq!(
        fields["tool_choice"],
        json!({"type": "tool", "name": "computer"})
    );

    // Gemini lists the names of functions alone.
    let gemini = request(
        &registry,
        &Gemini::default(),
        options().only(["say", "googleSearch"]),
    );
    assert_eq!(json!(gemini.fields())["tools"].as_array().unwrap().len(), 2);
    assert_eq!(json!(gemini.fields())["toolConfig"], Value::Null);
    assert_eq!(gemini.notes().len(), 1);
    registry.add_hosted(HostedTool::new(json!({"type": "google_search"})));
    let gemini = request(
        &registry,
        &GeminiInteractions::default(),
        options().only(["say", "google_search"]),
    );
    let fields = json!(gemini.fields());
    assert_eq!(fields["tools"].as_array().unwrap().len(), 2);
    assert_eq!(fields["generation_config"], Value::Null);
    assert_eq!(gemini.notes().len(), 1);
}

#[test]
fn agents_of_gemini_have_no_choice() {
    let agent = GeminiInteractions::agent();
    for choice in [ToolChoice::Required, ToolChoice::tool("say")] {
        let (fields, notes) = fields(&agent, options().choice(choice));
        assert_eq!(fields, json!({}));
        assert_eq!(
            notes,
            ["the Interactions API of Gemini has no tool choice for agents; it is left out"]
        );
    }
    let none = request(&registry(), &agent, options().choice(ToolChoice::None));
    assert_eq!(json!(none.fields()), json!({}));
    assert!(none.notes()[0].contains("can't forbid calls"));
    let answer = request(&registry(), &agent, options().answer::<Review>());
    assert_eq!(json!(answer.fields())["response_format"]["type"], "text");
}

#[test]
fn without_tools_there_is_no_choice() {
    for (dialect, _) in dialects() {
        let options = options()
            .choice(ToolChoice::Required)
            .parallel(true)
            .cached();
        let request = request(&Registry::new(), &*dialect, options);
        assert_eq!(json!(request.fields()), json!({}), "{}", dialect.provider());
        assert_eq!(
            request.notes().len(),
            1,
            "{}: {:?}",
            dialect.provider(),
            request.notes()
        );
    }
}

#[test]
fn a_body_merges_the_fields_of_the_application() {
    let registry = registry();
    let gemini = request(
        &registry,
        &Gemini::default(),
        options().choice(ToolChoice::Required).answer::<Vec<u8>>(),
    );
    let own = json!({
        "contents": [],
        "generationConfig": {"temperature": 0, "responseMimeType": "text/plain"},
        "toolConfig": {"retrievalConfig": {}},
    });
    let body: Value = serde_json::from_str(&gemini.body(own)).unwrap();
    assert_eq!(
        body["toolConfig"],
        json!({"retrievalConfig": {}, "functionCallingConfig": {"mode": "ANY"}})
    );
    // The application's value stays.
    assert_eq!(body["generationConfig"]["responseMimeType"], "text/plain");
    assert_eq!(body["generationConfig"]["temperature"], 0);
    assert!(body["generationConfig"]["responseJsonSchema"].is_object());
    assert!(body["tools"].is_array());
}

/// A dialect of an application that writes nothing but tools.
struct Custom;

impl Dialect for Custom {
    fn write_tools(&self, tools: &[ToolEntry], _: &[HostedTool], out: &mut JsonWriter) {
        out.array(|out| {
            for tool in tools {
                out.string(&tool.name);
            }
        });
    }

    fn read(&self, _: &Value) -> Result<Turn, ResponseError> {
        Ok(Turn::default())
    }

    fn results(&self, _: &[ToolResult]) -> Vec<Value> {
        Vec::new()
    }
}

#[test]
fn a_custom_dialect_has_defaults_that_tell_what_it_lacks() {
    let tools = |options| {
        let request = request(&registry(), &Custom, options);
        (json!(request.fields()), request.notes().to_vec())
    };
    assert_eq!(tools(options().only(["say"])).0, json!({"tools": ["say"]}));
    assert_eq!(tools(options().choice(ToolChoice::None)).0, json!({}));
    let all = options()
        .choice(ToolChoice::Required)
        .parallel(false)
        .answer::<u8>();
    let (_, notes) = tools(all);
    assert_eq!(
        notes,
        [
            "this provider has no tool choice; it is left out",
            "this provider has no setting that forbids several calls in a response; it is left out",
            "this provider has no structured output; the system prompt describes the answer",
        ]
    );
}

#[derive(Debug, PartialEq, Deserialize, ToolType)]
#[serde(rename_all = "lowercase")]
enum Mood {
    Glad,
    Sad,
}

/// What a review says.
#[derive(Debug, PartialEq, Deserialize, ToolType)]
struct Review {
    /// Who wrote it.
    author: Option<String>,
    #[param(range = 1..=5)]
    stars: u8,
    mood: Mood,
    #[serde(default)]
    tags: Vec<String>,
}

/// A tree, which strict modes of some providers reject.
#[derive(Debug, PartialEq, Deserialize, ToolType)]
struct Tree {
    name: String,
    children: Vec<Tree>,
}

#[test]
fn every_provider_has_its_form_of_an_answer() {
    let answer = |dialect: &dyn Dialect, path: &str| {
        let request = request(&Registry::new(), dialect, options().answer::<Review>());
        assert_eq!(request.notes(), [""; 0]);
        let fields = json!(request.fields());
        fields
            .pointer(path)
            .cloned()
            .unwrap_or_else(|| panic!("{fields}"))
    };
    let strict = json!({
        "type": "object",
        "properties": {
            "author": {"type": ["string", "null"], "description": "Who wrote it."},
            "stars": {"type": "integer", "minimum": 1, "maximum": 5},
            "mood": {"type": "string", "enum": ["glad", "sad"]},
            "tags": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
        },
        "required": ["author", "stars", "mood", "tags"],
        "additionalProperties": false,
        "description": "What a review says.",
    });
    let format = answer(&OpenAiChat::default(), "/response_format");
    assert_eq!(
        format,
        json!({"type": "json_schema",
               "json_schema": {"name": "answer", "schema": strict, "strict": true}})
    );
    let format = answer(&OpenAiResponses::default(), "/text/format");
    assert_eq!(
        format,
        json!({"type": "json_schema", "name": "answer", "schema": strict, "strict": true})
    );
    let reduced = answer(&Anthropic::default(), "/output_config/format/schema");
    assert_eq!(
        reduced["properties"]["stars"],
        json!({"type": "integer", "description": "Must be an integer from 1 to 5."})
    );
    assert_eq!(reduced["required"], json!(["stars", "mood"]));
    let text = answer(
        &Bedrock::default(),
        "/outputConfig/textFormat/structure/jsonSchema/schema",
    );
    assert_eq!(
        serde_json::from_str::<Value>(text.as_str().unwrap()).unwrap(),
        reduced
    );
    let gemini = answer(&Gemini::default(), "/generationConfig");
    assert_eq!(gemini["responseMimeType"], "application/json");
    assert_eq!(
        gemini["responseJsonSchema"]["properties"]["stars"]["maximum"],
        5
    );
    let gemini = answer(&Gemini::open_api(), "/generationConfig");
    assert_eq!(
        gemini["responseSchema"]["properties"]["stars"]["type"],
        "INTEGER"
    );
    let gemini = answer(&GeminiInteractions::default(), "/response_format");
    assert_eq!(
        (&gemini["type"], &gemini["mime_type"]),
        (&json!("text"), &json!("application/json"))
    );
    assert_eq!(gemini["schema"]["properties"]["stars"]["maximum"], 5);
    for dialect in [&XAi::default() as &dyn Dialect, &Mistral::default()] {
        let format = answer(dialect, "/response_format/json_schema");
        assert_eq!(format["strict"], true);
        assert_eq!(format["schema"]["properties"]["stars"]["maximum"], 5);
    }
    let format = answer(&Cohere::default(), "/response_format");
    assert_eq!(format["type"], "json_object");
    assert_eq!(format["json_schema"]["required"], json!(["stars", "mood"]));
}

#[test]
fn an_answer_that_is_no_object_is_wrapped() {
    let (fields, _) = fields(&OpenAiResponses::default(), options().answer::<Vec<Mood>>());
    assert_eq!(
        fields["text"]["format"]["schema"],
        json!({
            "type": "object",
            "properties": {
                "answer": {"type": "array", "items": {"type": "string", "enum": ["glad", "sad"]}},
            },
            "required": ["answer"],
            "additionalProperties": false,
        })
    );
    let read = TypedAnswer::<Vec<Mood>>::parse(r#"{"answer":["SAD","glad"]}"#).unwrap();
    assert_eq!(read, [Mood::Sad, Mood::Glad]);
    let read = |text| TypedAnswer::<Option<u8>>::parse(text).unwrap();
    assert_eq!(read(r#"{"answer":3.0}"#), Some(3));
    assert_eq!(read(r#"{"answer":null}"#), None);
    assert_eq!(read("{}"), None);
    let error = TypedAnswer::<u8>::parse(r#"{"answer":300}"#).unwrap_err();
    assert_eq!(error.violations()[0].path(), "answer");
}

#[test]
fn a_schema_that_a_provider_rejects_is_asked_for_in_another_way() {
    let tree = || options().answer::<Tree>();
    // OpenAI accepts any schema that is not strict; strict mode accepts recursion.
    let (fields, notes) = fields(&OpenAiChat::default(), tree());
    assert_eq!(fields["response_format"]["json_schema"]["strict"], true);
    assert_eq!(notes, [""; 0]);
    let (fields, notes) = self::fields(
        &OpenAiChat::default(),
        options().answer::<BTreeMap<String, u8>>(),
    );
    let format = &fields["response_format"]["json_schema"];
    assert_eq!(format["strict"], false);
    assert_eq!(
        format["schema"]["properties"]["answer"]["additionalProperties"]["maximum"],
        255
    );
    assert!(notes[0].contains("sent as not strict"), "{notes:?}");

    // A tool that the model must call in place of an answer.
    for dialect in [&Anthropic::default() as &dyn Dialect, &Bedrock::default()] {
        let request = request(&registry(), dialect, tree());
        let text = request.tools().as_str();
        assert!(text.contains(r#""name":"final_answer""#), "{text}");
        assert!(
            request.notes()[0].contains("calls with")
                || request.notes()[0].contains("final_answer")
        );
        let own = registry().render(dialect);
        // The other tools come first, unchanged.
        assert!(text.starts_with(own.as_str().strip_suffix(']').unwrap()));
    }
    let (fields, _) = self::fields(&Anthropic::default(), tree());
    assert_eq!(fields, json!({"tool_choice": {"type": "any"}}));
    let (fields, _) = self::fields(&Anthropic::default(), tree().choice(ToolChoice::None));
    assert_eq!(
        fields,
        json!({"tool_choice": {"type": "tool", "name": "final_answer"}})
    );
    let call = json!({"role": "assistant", "content": [
        {"type": "tool_use", "id": "1", "name": "final_answer",
         "input": {"name": "oak", "children": [{"name": "leaf", "children": []}]}},
    ]});
    let turn = Anthropic::default().read(&call).unwrap();
    let read = TypedAnswer::<Tree>::read(&turn).unwrap();
    assert_eq!(read.children[0].name, "leaf");

    // Cohere has structured output in requests without tools.
    let request = request(
        &registry(),
        &Cohere::default(),
        options().answer::<Review>(),
    );
    let fields = json!(request.fields());
    assert_eq!(fields["tool_choice"], "REQUIRED");
    assert_eq!(fields["response_format"], Value::Null);
    let tools = fields["tools"].as_array().unwrap();
    assert_eq!(tools.last().unwrap()["function"]["name"], "final_answer");

    // These reject such a schema in tools, too.
    for dialect in [
        &XAi::default() as &dyn Dialect,
        &Gemini::default(),
        &GeminiInteractions::default(),
    ] {
        let (fields, notes) = self::fields(dialect, tree());
        assert_eq!(fields, json!({}));
        assert!(
            notes[0].contains("the system prompt describes the answer"),
            "{notes:?}"
        );
        let registry = Registry::new();
        let request = registry.request(dialect).options(tree());
        let request = request.build().unwrap();
        assert_eq!(request.answer_way(), Some(AnswerWay::Prompt));
        let instructions = request.instructions().unwrap();
        assert!(instructions.contains("children"), "{instructions}");
    }
}

#[test]
fn answers_are_read_from_the_responses_of_every_provider() {
    let text = r#"{"stars":4,"mood":"glad","author":null}"#;
    let chat = json!({"choices": [{"message": {"role": "assistant", "content": text}}]});
    let responses: [(&dyn Dialect, Value); 9] = [
        (&OpenAiChat::default(), chat.clone()),
        (&XAi::default(), chat.clone()),
        (&Mistral::default(), chat),
        (
            &OpenAiResponses::default(),
            json!({"output": [{"type": "message", "content": [{"type": "output_text", "text": text}]}]}),
        ),
        (
            &Anthropic::default(),
            json!({"content": [{"type": "text", "text": text}]}),
        ),
        (
            &Gemini::default(),
            json!({"candidates": [{"content": {"parts": [{"text": text}]}}]}),
        ),
        (
            &GeminiInteractions::default(),
            json!({"status": "completed", "steps": [
                {"type": "thought", "signature": "E"},
                {"type": "model_output", "content": [{"type": "text", "text": text}]},
            ]}),
        ),
        (
            &Bedrock::default(),
            json!({"output": {"message": {"role": "assistant", "content": [{"text": text}]}}}),
        ),
        (
            &Cohere::default(),
            json!({"message": {"role": "assistant", "content": [{"type": "text", "text": text}]}}),
        ),
    ];
    for (dialect, response) in responses {
        let turn = dialect.read(&response).unwrap();
        let review = TypedAnswer::<Review>::read(&turn);
        let expected = Review {
            author: None,
            stars: 4,
            mood: Mood::Glad,
            tags: vec![],
        };
        assert_eq!(review.unwrap(), expected, "{}", dialect.provider());
    }
}

#[test]
fn an_answer_lists_all_violations_at_once() {
    let text = r#"{"stars":9,"mood":"angry","author":3,"extra":1}"#;
    let error = TypedAnswer::<Review>::parse(text).unwrap_err();
    let paths: Vec<_> = error.violations().iter().map(Violation::path).collect();
    assert_eq!(paths, ["stars", "mood", "author", "extra"]);
    assert!(
        error
            .to_string()
            .starts_with("the answer is not valid:\n- stars: ")
    );
    // A model without structured output may add a fence.
    let fenced = "```json\n{\"stars\": 4, \"mood\": \"glad\"}\n```";
    assert_eq!(TypedAnswer::<Review>::parse(fenced).unwrap().stars, 4);
    let error = TypedAnswer::<Review>::parse("I can't help with that.").unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the answer is not valid JSON: "),
        "{error}"
    );
    let calls = json!({"content": [{"type": "tool_use", "id": "1", "name": "say", "input": {}}]});
    let turn = Anthropic::default().read(&calls).unwrap();
    let error = TypedAnswer::<Review>::read(&turn).unwrap_err();
    assert_eq!(error.to_string(), "the response has calls and no answer");
}

/// Answers.
#[tool(unlinked)]
fn final_answer() {}

#[test]
fn the_name_of_the_tool_for_answers_is_reserved() {
    let registry = Registry::builder()
        .tools(tools![final_answer])
        .build()
        .unwrap();
    for (dialect, _) in dialects() {
        assert!(registry.request(&dialect).build().is_ok());
        let error = registry
            .request(&dialect)
            .answer::<u8>()
            .build()
            .unwrap_err();
        assert!(error.to_string().contains("`final_answer` is reserved"));
    }
}

/// Returns the fields of requests with all kinds of settings, as text, for other packages to check.
pub(super) fn fields_of_many_settings(dialect: &dyn Dialect) -> Vec<String> {
    let registry = registry();
    let mut settings = Vec::new();
    for choice in [
        ToolChoice::Auto,
        ToolChoice::Required,
        ToolChoice::None,
        ToolChoice::tool("say"),
    ] {
        settings.push(options().choice(choice.clone()));
        settings.push(options().choice(choice.clone()).parallel(false).cached());
        settings.push(
            options()
                .choice(choice.clone())
                .parallel(true)
                .answer::<Review>(),
        );
        if !matches!(choice, ToolChoice::Tool(_)) {
            settings.push(options().choice(choice).only(["say", "list_alarms"]));
        }
    }
    settings.push(options().parallel(false));
    settings.push(options().answer::<Vec<Mood>>());
    settings.push(options().answer::<Tree>());
    settings.push(options().answer::<std::collections::BTreeMap<String, f64>>());
    let fields = settings.into_iter().map(|options| {
        let request = registry.request(dialect).options(options).build().unwrap();
        serde_json::to_string(&request.fields()).unwrap()
    });
    let mut fields: Vec<_> = fields.collect();
    let without_tools = Registry::new();
    let request = without_tools
        .request(dialect)
        .answer::<Review>()
        .build()
        .unwrap();
    fields.push(serde_json::to_string(&request.fields()).unwrap());
    fields
}
