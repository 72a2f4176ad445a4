//! Hosted tools: tools that the provider runs.

use serde_json::{Value, json};
use tool_core::dialect::Dialect;
use tool_core::dialect::HostedTool;
use tool_core::{Registry, tools};
use tool_dialects::{
    Anthropic, Bedrock, Cohere, Gemini, GeminiInteractions, Mcp, Mistral, OpenAiChat,
    OpenAiResponses, XAi,
};
use tracing::Level;

use super::capture::capture;
use super::list_alarms;

/// Returns one tool of each provider that has hosted tools.
fn all() -> Vec<Value> {
    vec![
        json!({"type": "file_search", "vector_store_ids": ["vs_1"]}),
        json!({"type": "web_search_20250305", "name": "web_search", "max_uses": 5}),
        json!({"google_search": {}}),
        json!({"urlContext": {}, "codeExecution": {}}),
        json!({"systemTool": {"name": "nova_grounding"}}),
        json!({"type": "connector", "connector_id": "mine"}),
        json!({"type": "url_context"}),
    ]
}

fn sent(dialect: &dyn Dialect, hosted: impl IntoIterator<Item = HostedTool>) -> (Value, usize) {
    let builder = Registry::builder().tools(tools![list_alarms]);
    let builder = hosted
        .into_iter()
        .fold(builder, tool_core::RegistryBuilder::hosted);
    let rendered = builder.build().unwrap().render(dialect);
    let mut tools = json!(rendered);
    let tools = tools.as_array_mut().unwrap();
    let functions = tools.remove(0).to_string();
    assert!(functions.contains("list_alarms"), "{functions}");
    (json!(tools), rendered.rejected().len())
}

#[test]
fn each_is_sent_to_its_own_provider_only() {
    let known: [(&dyn Dialect, &[usize]); 10] = [
        (&OpenAiResponses::default(), &[0]),
        (&OpenAiResponses::strict(), &[0]),
        (&Anthropic::default(), &[1]),
        (&Gemini::default(), &[2, 3]),
        // Its search in files has the type of OpenAI's.
        (&GeminiInteractions::default(), &[0, 6]),
        (&Bedrock::default(), &[4]),
        (&Mistral::default(), &[5]),
        (&OpenAiChat::default(), &[]),
        (&XAi::default(), &[]),
        (&Cohere::default(), &[]),
    ];
    for (dialect, places) in known {
        let (tools, rejected) = sent(dialect, all().into_iter().map(HostedTool::new));
        let expected: Vec<_> = places.iter().map(|&place| all()[place].clone()).collect();
        assert_eq!(tools, json!(expected), "{}", dialect.provider());
        assert_eq!(
            rejected,
            all().len() - places.len(),
            "{}",
            dialect.provider()
        );
    }
}

#[test]
fn invalid_hosted_tools_are_rejected_with_a_message() {
    for json in [
        json!("web_search"),
        json!({}),
        json!({"type": 1}),
        json!({"type": "function", "name": "f"}),
        json!({"functionDeclarations": []}),
        json!({"type": "web_search_2025"}),
        json!({"google_search": {}, "other": {}}),
    ] {
        let tool = HostedTool::new(json.clone());
        for dialect in [
            &Anthropic::default() as &dyn Dialect,
            &Gemini::default(),
            &GeminiInteractions::default(),
            &OpenAiResponses::default(),
        ] {
            assert!(!dialect.hosts(&tool), "{} takes {json}", dialect.provider());
        }
    }
    let tool = HostedTool::new(json!({"type": "web_search"}));
    let registry = Registry::builder().hosted(tool.clone()).build().unwrap();
    let rendered = registry.render(&Mcp::default());
    assert_eq!(rendered.as_str(), "[]");
    let [rejected] = rendered.rejected() else {
        panic!("one is rejected");
    };
    assert_eq!(rejected.tool, tool);
    assert_eq!(
        rejected.to_string(),
        r#"the Model Context Protocol has no hosted tool {"type":"web_search"}; it is left out"#
    );
}

#[test]
fn an_unchecked_one_is_sent_if_its_shape_is_right() {
    let typed = HostedTool::unchecked(json!({"type": "brand_new"}));
    let keyed = HostedTool::unchecked(json!({"brandNew": {}}));
    for (dialect, takes_typed, takes_keyed) in [
        (&OpenAiResponses::default() as &dyn Dialect, true, false),
        (&OpenAiChat::default(), true, false),
        (&XAi::default(), true, false),
        (&Mistral::default(), true, false),
        (&Anthropic::default(), true, false),
        (&Gemini::default(), false, true),
        (&GeminiInteractions::default(), true, false),
        (&Bedrock::default(), false, true),
        (&Cohere::default(), false, false),
        (&Mcp::default(), false, false),
    ] {
        let who = dialect.provider();
        assert_eq!(dialect.hosts(&typed), takes_typed, "{who}");
        assert_eq!(dialect.hosts(&keyed), takes_keyed, "{who}");
        let (_, rejected) = sent(dialect, [typed.clone(), keyed.clone()]);
        assert_eq!(
            rejected,
            2 - usize::from(takes_typed) - usize::from(takes_keyed),
            "{who}"
        );
    }
}

#[test]
fn they_are_added_and_removed_and_stay_when_tools_change() {
    let tool = HostedTool::new(json!({"type": "web_search"}));
    let registry = Registry::builder()
        .hosted(tool.clone())
        .hosted(tool.clone())
        .build()
        .unwrap();
    registry.add_hosted(tool.clone());
    registry.add(tools![list_alarms]).unwrap();
    assert_eq!(registry.hosted(), std::slice::from_ref(&tool));
    // A selection of tools keeps the hosted tools, a group does not.
    assert_eq!(registry.select(|_| false).hosted(), registry.hosted());
    assert!(registry.without_hosted().hosted().is_empty());
    assert!(registry.group("any").hosted().is_empty());
    registry.remove("list_alarms").unwrap();
    assert!(registry.remove_hosted(&tool) && !registry.remove_hosted(&tool));
    assert!(registry.hosted().is_empty());
}

/// Bedrock rejects a request without a tool; a hosted tool counts as one.
#[test]
fn a_hosted_tool_alone_counts_as_a_tool() {
    let registry = Registry::new();
    assert_eq!(registry.render(&Bedrock::default()).broken_rules().len(), 1);
    registry.add_hosted(HostedTool::new(
        json!({"systemTool": {"name": "nova_grounding"}}),
    ));
    assert_eq!(registry.render(&Bedrock::default()).broken_rules(), []);
}

/// Mistral's connectors answer with the messages of one choice, of which the last is open.
#[test]
fn mistral_hosted_calls_are_recognized_by_their_answers() {
    let call = |id: &str, name: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}});
    let messages = json!([
        {"role": "assistant", "content": "", "tool_calls": [call("own000001", "web_search")]},
        {"role": "tool", "tool_call_id": "own000001", "name": "web_search", "content": "found"},
        {"role": "assistant", "content": "", "tool_calls": [call("ours00001", "list_alarms")]},
    ]);
    let response = json!({"choices": [{"index": 0, "messages": messages}]});
    let calls = Mistral::default().read(&response).unwrap().calls;
    let ids: Vec<_> = calls.iter().map(|call| &*call.id).collect();
    assert_eq!(ids, ["ours00001"]);
    assert_eq!(
        json!(Mistral::default().read(&response).unwrap().messages),
        messages
    );
}

#[test]
fn hosted_tools_that_are_not_sent_are_logged() {
    // Other tests of this program log to the same subscriber; only this test uses this tool.
    let capture = capture();
    let pictures = HostedTool::new(json!({"type": "image_generation"}));
    let registry = Registry::builder().hosted(pictures).build().unwrap();
    let told = || capture.events_that_say("image_generation");
    registry.render(&OpenAiResponses::default());
    assert_eq!(told(), []);
    registry.render(&Cohere::default());
    let message = r#"Cohere has no hosted tool {"type":"image_generation"}; it is left out"#;
    assert_eq!(told(), [(Level::WARN, message.to_owned())]);
}

/// Returns the names under which a request's tools are known.
fn names_in(rendered: &tool_core::dialect::Rendered) -> Vec<String> {
    let name = |tool: &Value| {
        let name = [
            &tool["name"],
            &tool["systemTool"]["name"],
            &tool["function"]["name"],
        ];
        let mut name = name
            .into_iter()
            .chain([&tool["toolSpec"]["name"], &tool["type"]]);
        let name = name.find_map(Value::as_str).map(str::to_owned);
        name.or_else(|| Some(tool.as_object()?.keys().next()?.clone()))
    };
    let tools = json!(rendered);
    let tools = tools.as_array().unwrap().iter();
    let flat = tools.flat_map(|tool| match &tool["functionDeclarations"] {
        Value::Array(functions) => functions.clone(),
        _ => vec![tool.clone()],
    });
    flat.map(|tool| name(&tool).unwrap()).collect()
}

#[test]
fn a_request_has_no_two_tools_with_one_name() {
    /// A tool of the registry.
    fn local(name: &'static str) -> tool_core::ToolEntry {
        let builder = tool_core::dynamic::DynamicTool::builder(name).description("Does it here.");
        let builder = builder.parameters(json!({"type": "object", "properties": {}}));
        let run = async |_: Value, _| Ok::<_, std::convert::Infallible>(());
        builder.build(run).unwrap().into()
    }
    let anthropic = json!({"type": "web_search_20250305", "name": "web_search"});
    let newer = json!({"type": "web_search_20260209", "name": "web_search"});
    let mcp = |label: &str| json!({"type": "mcp", "server_label": label});
    let cases: [(&dyn Dialect, &str, Vec<Value>, usize); 13] = [
        (
            &Anthropic::default(),
            "web_search",
            vec![anthropic.clone()],
            1,
        ),
        (
            &Anthropic::default(),
            "web_search_20250305",
            vec![anthropic.clone()],
            0,
        ),
        (
            &Anthropic::default(),
            "other",
            vec![anthropic.clone(), newer],
            1,
        ),
        (
            &OpenAiResponses::default(),
            "web_search",
            vec![json!({"type": "web_search"})],
            1,
        ),
        (
            &OpenAiResponses::strict(),
            "run",
            vec![json!({"type": "custom", "name": "run"})],
            1,
        ),
        (
            &OpenAiResponses::default(),
            "mcp",
            vec![mcp("a"), mcp("b")],
            0,
        ),
        (
            &Gemini::default(),
            "google_search",
            vec![json!({"googleSearch": {}})],
            1,
        ),
        (
            &Gemini::default(),
            "googleSearch",
            vec![json!({"google_search": {}})],
            1,
        ),
        (
            &Gemini::default(),
            "search",
            vec![json!({"google_search": {}})],
            0,
        ),
        (
            &GeminiInteractions::default(),
            "google_search",
            vec![json!({"type": "google_search"})],
            1,
        ),
        // The name of a server is not one of a tool.
        (
            &GeminiInteractions::default(),
            "docs",
            vec![json!({"type": "mcp_server", "name": "docs", "url": "https://example.com/mcp"})],
            0,
        ),
        (
            &Bedrock::default(),
            "nova_grounding",
            vec![json!({"systemTool": {"name": "nova_grounding"}})],
            1,
        ),
        (
            &Mistral::default(),
            "web_search",
            vec![json!({"type": "web_search"})],
            1,
        ),
    ];
    for (dialect, name, hosted, left_out) in cases {
        let count = hosted.len() + 1;
        let registry = Registry::builder().tools([local(name)]).build().unwrap();
        for tool in hosted {
            registry.add_hosted(HostedTool::new(tool));
        }
        let rendered = registry.render(dialect);
        let names = names_in(&rendered);
        let who = dialect.provider();
        assert_eq!(
            rendered.rejected().len(),
            left_out,
            "{who}, {name}: {rendered}"
        );
        assert_eq!(names.len(), count - left_out, "{who}, {name}: {rendered}");
        // The registry's tool stays.
        assert!(
            names.iter().any(|sent| sent == name),
            "{who}, {name}: {rendered}"
        );
        for rejected in rendered.rejected() {
            let message = rejected.to_string();
            assert!(
                message.contains("takes one tool with the name"),
                "{message}"
            );
        }
    }

    // Each provider is judged alone: one that does not host the tool is sent the registry's.
    let registry = Registry::builder().tools([local("web_search")]);
    let registry = registry.hosted(HostedTool::new(anthropic)).build().unwrap();
    assert_eq!(
        registry.render(&Anthropic::default()).rejected()[0].to_string(),
        "Anthropic takes one tool with the name web_search; the hosted one is left out: rename \
         the other tool, or remove one of them"
    );
    registry.remove("web_search").unwrap();
    let rendered = registry.render(&Anthropic::default());
    assert_eq!(
        (names_in(&rendered), rendered.rejected().len()),
        (vec!["web_search".into()], 0)
    );
}
