//! Rendering for providers.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use serde_json::json;
use tool_core::dialect::Dialect;
use tool_core::dynamic::DynamicTool;
use tool_core::{Registry, ToolCall, tool, tools};
use tool_dialects::{
    Anthropic, Bedrock, Cohere, Gemini, GeminiInteractions, Mcp, Mistral, OpenAiChat,
    OpenAiResponses, XAi,
};

use super::{builder, trip, violations};

#[test]
fn every_dialect_sends_the_schema_as_written() {
    let registry = Registry::builder().tool(trip()).build().unwrap();
    let schema =
        json!({"type": "object", "properties": {"to": {"type": "string", "maxLength": 9}}});
    let output = json!({"type": "object", "properties": {"days": {"type": "integer"}}});
    let text = "Plans.\n\nWhen to use: A trip is wanted.\n\nReturns: Its days.";
    let rendered = |dialect: &dyn Dialect| json!(registry.render(dialect))[0].take();
    let chat = json!({"type": "function", "function": {"name": "plan", "description": text, "parameters": schema}});
    for dialect in [
        &OpenAiChat::default() as &dyn Dialect,
        &XAi::default(),
        &Cohere::default(),
        &Mistral::default(),
    ] {
        assert_eq!(rendered(dialect), chat);
    }
    let mut strict = chat.clone();
    strict["function"]["strict"] = false.into();
    assert_eq!(rendered(&OpenAiChat::strict()), strict);
    for dialect in [OpenAiResponses::default(), OpenAiResponses::strict()] {
        assert_eq!(
            rendered(&dialect),
            json!({"type": "function", "name": "plan", "description": text, "parameters": schema, "strict": false})
        );
    }
    assert_eq!(
        rendered(&Anthropic::default()),
        json!({"name": "plan", "description": text, "input_schema": schema})
    );
    assert_eq!(
        rendered(&Anthropic::strict()),
        json!({"name": "plan", "description": text, "input_schema": schema, "strict": false})
    );
    for dialect in [Gemini::default(), Gemini::open_api()] {
        assert_eq!(
            rendered(&dialect)["functionDeclarations"][0],
            json!({"name": "plan", "description": text, "parametersJsonSchema": schema})
        );
    }
    assert_eq!(
        rendered(&GeminiInteractions::default()),
        json!({"type": "function", "name": "plan", "description": text, "parameters": schema})
    );
    assert_eq!(
        rendered(&Bedrock::default()),
        json!({"toolSpec": {"name": "plan", "description": text, "inputSchema": {"json": schema}}})
    );
    for dialect in [Mcp::v2025_11_25(), Mcp::v2026_07_28()] {
        assert_eq!(
            rendered(&dialect),
            json!({"name": "plan", "title": "Plan a trip", "description": text, "inputSchema": schema,
                   "outputSchema": output, "annotations": {"readOnlyHint": true}})
        );
    }
}

/// Models and their caches see the text as written, except for whitespace.
#[test]
fn schema_text_keeps_its_order() {
    let written = r#"
        {
            "type": "object",
            "properties": {
                "to":   { "type": "string", "description": "Where \"to\", such as `A  B`. \u00e9\\\n" },
                "days": { "type": "integer", "minimum": 1.0, "maximum": 30 },
                "by":   { "enum": [ "train", "boat" ], "type": "string" }
            },
            "required": [ "to", "by" ],
            "additionalProperties": false
        }
    "#;
    let sent = [
        r#"{"type":"object","properties":{"#,
        r#""to":{"type":"string","description":"Where \"to\", such as `A  B`. \u00e9\\\n"},"#,
        r#""days":{"type":"integer","minimum":1.0,"maximum":30},"#,
        r#""by":{"enum":["train","boat"],"type":"string"}},"#,
        r#""required":["to","by"],"additionalProperties":false}"#,
    ];
    let output = r#"{ "type" : "object", "properties" : { "z" : {}, "a" : {} } }"#;
    let tool = DynamicTool::builder("plan")
        .description("Plans.")
        .parameters_json(written)
        .output_json(output)
        .build(async |_, _| Ok::<_, Infallible>(json!({"z": 1})))
        .unwrap();
    assert_eq!(tool.spec().parameters_json(), sent.concat());
    assert_eq!(
        tool.spec().output_json(),
        Some(r#"{"type":"object","properties":{"z":{},"a":{}}}"#)
    );
    let registry = Registry::builder().tool(tool).build().unwrap();
    let dialects: [&dyn Dialect; 12] = [
        &OpenAiChat::default(),
        &OpenAiChat::strict(),
        &OpenAiResponses::strict(),
        &Anthropic::default(),
        &Anthropic::strict(),
        &Gemini::default(),
        &GeminiInteractions::default(),
        &Mcp::default(),
        &Bedrock::default(),
        &XAi::default(),
        &Cohere::default(),
        &Mistral::default(),
    ];
    for dialect in dialects {
        let rendered = registry.render(dialect);
        let text = rendered.as_str();
        assert!(text.contains(&sent.concat()), "{text}");
    }
    // It is checked like any other.
    let result = registry.call_blocking(ToolCall::new("1", "plan", r#"{"to":"A","by":"car"}"#));
    assert_eq!(
        violations(&result),
        [r#"by: expected "train" or "boat", got "car""#]
    );

    // Some providers reject an object that does not list its keys.
    for (written, sent) in [
        (
            r#"{ "type": "object" }"#,
            r#"{"type":"object","properties":{}}"#,
        ),
        (
            r#"{"title":"}","type":"object"}"#,
            r#"{"title":"}","type":"object","properties":{}}"#,
        ),
    ] {
        let tool = DynamicTool::builder("plan").description("Plans.");
        let tool = tool.parameters_json(written);
        let tool = tool.build(async |_, _| Ok::<_, Infallible>(())).unwrap();
        assert_eq!(tool.spec().parameters_json(), sent);
    }
}

/// It does not count towards the 20 strict tools of a request.
#[test]
fn a_dynamic_tool_is_not_strict() {
    let many = (0..40).map(|at| {
        let tool = builder(
            &format!("tool_{at}"),
            json!({"type": "object", "properties": {"a": true}}),
        );
        tool.build(async |_, _| Ok::<_, Infallible>(()))
            .unwrap()
            .into()
    });
    let registry = Registry::builder().tools(many).build().unwrap();
    let rendered = registry.render(&Anthropic::strict());
    assert_eq!(rendered.broken_rules(), []);
    assert!(!rendered.as_str().contains("\"strict\":true"));
}

/// A tool without parameters fits everywhere, strict modes included.
#[test]
fn a_tool_without_parameters_is_like_any_other() {
    let tool = DynamicTool::builder("ping").description("Pings.");
    let tool = tool.build(async |_, _| Ok::<_, Infallible>(())).unwrap();
    let registry = Registry::builder().tool(tool).build().unwrap();
    let tools = json!(registry.render(&OpenAiChat::strict()));
    assert_eq!(tools[0]["function"]["strict"], true);
    let tools = json!(registry.render(&Gemini::default()));
    assert_eq!(
        tools[0]["functionDeclarations"],
        json!([{"name": "ping", "description": "Pings."}])
    );
    assert_eq!(
        registry
            .call_blocking(ToolCall::new("1", "ping", ""))
            .content(),
        "ok"
    );
    let result = registry.call_blocking(ToolCall::new("1", "ping", r#"{"a":1}"#));
    assert_eq!(
        violations(&result),
        ["a: unknown; no properties are expected here"]
    );
}

/// Books a room.
#[tool]
#[allow(clippy::too_many_arguments)]
fn book(
    #[param(range = 2..=8, multiple_of = 2)] guests: u8,
    #[param(range = 0.5..=9.5)] price: f64,
    /// Who pays.
    #[param(length = 1..=1)]
    payer: String,
    #[param(pattern = "^[A-Z]{3}$")] code: String,
    #[param(length = 1.., unique)] days: Vec<String>,
    #[param(length = ..=1)] notes: Option<Vec<String>>,
    #[param(length = 1..)] extras: BTreeMap<String, bool>,
    #[param(default = 3)] stars: u8,
) {
    drop((guests, price, payer, code, days, notes, extras, stars));
}

#[test]
fn what_a_subset_lacks_is_said_in_the_same_words_for_every_kind_of_tool() {
    let compiled = Registry::builder().tools(tools![book]).build().unwrap();
    let text = compiled.specs()[0].parameters_json().to_owned();
    let foreign = DynamicTool::foreign("book").description("Books a room.");
    let foreign = foreign.parameters_json(text);
    let foreign = foreign.build(async |_, _| Ok::<_, Infallible>(())).unwrap();
    let foreign = Registry::builder().tool(foreign).build().unwrap();
    let mut said = BTreeSet::new();
    for dialect in [
        &Gemini::default() as &dyn Dialect,
        &Gemini::open_api(),
        &GeminiInteractions::default(),
        &XAi::default(),
        &Cohere::default(),
        &Mistral::default(),
        &OpenAiChat::default(),
        &Anthropic::default(),
        &Bedrock::default(),
    ] {
        let [compiled, foreign] = [&compiled, &foreign].map(|registry| {
            let tools = json!(registry.render(dialect)).to_string();
            let tools: Vec<_> = tools.split("\"description\":").map(str::to_owned).collect();
            let texts = tools.iter().skip(1).map(|rest| {
                let mut text = serde_json::Deserializer::from_str(rest).into_iter::<String>();
                text.next().unwrap().unwrap()
            });
            texts.collect::<BTreeSet<_>>()
        });
        assert_eq!(compiled, foreign, "{}", dialect.provider());
        said.extend(compiled);
    }
    for text in [
        "Must be an integer, a multiple of 2.",
        "No item may occur twice.",
        "Default: 3.",
        "Must be an object of at least 1 member.",
        "Who pays.\nMust be a string of exactly 1 character.",
    ] {
        assert!(said.contains(text), "{said:#?}");
    }
}
