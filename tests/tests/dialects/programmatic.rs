//! Tools that programs of a model call.

use futures_util::FutureExt;
use serde::Deserialize;
use serde_json::{Value, json};
use tool_agent::Agent;
use tool_agent::run::Run;
use tool_agent::testing::ScriptedModel;
use tool_core::call::CallPosition;
use tool_core::content::Image;
use tool_core::dialect::HostedTool;
use tool_core::dialect::{Dialect, RequestOptions, StreamEvent, ToolChoice};
use tool_core::dynamic::DynamicTool;
use tool_core::hooks::Gate;
use tool_core::spec::Programmatic;
use tool_core::{Registry, ToolCall, ToolEntry, ToolResult, ToolType, tool, tools};
use tool_dialects::{
    Anthropic, Bedrock, Cohere, Gemini, GeminiInteractions, Mcp, Mistral, OpenAiChat,
    OpenAiResponses, XAi,
};

use super::{Forecast, get_forecast, list_alarms};

/// Finds the weather of a city.
#[tool(programmatic)]
fn find_weather(city: &str) -> Forecast {
    Forecast {
        city: city.into(),
        highs: vec![21.5],
    }
}

/// Counts the stations of a city.
#[tool(programmatic = only)]
fn count_stations(city: &str) -> String {
    format!("{city} has 2")
}

#[derive(Deserialize, ToolType)]
struct Folder {
    folders: Vec<Folder>,
}

/// Creates a folder.
#[tool(programmatic)]
fn create_folder(root: Folder) -> usize {
    root.folders.len()
}

pub(crate) fn tools() -> Vec<ToolEntry> {
    tools![find_weather, count_stations, create_folder, list_alarms].into()
}

fn registry(hosted: impl IntoIterator<Item = Value>) -> Registry {
    let builder = Registry::builder().tools(tools());
    let hosted = hosted.into_iter().map(HostedTool::new);
    hosted
        .fold(builder, tool_core::RegistryBuilder::hosted)
        .build()
        .unwrap()
}

fn tool<'t>(name: &str, tools: &'t Value) -> &'t Value {
    let tools = tools.as_array().unwrap();
    tools.iter().find(|tool| tool["name"] == name).unwrap()
}

const PROGRAMS: &str = "programmatic_tool_calling";

#[test]
fn responses_has_callers_and_output_schemas() {
    for dialect in [OpenAiResponses::default(), OpenAiResponses::strict()] {
        let tools = json!(registry([json!({"type": PROGRAMS})]).render(&dialect));
        let weather = tool("find_weather", &tools);
        assert_eq!(
            weather["allowed_callers"],
            json!(["direct", "programmatic"])
        );
        let schema = &weather["output_schema"];
        assert_eq!(schema["properties"]["city"], json!({"type": "string"}));
        let stations = tool("count_stations", &tools);
        assert_eq!(stations["allowed_callers"], json!(["programmatic"]));
        // Its result is text, not a JSON string.
        assert!(stations.get("output_schema").is_none());
        let alarms = tool("list_alarms", &tools);
        assert!(alarms.get("allowed_callers").is_none());
        assert!(alarms.get("output_schema").is_none());
    }
}

#[test]
fn anthropic_names_the_version_of_its_code_execution() {
    for (kind, is_known) in [
        ("code_execution_20250522", false),
        ("code_execution_20250825", true),
        ("code_execution_20260120", true),
        ("code_execution_20260521", true),
    ] {
        let hosted = [json!({"type": kind, "name": "code_execution"})];
        let rendered = registry(hosted).render(&Anthropic::default());
        let tools = json!(rendered);
        if is_known {
            let weather = tool("find_weather", &tools);
            assert_eq!(weather["allowed_callers"], json!(["direct", kind]));
            let stations = tool("count_stations", &tools);
            assert_eq!(stations["allowed_callers"], json!([kind]));
        } else {
            assert!(!tools.to_string().contains("allowed_callers"));
        }
        assert!(
            tool("create_folder", &tools)
                .get("allowed_callers")
                .is_none()
        );
        assert!(tool("list_alarms", &tools).get("allowed_callers").is_none());
    }
}

#[test]
fn what_a_provider_rejects_is_reported() {
    let hosted = || [json!({"type": "code_execution_20260120", "name": "code_execution"})];
    let rendered = registry(hosted()).render(&Anthropic::default());
    let ids = |rendered: &tool_core::dialect::Rendered| {
        let broken = rendered.broken_rules().iter();
        let mut ids: Vec<_> = broken.map(|broken| broken.rule.id).collect();
        ids.sort_unstable();
        ids
    };
    assert_eq!(ids(&rendered), ["anthropic.programmatic.recursion"]);
    let message = rendered.broken_rules()[0].to_string();
    assert!(message.contains("create_folder"), "{message}");
    let rendered = registry(hosted()).render(&Anthropic::strict());
    let strict = "anthropic.strict.programmatic";
    assert_eq!(
        ids(&rendered),
        ["anthropic.programmatic.recursion", strict, strict]
    );
    let tools = json!(rendered);
    assert!(tool("find_weather", &tools).get("strict").is_none());
    assert_eq!(tool("list_alarms", &tools)["strict"], true);
    // Without programs, nothing is wrong.
    let rendered = registry([]).render(&Anthropic::strict());
    assert_eq!(ids(&rendered), [""; 0]);
    assert_eq!(tool("find_weather", &json!(rendered))["strict"], true);
}

/// A request without the tool that runs programs would fail.
#[test]
fn without_programs_the_tools_are_plain() {
    let dialects: [Box<dyn Dialect>; 10] = [
        Box::new(OpenAiResponses::default()),
        Box::new(OpenAiChat::default()),
        Box::new(Anthropic::default()),
        Box::new(Gemini::default()),
        Box::new(GeminiInteractions::default()),
        Box::new(Bedrock::default()),
        Box::new(Cohere::default()),
        Box::new(XAi::default()),
        Box::new(Mistral::default()),
        Box::new(Mcp::default()),
    ];
    for dialect in dialects {
        let tools = json!(registry([]).render(&*dialect)).to_string();
        assert!(!tools.contains("allowed_callers"), "{tools}");
        assert!(!tools.contains("output_schema"), "{tools}");
    }
}

#[test]
fn a_dynamic_tool_is_programmatic_too() {
    let output = json!({"type": "object", "properties": {"stock": {"type": "integer"}}});
    let tool = DynamicTool::builder("find_stock")
        .description("Finds the stock.")
        .output(output.clone())
        .programmatic(Programmatic::Only)
        .build(async |_, _| Ok::<_, String>(json!({"stock": 7})))
        .unwrap();
    let registry = Registry::builder()
        .tool(tool)
        .hosted(HostedTool::new(json!({"type": PROGRAMS})))
        .build()
        .unwrap();
    let tools = json!(registry.render(&OpenAiResponses::default()));
    assert_eq!(tools[0]["allowed_callers"], json!(["programmatic"]));
    assert_eq!(tools[0]["output_schema"], output);
}

pub(crate) fn responses() -> Value {
    let caller = json!({"type": "program", "caller_id": "call_prog"});
    json!({"object": "response", "status": "completed", "output": [
        {"type": "program", "id": "prog_1", "call_id": "call_prog", "code": "…", "fingerprint": "f"},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "find_weather",
         "arguments": "{\"city\":\"Lisbon\"}", "caller": caller},
        {"type": "function_call", "id": "fc_2", "call_id": "call_2", "name": "count_stations",
         "arguments": "{}", "caller": caller, "namespace": "weather"},
        {"type": "function_call", "id": "fc_3", "call_id": "call_3", "name": "list_alarms",
         "arguments": "{}", "caller": {"type": "direct"}},
        {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_4", "name": "unknown",
         "input": "x", "caller": caller},
    ]})
}

#[test]
fn results_of_responses_repeat_the_caller() {
    let dialect = OpenAiResponses::default();
    let calls = dialect.read(&responses()).unwrap().calls;
    let programmatic: Vec<_> = calls.iter().map(ToolCall::is_programmatic).collect();
    assert_eq!(programmatic, [true, true, false, true]);
    assert_eq!(calls[1].namespace(), Some("weather"));
    let caller = json!({"type": "program", "caller_id": "call_prog"});
    assert_eq!(calls[1].caller(), Some(&caller));
    assert_eq!(calls[2].caller(), None);
    let results: Vec<_> = calls
        .into_iter()
        .map(|call| registry([]).call_blocking(call))
        .collect();
    let items = dialect.results(&results);
    let callers: Vec<_> = items.iter().map(|item| item.get("caller")).collect();
    let some = Some(&caller);
    assert_eq!(callers, [some, some, None, some]);
    // A success, a rejected call and an unknown tool.
    let errors: Vec<_> = results.iter().map(ToolResult::is_error).collect();
    assert_eq!(errors, [false, true, false, true]);
    assert_eq!(items[3]["type"], "custom_tool_call_output");
    assert_eq!(results[1].namespace(), Some("weather"));
}

#[test]
fn anthropic_sends_programs_text_only() {
    let caller = json!({"type": "code_execution_20260120", "tool_id": "srvtoolu_1"});
    let response = json!({"role": "assistant", "stop_reason": "tool_use", "content": [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "code_execution", "input": {"code": "…"}},
        {"type": "tool_use", "id": "toolu_1", "name": "find_weather", "input": {"city": "Lisbon"},
         "caller": caller},
        {"type": "tool_use", "id": "toolu_2", "name": "list_alarms", "input": {},
         "caller": {"type": "direct"}},
    ]});
    let dialect = Anthropic::default();
    let calls = dialect.read(&response).unwrap().calls;
    assert_eq!(calls[0].caller(), Some(&caller));
    assert!(!calls[1].is_programmatic());
    let picture = || Image::png(b"\x89PNG");
    let results = [
        ToolResult::new(&calls[0], picture()),
        ToolResult::new(&calls[1], picture()),
    ];
    let message = &dialect.results(&results)[0];
    let blocks = message["content"].as_array().unwrap();
    assert_eq!(blocks[0]["content"][0]["type"], "text");
    assert_eq!(blocks[1]["content"][0]["type"], "image");
    assert!(blocks.iter().all(|block| block["type"] == "tool_result"));
    assert!(blocks.iter().all(|block| block.get("caller").is_none()));
    assert_eq!(dialect.omitted(&results).len(), 1);
    // The turn repeats everything, the caller included.
    assert_eq!(
        dialect.read(&response).unwrap().messages[0]["content"],
        response["content"]
    );
}

#[test]
fn a_stream_has_the_caller() {
    let caller = json!({"type": "code_execution_20260120", "tool_id": "srvtoolu_1"});
    let block = json!({"type": "tool_use", "id": "toolu_1", "name": "list_alarms", "input": {},
                       "caller": caller});
    let dialect = Anthropic::default();
    let mut reader = dialect.stream();
    let mut calls = Vec::new();
    for event in [
        json!({"type": "message_start",
               "message": {"type": "message", "role": "assistant", "content": []}}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
        json!({"type": "message_stop"}),
    ] {
        for event in reader.event(&event).unwrap() {
            if let StreamEvent::Call(call) = event {
                calls.push(call);
            }
        }
    }
    let (turn, response) = reader.finish().unwrap();
    assert_eq!(response["content"][0]["caller"], caller);
    assert_eq!(turn.calls, calls);
    assert_eq!(calls[0].caller(), Some(&caller));
    assert_eq!(calls, dialect.read(&response).unwrap().calls);
}

#[test]
fn hooks_can_tell_programs_from_the_model() {
    let registry = Registry::builder()
        .tools(tools![get_forecast])
        .before(async |hook| {
            if hook.call.is_programmatic() {
                Gate::deny("only the model may ask")
            } else {
                Gate::Allow
            }
        })
        .build()
        .unwrap();
    let call = ToolCall::new("call_1", "get_forecast", r#"{"city":"Lisbon"}"#);
    assert!(!registry.call_blocking(call.clone()).is_error());
    let caller = json!({"type": "program", "caller_id": "call_0"});
    let result = registry.call_blocking(call.with_caller(caller.clone()));
    assert!(result.is_error());
    assert_eq!(result.caller(), Some(&caller));
}

pub(crate) fn anthropic_response() -> Value {
    let caller = json!({"type": "code_execution_20260120", "tool_id": "srvtoolu_1"});
    json!({"role": "assistant", "stop_reason": "tool_use", "container": {"id": "container_1"},
    "content": [
        {"type": "tool_use", "id": "toolu_1", "name": "find_weather", "input": {"city": "Lisbon"},
         "caller": caller},
        {"type": "tool_use", "id": "toolu_2", "name": "count_stations", "input": {},
         "caller": caller},
    ]})
}

/// Without the container, Anthropic rejects the results of a program's calls.
#[test]
fn a_request_for_a_typed_answer_keeps_the_container_of_a_program() {
    let answer =
        json!({"role": "assistant", "content": [{"type": "text", "text": r#"{"answer":7}"#}]});
    let model = ScriptedModel::new([anthropic_response(), answer]);
    let agent = Agent::new(registry([]), Anthropic::default(), model.clone());
    let answer = agent.ask_for::<u8>("?").now_or_never().unwrap();
    assert_eq!(answer.unwrap(), 7);
    let fields = json!(model.requests()[1].fields());
    assert_eq!(fields["container"], "container_1");
    assert!(fields["output_config"].is_object());
}

/// A saved run keeps who made its calls, and so do the results of calls that end in any way.
#[test]
fn a_saved_run_keeps_the_caller() {
    let registry = registry([]);
    let dialects: [(Box<dyn Dialect>, Value); 2] = [
        (Box::new(OpenAiResponses::default()), responses()),
        (Box::new(Anthropic::default()), anthropic_response()),
    ];
    for (dialect, response) in dialects {
        let saved = |run: &Run| -> Run {
            serde_json::from_str(&serde_json::to_string(run).unwrap()).unwrap()
        };
        let mut run = Run::new("run_1");
        run.push(dialect.user_message("?")).unwrap();
        let turn = dialect.read(&response).unwrap();
        run.respond(&dialect, &registry, turn).unwrap();
        let mut run = saved(&run);
        let calls = dialect.read(&response).unwrap().calls;
        let known = run.rounds()[0].calls().map(|(call, _)| call.clone());
        assert_eq!(known.collect::<Vec<_>>(), calls);
        // A call is known by its position.
        assert!(run.start(&calls).is_err());
        let places = 0..;
        let calls = calls.into_iter().zip(places);
        let calls: Vec<_> = calls
            .map(|(call, index)| call.at(CallPosition::new(0, index)))
            .collect();
        run.start(&calls).unwrap();
        let result = registry.call_blocking(calls[0].clone());
        run.finish(&dialect, result).unwrap();
        let mut run = saved(&run);
        // The others are interrupted.
        run.resume(&dialect, &registry).unwrap();
        let results = run.rounds()[0]
            .calls()
            .filter_map(|(_, result)| result.cloned());
        let results: Vec<_> = results.collect();
        let callers =
            |calls: &[ToolCall]| calls.iter().map(|call| call.caller().cloned()).collect();
        let expected: Vec<_> = callers(&calls);
        let found: Vec<_> = results
            .iter()
            .map(|result| result.caller().cloned())
            .collect();
        assert_eq!(found, expected);
        assert_eq!(results[1].namespace(), calls[1].namespace());
    }
}

#[tokio::test]
async fn an_agent_returns_to_the_container() {
    let text = json!({"role": "assistant", "stop_reason": "end_turn", "container": {"id": "c"},
                      "content": [{"type": "text", "text": "Sunny."}]});
    let model = ScriptedModel::new([anthropic_response(), text.clone(), text]);
    let agent = Agent::new(registry([]), Anthropic::default(), model.clone());
    let mut run = Run::new("run_1");
    for question in ["How is it?", "And now?"] {
        let question = Anthropic::default().user_message(question);
        run.push(question).unwrap();
        agent.run(&mut run).await.unwrap();
    }
    let containers: Vec<_> = model
        .requests()
        .iter()
        .map(|request| {
            let body: Value = serde_json::from_str(&request.body(json!({}))).unwrap();
            let field = request.fields().get("container").map(ToString::to_string);
            assert_eq!(field.is_some(), !body["container"].is_null());
            body["container"].clone()
        })
        .collect();
    // The next message of the user needs none.
    assert_eq!(containers, [Value::Null, json!("container_1"), Value::Null]);
}

#[test]
fn a_choice_keeps_to_what_programs_allow() {
    let hosted = [json!({"type": "code_execution_20260120", "name": "code_execution"})];
    let registry = registry(hosted);
    let dialect = Anthropic::default();
    let request = |options: RequestOptions| {
        let request = registry.request(&dialect).options(options).build().unwrap();
        (
            json!(request.fields())["tool_choice"].clone(),
            request.notes().len(),
        )
    };
    let options = RequestOptions::new;
    let (choice, notes) = request(options().choice(ToolChoice::tool("count_stations")));
    assert_eq!((choice, notes), (Value::Null, 1));
    let (choice, notes) = request(options().choice(ToolChoice::tool("find_weather")));
    assert_eq!((choice["name"].clone(), notes), (json!("find_weather"), 0));
    let (choice, notes) = request(options().parallel(false));
    assert_eq!((choice, notes), (Value::Null, 1));
}
