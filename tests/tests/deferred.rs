//! Deferred tools: what models get in place of them, and the calls by `call_tool`.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tool_agent::run::{Run, Step};
use tool_core::call::CancellationToken;
use tool_core::dialect::HostedTool;
use tool_core::dialect::write::Deferral;
use tool_core::dialect::{Dialect, StreamEvent, ToolChoice};
use tool_core::dynamic::DynamicTool;
use tool_core::hooks::{Decision, Gate};
use tool_core::{
    CallContext, Registry, ToolCall, ToolEntry, ToolErrorKind, ToolResult, tool, tools,
};
use tool_dialects::{
    Anthropic, Bedrock, Cohere, Gemini, GeminiInteractions, Mcp, Mistral, OpenAiChat,
    OpenAiResponses, XAi,
};

#[path = "../support/capture.rs"]
#[allow(dead_code)]
mod capture;
#[path = "../support/deferred.rs"]
mod deferred;

use deferred::{cancel_order, get_forecast, list_orders, registry, roll_die};

fn tools_field(registry: &Registry, dialect: &dyn Dialect) -> Vec<Value> {
    serde_json::from_str(registry.render(dialect).as_str()).unwrap()
}

/// Returns a call of `call_tool`.
fn call_tool(id: &str, name: &str, arguments: Value) -> ToolCall {
    let arguments = json!({"name": name, "arguments": arguments});
    ToolCall::new(id, "call_tool", arguments.to_string())
}

fn search(registry: &Registry, query: &str) -> String {
    let call = ToolCall::new("search", "search_tools", json!({ "query": query }));
    registry.call_blocking(call).content().to_owned()
}

/// Returns a text without the reference of an error.
fn plain(text: &str) -> String {
    match text.split_once(" [ref ") {
        Some((head, tail)) => format!("{head}{}", tail.split_once(']').unwrap().1),
        None => text.to_owned(),
    }
}

/// Returns the names in the result of a search.
fn found(registry: &Registry, query: &str) -> Vec<String> {
    let tools: Vec<Value> = serde_json::from_str(&search(registry, query)).unwrap_or_default();
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    tools.iter().map(name).collect()
}

/// The dialects whose providers have no tool search, or are told to use none.
fn emulating() -> Vec<Box<dyn Dialect>> {
    vec![
        Box::new(OpenAiChat::default()),
        Box::new(OpenAiChat::strict()),
        Box::new(OpenAiResponses::default().without_tool_search()),
        Box::new(OpenAiResponses::strict().without_tool_search()),
        Box::new(Anthropic::default().without_tool_search()),
        Box::new(Anthropic::strict().without_tool_search()),
        Box::new(Gemini::default()),
        Box::new(Gemini::open_api()),
        Box::new(GeminiInteractions::default()),
        Box::new(Bedrock::default()),
        Box::new(Cohere::default()),
        Box::new(Mistral::default()),
        Box::new(XAi::default()),
    ]
}

#[test]
fn anthropic_gets_marked_tools_and_its_search() {
    let tools = tools_field(&registry(), &Anthropic::default());
    let search = json!({"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"});
    assert_eq!(tools[0]["name"], "roll_die");
    assert_eq!(tools[0].get("defer_loading"), None);
    assert_eq!(tools[1], search);
    let names: Vec<_> = tools[2..].iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["cancel_order", "get_forecast", "list_orders"]);
    assert!(tools[2..].iter().all(|tool| tool["defer_loading"] == true));
    assert_eq!(
        tools[3],
        json!({"name": "get_forecast", "description": "The weather in the next days.",
            "input_schema": serde_json::from_str::<Value>(registry().get("get_forecast").unwrap().parameters_json()).unwrap(),
            "defer_loading": true})
    );
    let strict = tools_field(&registry(), &Anthropic::strict());
    assert_eq!(
        (&strict[3]["strict"], &strict[3]["defer_loading"]),
        (&json!(true), &json!(true))
    );
}

#[test]
fn a_hosted_search_replaces_the_default() {
    let registry = registry();
    let regex =
        json!({"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"});
    registry.add_hosted(HostedTool::new(regex.clone()));
    let own = json!({"type": "tool_search", "execution": "server"});
    registry.add_hosted(HostedTool::new(own.clone()));
    let tools = tools_field(&registry, &Anthropic::default());
    assert_eq!(tools[1], regex);
    assert_eq!(tools.len(), 5);
    let tools = tools_field(&registry, &OpenAiResponses::default());
    assert_eq!(tools[1], own);
    assert_eq!(tools.len(), 4);
}

#[test]
fn openai_gets_groups_as_namespaces() {
    let tools = tools_field(&registry(), &OpenAiResponses::default());
    assert_eq!(tools.len(), 4);
    assert_eq!(tools[0]["name"], "roll_die");
    assert_eq!(tools[1], json!({"type": "tool_search"}));
    assert_eq!(tools[2]["name"], "get_forecast");
    assert_eq!(tools[2]["defer_loading"], true);
    assert_eq!(tools[3]["type"], "namespace");
    assert_eq!(tools[3]["name"], "crm");
    assert_eq!(tools[3]["description"], "Customers and their orders.");
    let inner = tools[3]["tools"].as_array().unwrap();
    assert_eq!(inner[0]["name"], "cancel_order");
    assert_eq!(inner[1]["name"], "list_orders");
    assert!(
        inner
            .iter()
            .all(|tool| tool["defer_loading"] == true && tool["strict"] == false)
    );
}

/// A cache mark is behind the tools that are listed: the API rejects a deferred tool with one.
#[test]
fn a_request_marks_and_names_listed_tools() {
    let registry = registry();
    let request = registry
        .request(&Anthropic::default())
        .cached()
        .build()
        .unwrap();
    let tools: Vec<Value> = serde_json::from_str(request.tools().as_str()).unwrap();
    let marked = tools
        .iter()
        .filter(|tool| tool.get("cache_control").is_some());
    let marked: Vec<_> = marked.map(|tool| &tool["name"]).collect();
    assert_eq!(marked, ["tool_search_tool_bm25"]);
    assert_eq!(tools.len(), 5);

    let openai = OpenAiResponses::default();
    let choice = |name: &str| {
        registry
            .request(&openai)
            .choice(ToolChoice::tool(name))
            .build()
    };
    let request = choice("get_forecast").unwrap();
    assert!(!request.fields().contains_key("tool_choice"));
    assert!(
        request.notes()[0].contains("get_forecast, which is deferred"),
        "{:?}",
        request.notes()
    );
    assert!(
        choice("roll_die")
            .unwrap()
            .fields()
            .contains_key("tool_choice")
    );

    let chat = registry
        .request(&OpenAiChat::default())
        .only(["call_tool"])
        .build()
        .unwrap();
    assert_eq!(
        chat.tools().as_str(),
        registry.render(&OpenAiChat::default()).as_str()
    );
    let unknown = registry
        .request(&OpenAiChat::default())
        .only(["get_forecast"])
        .build();
    assert!(unknown.is_err());
}

/// A namespace needs a valid name and a description, and only deferred tools are in it.
#[test]
fn namespaces_get_valid_names_and_descriptions() {
    let registry = Registry::builder()
        .group("orders & more", tools![list_orders, cancel_order])
        .group("games", tools![roll_die])
        .defer_tools(["list_orders"])
        .build()
        .unwrap();
    let tools = tools_field(&registry, &OpenAiResponses::default());
    assert_eq!(tools[0]["name"], "cancel_order");
    assert_eq!(tools[1]["name"], "roll_die");
    let name = tools[3]["name"].as_str().unwrap();
    assert!(name.starts_with("orders___more_"), "{name}");
    assert!(
        name.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    );
    assert_eq!(tools[3]["description"], "Tools: list_orders.");
    let similar = Registry::builder()
        .group("a b", tools![list_orders])
        .group("a.b", tools![cancel_order])
        .defer(|_| true)
        .build()
        .unwrap();
    let tools = tools_field(&similar, &OpenAiResponses::default());
    assert_ne!(tools[1]["name"], tools[2]["name"]);
    let long = "ö".repeat(70);
    let long = Registry::builder()
        .group(&long, tools![list_orders])
        .defer(|_| true);
    let tools = tools_field(&long.build().unwrap(), &OpenAiResponses::default());
    assert!(tools[1]["name"].as_str().unwrap().len() <= 64);
}

#[test]
fn other_providers_get_two_tools_that_never_change() {
    let plain = Registry::builder().tools(tools![roll_die]).build().unwrap();
    for dialect in emulating() {
        assert_eq!(dialect.deferral(), Deferral::Emulated);
        let registry = registry();
        let before = registry.render(&dialect).into_string();
        for name in ["search_tools", "call_tool", "roll_die"] {
            assert_eq!(
                before.matches(&format!("\"{name}\"")).count(),
                1,
                "{before}"
            );
        }
        for name in ["get_forecast", "list_orders", "crm"] {
            assert!(!before.contains(name), "{before}");
        }
        let own = plain.render(&dialect);
        let own = own.as_str().trim_matches(['[', ']', '{', '}']);
        assert!(before.contains(own), "{own} is not in {before}");
        // Deferred tools come and go, and nothing changes.
        registry.remove("list_orders").unwrap();
        assert_eq!(registry.render(&dialect).as_str(), before);
        registry
            .add(tools![list_orders].map(|tool| tool.in_group("crm")))
            .unwrap();
        registry.add(tools![wave].map(ToolEntry::deferred)).unwrap();
        assert_eq!(registry.render(&dialect).as_str(), before);
        assert_eq!(found(&registry, "orders of a customer")[0], "list_orders");
        // Without deferred tools, they are gone.
        let eager = registry.select(|tool| !tool.is_deferred());
        assert_eq!(
            eager.render(&dialect).as_str(),
            plain.render(&dialect).as_str()
        );
    }
}

#[test]
fn mcp_lists_all_tools() {
    let tools = tools_field(&registry(), &Mcp::default());
    assert_eq!(tools.len(), 4);
    assert!(
        !registry()
            .render(&Mcp::default())
            .as_str()
            .contains("defer")
    );
}

#[test]
fn a_search_returns_what_a_call_needs() {
    let text = search(&registry(), "How is the weather in Lisbon?");
    let tools: Vec<Value> = serde_json::from_str(&text).unwrap();
    let spec = registry().get("get_forecast").unwrap();
    let parameters: Value = serde_json::from_str(spec.parameters_json()).unwrap();
    assert_eq!(
        tools,
        [
            json!({"name": "get_forecast", "description": "The weather in the next days.",
            "parameters": parameters})
        ]
    );
    // Words of the group are found too.
    assert_eq!(found(&registry(), "crm"), ["cancel_order", "list_orders"]);
    // What is listed need not be found.
    assert!(search(&registry(), "roll a die").starts_with("No tool matches"));
    let call = ToolCall::new("1", "search_tools", r#"{"query":"order","limit":1}"#);
    let one: Vec<Value> = serde_json::from_str(registry().call_blocking(call).content()).unwrap();
    assert_eq!(one.len(), 1);
    let call = ToolCall::new("1", "search_tools", r#"{"query":"order","limit":21}"#);
    let result = registry().call_blocking(call);
    assert_eq!(result.error().unwrap().violations()[0].path(), "limit");
    // An application searches all tools.
    assert_eq!(registry().search("roll a die", 3)[0].name, "roll_die");
    assert_eq!(registry().search("order", 0).len(), 0);
}

#[test]
fn a_call_by_call_tool_is_a_call_of_the_tool() {
    let registry = registry();
    let direct = ToolCall::new("1", "get_forecast", r#"{"city":"Lisbon","days":3}"#);
    let direct = registry.call_blocking(direct);
    assert_eq!(direct.content(), "sunny in Lisbon for 3 days");
    for arguments in [
        json!({"city": "Lisbon", "days": 3}),
        json!({"city": "Lisbon", "days": 3.0}),
        json!(r#"{"city":"Lisbon","days":3}"#),
    ] {
        let text = call_tool("1", "get_forecast", arguments.clone());
        let wrapped = json!({"arguments": arguments, "name": "get_forecast"});
        let value = ToolCall::new("1", "call_tool", wrapped);
        for call in [text, value] {
            assert!(registry.validate(&call).is_ok());
            let result = registry.call_blocking(call);
            assert_eq!(result.name(), "get_forecast");
            assert_eq!(result.call_id(), "1");
            assert_eq!(result.content(), direct.content());
        }
    }
    for text in [
        r#"{"name":"roll_die"}"#,
        r#"{"name":"roll_die","arguments":null}"#,
    ] {
        let result = registry.call_blocking(ToolCall::new("1", "call_tool", text));
        assert_eq!(result.content(), "4");
    }
    // An integer that a JSON value would round.
    let text = r#"{"name":"list_orders","arguments":{"customer":18446744073709551616}}"#;
    let result = registry.call_blocking(ToolCall::new("1", "call_tool", text));
    assert!(
        result.content().contains("18446744073709551616"),
        "{}",
        result.content()
    );
}

#[test]
fn violations_have_the_paths_of_the_tool() {
    let call = call_tool("1", "get_forecast", json!({"days": 15, "town": "Lisbon"}));
    let direct = ToolCall::new("1", "get_forecast", r#"{"days":15,"town":"Lisbon"}"#);
    let registry = registry();
    let error = registry.validate(&call).unwrap_err();
    let expected = registry.validate(&direct).unwrap_err().to_string();
    assert_eq!(plain(&error.to_string()), plain(&expected));
    let result = registry.call_blocking(call);
    assert_eq!(
        plain(result.content()),
        plain(registry.call_blocking(direct).content())
    );
    let paths: Vec<_> = error
        .violations()
        .iter()
        .map(|one| one.path().to_owned())
        .collect();
    assert!(
        paths.contains(&"days".to_owned()) && paths.contains(&"city".to_owned()),
        "{paths:?}"
    );
}

#[test]
fn wrong_arguments_of_call_tool_are_reported() {
    let registry = registry();
    for (text, path) in [
        (r#"{"arguments":{}}"#, "name"),
        (r#"{"name":5}"#, "name"),
        (r#"{"name":"roll_die","arguments":[]}"#, "arguments"),
        (r#"{"name":"roll_die","arguments":3}"#, "arguments"),
        (r#"{"name":"get_forecast","city":"Lisbon"}"#, "city"),
    ] {
        let value: Value = serde_json::from_str(text).unwrap();
        for call in [
            ToolCall::new("1", "call_tool", text),
            ToolCall::new("1", "call_tool", value),
        ] {
            let result = registry.call_blocking(call);
            assert_eq!(result.name(), "call_tool");
            let error = result.error().unwrap();
            assert_eq!(error.kind(), ToolErrorKind::InvalidArguments, "{text}");
            assert_eq!(error.violations()[0].path(), path, "{text}: {error}");
        }
    }
    for text in [
        r#"{"name":"roll_die","name":"cancel_order"}"#,
        "{",
        "[]",
        "",
    ] {
        let result = registry.call_blocking(ToolCall::new("1", "call_tool", text));
        assert!(result.is_error(), "{text}");
    }
    // What is left of a truncated call may look complete.
    let call = call_tool("1", "roll_die", json!({})).truncated();
    let result = registry.call_blocking(call);
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::MalformedJson);
    // Neither of the two is called by the other.
    for name in ["call_tool", "search_tools"] {
        let result = registry.call_blocking(call_tool("1", name, json!({"query": "order"})));
        assert_eq!(result.error().unwrap().kind(), ToolErrorKind::UnknownTool);
    }
}

#[test]
fn an_unknown_name_does_not_show_deferred_tools() {
    let registry = registry();
    for name in ["get_forecst", "list_order", "crm", "cancel_orders", "x"] {
        for call in [
            ToolCall::new("1", name, "{}"),
            call_tool("1", name, json!({})),
        ] {
            let result = registry.call_blocking(call.clone());
            assert_eq!(result.error().unwrap().kind(), ToolErrorKind::UnknownTool);
            assert_eq!(
                plain(result.content()),
                format!("unknown tool {name}: search for a tool that does this")
            );
            let error = registry.validate(&call).unwrap_err().to_string();
            assert_eq!(plain(&error), plain(result.content()));
        }
    }
    let result = registry.call_blocking(ToolCall::new("1", "roll_dice", "{}"));
    assert!(result.content().ends_with("did you mean roll_die?"));
    // Without deferred tools, the two are unknown.
    let plain = Registry::builder().tools(tools![roll_die]).build().unwrap();
    for name in ["call_tool", "search_tools"] {
        let result = plain.call_blocking(ToolCall::new("1", name, r#"{"name":"roll_die"}"#));
        assert_eq!(result.error().unwrap().kind(), ToolErrorKind::UnknownTool);
    }
}

#[test]
fn a_search_covers_exactly_a_selection() {
    let registry = registry();
    let harmless = registry.select(|tool| tool.annotations.destructive != Some(true));
    assert_eq!(found(&harmless, "order"), ["list_orders"]);
    let result = harmless.call_blocking(call_tool("1", "cancel_order", json!({"order": 1})));
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::UnknownTool);
    assert_eq!(
        found(&registry.group("crm"), "order weather"),
        ["cancel_order", "list_orders"]
    );
    assert_eq!(found(&registry, "order").len(), 2);
    // The index follows the tools.
    registry.remove("cancel_order").unwrap();
    assert_eq!(found(&registry, "order"), ["list_orders"]);
    let registry = registry.without_hosted();
    assert_eq!(found(&registry, "order"), ["list_orders"]);
}

/// Waves.
#[tool(unlinked)]
fn wave() {}

/// Says a word and who calls.
#[tool(unlinked)]
fn echo(word: &str, #[param(context)] user: &User, call: &CallContext) -> String {
    format!("{} says {word} in {}", user.0, call.tool_name())
}

struct User(&'static str);

#[test]
fn hooks_limits_and_context_are_those_of_the_tool() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (before, after) = (seen.clone(), seen.clone());
    let registry = Registry::builder()
        .tools(tools![echo, cancel_order])
        .defer(|_| true)
        .context_per_call::<User>()
        .output_cap(30)
        .before(move |hook| {
            let arguments = Value::Object(hook.call.arguments.to_object().unwrap());
            let seen = format!("{} {} {arguments}", hook.tool.name, hook.call.name);
            before.lock().unwrap().push(seen);
            async move {
                match hook.tool.annotations.destructive {
                    Some(true) => Gate::deny("no"),
                    _ => Gate::change(json!({"word": "changed"})),
                }
            }
        })
        .after(move |hook, result| {
            after
                .lock()
                .unwrap()
                .push(format!("after {} {}", hook.tool.name, result.name()));
            async { result }
        })
        .build()
        .unwrap();
    let call = call_tool("1", "echo", json!({"word": "hello"})).with(User("Ada"));
    let result = registry.call_blocking(call);
    assert_eq!(result.content(), "Ada says changed in echo");
    let denied = registry.call_blocking(call_tool("2", "cancel_order", json!({"order": 5})));
    assert_eq!(denied.error().unwrap().kind(), ToolErrorKind::Denied);
    assert_eq!(denied.name(), "cancel_order");
    assert_eq!(
        *seen.lock().unwrap(),
        [
            r#"echo echo {"word":"hello"}"#,
            "after echo echo",
            r#"cancel_order cancel_order {"order":5}"#,
            "after cancel_order cancel_order",
        ]
    );
    let token = CancellationToken::new();
    token.cancel();
    let call = call_tool("3", "cancel_order", json!({"order": 5})).cancel_with(&token);
    let result = registry.call_blocking(call);
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Cancelled);
    // A search is a call of `search_tools`.
    seen.lock().unwrap().clear();
    let allowing = Registry::builder()
        .tools(tools![cancel_order])
        .defer(|_| true)
        .before(|hook| async move { Gate::deny(format!("{} is denied", hook.tool.name)) })
        .build()
        .unwrap();
    assert!(search(&allowing, "order").ends_with("search_tools is denied"));
}

#[test]
fn telemetry_shows_the_tool() {
    let capture = capture::capture();
    registry().call_blocking(call_tool(
        "deferred_1",
        "get_forecast",
        json!({"city": "a", "days": 1}),
    ));
    let span = capture.span("deferred_1");
    assert_eq!(span.fields["gen_ai.tool.name"], "get_forecast");
}

/// A result has the name that the provider knows.
#[test]
fn a_result_answers_the_call_of_the_model() {
    let response = json!({"candidates": [{"content": {"role": "model", "parts": [
        {"functionCall": {"name": "call_tool", "args":
            {"name": "get_forecast", "arguments": {"city": "Lisbon", "days": 3}}}},
        {"functionCall": {"name": "get_forecast", "args": {"city": "Lisbon", "days": 3}}},
    ]}, "finishReason": "STOP"}]});
    let gemini = Gemini::default();
    let calls = gemini.read(&response).unwrap().calls.into_iter();
    let results: Vec<_> = calls.map(|call| registry().call_blocking(call)).collect();
    assert!(results.iter().all(|result| result.name() == "get_forecast"));
    // A saved result keeps it.
    let saved = serde_json::to_string(&results).unwrap();
    let restored: Vec<ToolResult> = serde_json::from_str(&saved).unwrap();
    for results in [results, restored] {
        let messages = gemini.results(&results);
        let name = |at: usize| messages[0]["parts"][at]["functionResponse"]["name"].clone();
        assert_eq!(
            (name(0), name(1)),
            (json!("call_tool"), json!("get_forecast"))
        );
    }
    let step = json!({"type": "function_call", "id": "f", "name": "call_tool", "arguments":
        {"name": "get_forecast", "arguments": {"city": "Lisbon", "days": 3}}});
    let gemini = GeminiInteractions::default();
    let turn = gemini.read(&json!({"status": "requires_action", "steps": [step]}));
    let result = registry().call_blocking(turn.unwrap().calls.remove(0));
    assert_eq!(result.name(), "get_forecast");
    // The API rejects another name than that of the call.
    assert_eq!(gemini.results(&[result])[0]["name"], "call_tool");
}

#[test]
fn what_a_provider_finds_is_read_and_repeated() {
    let anthropic = Anthropic::default();
    let response = deferred::anthropic_response();
    let turn = anthropic.read(&response).unwrap();
    let calls = &turn.calls;
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].name, "get_forecast");
    let result = registry().call_blocking(calls[0].clone());
    assert_eq!(result.content(), "sunny in Lisbon for 3 days");
    assert_eq!(turn.text, "I search for a tool.");
    let messages = anthropic.follow_up(&turn, &[result]);
    assert_eq!(messages[0]["content"], response["content"]);
    assert_eq!(messages[1]["content"][0]["tool_use_id"], "toolu_1");

    let openai = OpenAiResponses::default();
    let response = deferred::openai_response();
    let turn = openai.read(&response).unwrap();
    let calls = &turn.calls;
    assert_eq!(calls.len(), 1);
    let result = registry().call_blocking(calls[0].clone());
    assert_eq!(result.content(), "[7]");
    let items = openai.follow_up(&turn, &[result]);
    // OpenAI rejects a call that is repeated without its namespace.
    assert_eq!(items[..3], response["output"].as_array().unwrap()[..]);
    assert_eq!(items[3]["call_id"], "call_1");
}

#[test]
fn streams_keep_what_a_provider_finds() {
    let response = deferred::anthropic_response();
    let mut message = response.clone();
    message["content"] = json!([]);
    let mut events = vec![json!({"type": "message_start", "message": message})];
    for (index, block) in response["content"].as_array().unwrap().iter().enumerate() {
        let mut start = block.clone();
        let input = start.get_mut("input").map(Value::take);
        if input.is_some() {
            start["input"] = json!({});
        }
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        if let Some(input) = input {
            let delta = json!({"type": "input_json_delta", "partial_json": input.to_string()});
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}));
    events.push(json!({"type": "message_stop"}));
    check_stream(&Anthropic::default(), &events, &response, "get_forecast");

    let response = deferred::openai_response();
    let mut events = vec![json!({"type": "response.created", "response": {}})];
    for (index, item) in response["output"].as_array().unwrap().iter().enumerate() {
        for kind in ["added", "done"] {
            let kind = format!("response.output_item.{kind}");
            events.push(json!({"type": kind, "output_index": index, "item": item}));
        }
    }
    events.push(json!({"type": "response.completed", "response": response}));
    check_stream(
        &OpenAiResponses::default(),
        &events,
        &response,
        "list_orders",
    );
}

fn check_stream(dialect: &dyn Dialect, stream: &[Value], response: &Value, tool: &str) {
    let mut reader = dialect.stream();
    let events: Vec<_> = stream
        .iter()
        .flat_map(|event| reader.event(event).unwrap())
        .collect();
    let calls = events.iter().filter_map(|event| match event {
        StreamEvent::Call(call) => Some(&*call.name),
        StreamEvent::Unknown(kind) => panic!("{kind} is unknown"),
        _ => None,
    });
    assert_eq!(calls.collect::<Vec<_>>(), [tool]);
    assert_eq!(reader.finish().unwrap().1["content"], response["content"]);
}

#[test]
fn a_run_holds_the_tool_and_keeps_the_call() {
    let registry = Registry::builder()
        .tools(tools![get_forecast, cancel_order])
        .defer(|_| true)
        .before(async |hook| match hook.tool.annotations.destructive {
            Some(true) => Gate::hold("it cancels an order"),
            _ => Gate::Allow,
        })
        .build()
        .unwrap();
    let wrapped = |name: &str, arguments: Value| {
        let arguments = json!({"name": name, "arguments": arguments}).to_string();
        json!({"id": name, "type": "function", "function": {"name": "call_tool", "arguments": arguments}})
    };
    let calls = [
        wrapped("cancel_order", json!({"order": 5})),
        wrapped("get_forecast", json!({"city": "Lisbon", "days": 3})),
    ];
    let response = json!({"choices": [{"message": {"role": "assistant", "tool_calls": calls}}]});
    let dialect = OpenAiChat::default();
    let mut run = Run::new("run-1");
    run.push(json!({"role": "user", "content": "Go."})).unwrap();
    let turn = dialect.read(&response).unwrap();
    run.respond(&dialect, &registry, turn).unwrap();
    // A destructive tool runs alone, whatever its name on the wire.
    let mut steps = Vec::new();
    while let Step::Call(calls) = run.next() {
        run.start(&calls).unwrap();
        steps.push(calls.len());
        for call in calls {
            run.finish(&dialect, registry.call_blocking(call)).unwrap();
        }
    }
    assert_eq!(steps, [1, 1]);
    let pending = run.pending();
    assert_eq!(pending.len(), 1);
    let fingerprint = pending[0].fingerprint().to_owned();
    let wrong = Decision::Change(json!({"order": "x"}).into());
    assert!(run.decide(&registry, &fingerprint, wrong, "Ada").is_err());
    let changed = Decision::Change(json!({"order": 6}).into());
    run.decide(&registry, &fingerprint, changed, "Ada").unwrap();
    while let Step::Call(calls) = run.next() {
        run.start(&calls).unwrap();
        for call in calls {
            run.finish(&dialect, registry.call_blocking(call)).unwrap();
        }
    }
    let round = run.rounds().last().unwrap();
    let contents: Vec<_> = round
        .calls()
        .map(|(_, result)| result.unwrap().content())
        .collect();
    assert_eq!(
        contents,
        ["order 6 is cancelled", "sunny in Lisbon for 3 days"]
    );
}

#[test]
fn arguments_of_call_tool_can_be_streamed() {
    let registry = registry();
    let mut reader = registry.arguments("call_tool").unwrap();
    reader.push(r#"{"name":"get_forecast","argu"#);
    reader.push(r#"ments":{"city":"Lisbon","days":15}}"#);
    assert!(reader.error().is_none());
    let error = reader.finish().unwrap_err();
    assert_eq!(error.violations()[0].path(), "days");
    let mut reader = registry.arguments("call_tool").unwrap();
    reader.push(r#"{"name":"get_forecast","city":1,"#);
    assert!(reader.error().is_some());
    let mut reader = registry.arguments("call_tool").unwrap();
    reader.push(r#"{"name":"roll_die"}"#);
    assert_eq!(reader.finish().unwrap(), r#"{"name":"roll_die"}"#);
    let mut reader = registry.arguments("search_tools").unwrap();
    reader.push(r#"{"query":"order","limit":50"#);
    reader.push("}");
    assert!(reader.error().is_some());
    let plain = Registry::builder().tools(tools![roll_die]).build().unwrap();
    assert!(plain.arguments("call_tool").is_none());
}

#[test]
fn reserved_names_are_an_error() {
    let named = |name: &str| {
        DynamicTool::builder(name)
            .description("Does something.")
            .build(|_, _| async { Ok::<_, std::fmt::Error>("done") })
            .unwrap()
    };
    for name in [
        "search_tools",
        "call_tool",
        "tool_search",
        "tool_search_tool_bm25",
    ] {
        let builder = Registry::builder()
            .tool(named(name))
            .tools(tools![roll_die]);
        assert!(builder.clone().build().is_ok());
        let error = builder
            .defer_tools(["roll_die"])
            .build()
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("these names are reserved"), "{error}");
        assert!(error.contains(name), "{error}");
        assert!(registry().add([named(name).into()]).is_err());
    }
}

#[test]
fn rules_apply_to_tools_that_come_later() {
    let registry = Registry::builder().defer_groups(["crm"]).build().unwrap();
    registry.add(tools![roll_die]).unwrap();
    registry
        .add(tools![list_orders].map(|tool| tool.in_group("crm")))
        .unwrap();
    let names = |is_deferred| {
        let tools = registry.specs().into_iter();
        let tools = tools.filter(move |tool| tool.is_deferred() == is_deferred);
        tools.map(|tool| tool.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(true), ["list_orders"]);
    assert_eq!(names(false), ["roll_die"]);
    // A change elsewhere replaces no entry.
    let changes = Arc::new(Mutex::new(Vec::new()));
    let sink = changes.clone();
    let _listener = registry.on_change(move |_, change| {
        sink.lock()
            .unwrap()
            .push((change.added.len(), change.replaced.len()));
    });
    registry.add(tools![get_forecast]).unwrap();
    assert_eq!(*changes.lock().unwrap(), [(1, 0)]);
}

/// Limits on the number of tools count the tools of the request.
#[test]
fn limits_count_the_listed_tools() {
    let tool = |number: u32| {
        DynamicTool::builder(format!("tool_{number}"))
            .description("Does something.")
            .build(|_, _| async { Ok::<_, std::fmt::Error>("done") })
            .unwrap()
    };
    let builder = (0..200).fold(Registry::builder(), |builder, number| {
        builder.tool(tool(number))
    });
    let registry = builder.clone().build().unwrap();
    let deferred = builder.defer(|_| true).build().unwrap();
    for dialect in [
        &OpenAiChat::default() as &dyn Dialect,
        &OpenAiResponses::default(),
    ] {
        assert_eq!(registry.render(dialect).broken_rules().len(), 1);
        assert_eq!(deferred.render(dialect).broken_rules().len(), 0);
    }
}
