//! Results and turns that go back to the provider.

use std::convert::Infallible;

use serde_json::{Value, json};
use tool_core::dialect::Dialect;
use tool_core::dynamic::DynamicTool;
use tool_core::{Registry, ToolCall, ToolResult, tools};
use tool_dialects::{
    Anthropic, Bedrock, Cohere, Gemini, GeminiInteractions, Mcp, Mistral, OpenAiChat,
    OpenAiResponses, XAi,
};

use super::{cancel_booking, dialects, get_forecast, registry, sample_responses};

/// Runs the calls of a response. The second, the fourth and the last one fail.
async fn make_calls(dialect: &dyn Dialect, response: &Value) -> Vec<ToolResult> {
    let calls = dialect.read(response).unwrap().calls;
    let results = registry().call_all(calls).await;
    let failed: Vec<_> = results.iter().map(ToolResult::is_error).collect();
    assert_eq!(failed, [false, true, false, true, true]);
    results
}

const FORECAST: &str = r#"{"city":"Lisbon","highs":[21.5,21.5]}"#;

#[tokio::test]
async fn chat_completions_get_one_tool_message_a_call() {
    let dialect = OpenAiChat::default();
    let results = make_calls(&dialect, &sample_responses::chat()).await;
    assert_eq!(
        dialect.results(&results),
        [
            json!({"role": "tool", "tool_call_id": "call_A", "content": FORECAST}),
            json!({"role": "tool", "tool_call_id": "call_B", "content": results[1].content()}),
            json!({"role": "tool", "tool_call_id": "call_C", "content": "[7,19]"}),
            json!({"role": "tool", "tool_call_id": "call_D", "content": results[3].content()}),
            json!({"role": "tool", "tool_call_id": "call_E", "content": results[4].content()}),
        ]
    );
}

#[tokio::test]
async fn responses_answer_the_call_id_and_not_the_item_id() {
    let dialect = OpenAiResponses::default();
    let results = make_calls(&dialect, &sample_responses::responses()).await;
    let item = |call_id: &str, output: &str| json!({"type": "function_call_output", "call_id": call_id, "output": output});
    assert_eq!(
        dialect.results(&results),
        [
            item("call_A", FORECAST),
            item("call_B", results[1].content()),
            item("call_C", "[7,19]"),
            item("call_D", results[3].content()),
            item("call_E", results[4].content()),
        ]
    );
}

/// Results in several messages teach the model to stop making parallel calls.
#[tokio::test]
async fn anthropic_gets_one_message_that_marks_only_errors() {
    let dialect = Anthropic::default();
    let results = make_calls(&dialect, &sample_responses::anthropic()).await;
    let good = |id: &str, content: &str| json!({"type": "tool_result", "tool_use_id": id, "content": content});
    let bad = |id: &str, content: &str| json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": true});
    assert_eq!(
        dialect.results(&results),
        [json!({"role": "user", "content": [
            good("toolu_A", FORECAST),
            bad("toolu_B", results[1].content()),
            good("toolu_C", "[7,19]"),
            bad("toolu_D", results[3].content()),
            bad("toolu_E", results[4].content()),
        ]})]
    );
}

/// A generated id must not reach a provider that sent none.
#[tokio::test]
async fn gemini_gets_back_only_the_ids_that_it_sent() {
    let dialect = Gemini::default();
    let results = make_calls(&dialect, &sample_responses::gemini()).await;
    assert_eq!(
        dialect.results(&results),
        [json!({"role": "user", "parts": [
            {"functionResponse": {"id": "9f1c", "name": "get_forecast",
                "response": {"output": {"city": "Lisbon", "highs": [21.5, 21.5]}}}},
            {"functionResponse": {"name": "cancel_booking",
                "response": {"error": results[1].content()}}},
            {"functionResponse": {"name": "list_alarms", "response": {"output": [7, 19]}}},
            {"functionResponse": {"name": "get_forecast",
                "response": {"error": results[3].content()}}},
            {"functionResponse": {"name": "get_forcast",
                "response": {"error": results[4].content()}}},
        ]})]
    );
}

#[tokio::test]
async fn the_interactions_of_gemini_get_a_step_for_each_result() {
    let dialect = GeminiInteractions::default();
    let results = make_calls(&dialect, &sample_responses::gemini_interactions()).await;
    let good = |id: &str, name: &str, content: &str| {
        json!({"type": "function_result", "call_id": id, "name": name,
               "result": [{"type": "text", "text": content}]})
    };
    let bad = |id: &str, name: &str, content: &str| {
        let mut step = good(id, name, content);
        step["is_error"] = true.into();
        step
    };
    assert_eq!(
        dialect.results(&results),
        [
            good("call_A", "get_forecast", FORECAST),
            bad("call_B", "cancel_booking", results[1].content()),
            good("call_C", "list_alarms", "[7,19]"),
            bad("call_D", "get_forecast", results[3].content()),
            bad("call_E", "get_forcast", results[4].content()),
        ]
    );
}

#[tokio::test]
async fn bedrock_gets_one_message_that_marks_only_errors() {
    let dialect = Bedrock::default();
    let results = make_calls(&dialect, &sample_responses::bedrock()).await;
    let good = |id: &str, text: &str| json!({"toolResult": {"toolUseId": id, "content": [{"text": text}]}});
    let bad = |id: &str, text: &str| json!({"toolResult": {"toolUseId": id, "content": [{"text": text}], "status": "error"}});
    assert_eq!(
        dialect.results(&results),
        [json!({"role": "user", "content": [
            good("tooluse_A", FORECAST),
            bad("tooluse_B", results[1].content()),
            good("tooluse_C", "[7,19]"),
            bad("tooluse_D", results[3].content()),
            bad("tooluse_E", results[4].content()),
        ]})]
    );
}

#[tokio::test]
async fn dialects_like_chat_completions_write_the_same_results() {
    let dialects: [(&dyn Dialect, Value, &str); 3] = [
        (&XAi::default(), sample_responses::chat(), "call_C"),
        (
            &Mistral::default(),
            sample_responses::mistral(),
            "cBcD12345",
        ),
        (
            &Cohere::default(),
            sample_responses::cohere(),
            "list_alarms_c3",
        ),
    ];
    for (dialect, response, id) in dialects {
        let results = make_calls(dialect, &response).await;
        let messages = dialect.results(&results);
        assert_eq!(messages.len(), 5);
        assert_eq!(
            messages[2],
            json!({"role": "tool", "tool_call_id": id, "content": "[7,19]"})
        );
    }
}

/// Mistral would reject a generated id: it is not nine letters or digits.
#[test]
fn mistral_gets_only_the_ids_that_it_sent() {
    let call = json!({"function": {"name": "list_alarms", "arguments": "{}"}});
    let response = json!({"choices": [{"message": {"tool_calls": [call]}}]});
    let calls = Mistral::default().read(&response).unwrap().calls;
    let results: Vec<_> = calls
        .into_iter()
        .map(|call| registry().call_blocking(call))
        .collect();
    assert_eq!(
        Mistral::default().results(&results),
        [json!({"role": "tool", "content": "[7,19]"})]
    );
}

fn mcp_expected(results: &[ToolResult]) -> Value {
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    json!([
        {"jsonrpc": "2.0", "id": 7, "result": {
            "resultType": "complete", "isError": false, "content": text(FORECAST),
            "structuredContent": {"city": "Lisbon", "highs": [21.5, 21.5]}}},
        {"jsonrpc": "2.0", "id": "7", "result": {
            "resultType": "complete", "isError": true, "content": text(results[1].content())}},
        {"jsonrpc": "2.0", "id": "c", "result": {
            "resultType": "complete", "isError": false, "content": text("[7,19]"),
            "structuredContent": [7, 19]}},
        {"jsonrpc": "2.0", "id": -1, "result": {
            "resultType": "complete", "isError": true, "content": text(results[3].content())}},
        {"jsonrpc": "2.0", "id": 0, "error": {"code": -32602, "message": results[4].content()}},
    ])
}

/// JSON-RPC matches ids with their type: 7 is not "7".
#[tokio::test]
async fn mcp_ids_keep_their_type_and_an_unknown_tool_is_a_protocol_error() {
    let dialect = Mcp::default();
    let results = make_calls(&dialect, &sample_responses::mcp()).await;
    assert_eq!(json!(dialect.results(&results)), mcp_expected(&results));
}

#[tokio::test]
async fn older_mcp_versions_get_no_result_type_and_no_structured_array() {
    let dialect = Mcp::v2025_11_25();
    let results = make_calls(&dialect, &sample_responses::mcp()).await;
    let mut expected = mcp_expected(&results);
    for response in expected.as_array_mut().unwrap() {
        if let Some(result) = response.get_mut("result") {
            let result = result.as_object_mut().unwrap();
            result.remove("resultType");
            result.retain(|key, value| key != "structuredContent" || value.is_object());
        }
    }
    assert_eq!(json!(dialect.results(&results)), expected);
}

#[test]
fn plain_text_is_not_structured() {
    let call = ToolCall::new("1", "cancel_booking", r#"{"id":0}"#);
    let results = [registry().call_blocking(call)];
    let gemini = &Gemini::default().results(&results)[0]["parts"][0]["functionResponse"];
    assert_eq!(
        gemini,
        &json!({"id": "1", "name": "cancel_booking", "response": {"output": "done"}})
    );
    assert_eq!(
        Mcp::default().results(&results)[0]["result"],
        json!({"resultType": "complete", "isError": false,
               "content": [{"type": "text", "text": "done"}]})
    );
}

/// Reasoning and signatures must go back untouched, or the provider rejects the next request.
#[test]
fn the_turn_is_repeated_verbatim_before_the_results() {
    let turns = [
        vec![sample_responses::chat()["choices"][0]["message"].clone()],
        sample_responses::responses()["output"]
            .as_array()
            .unwrap()
            .clone(),
        vec![json!({"role": "assistant", "content": sample_responses::anthropic()["content"]})],
        vec![sample_responses::gemini()["candidates"][0]["content"].clone()],
        sample_responses::gemini_interactions()["steps"]
            .as_array()
            .unwrap()
            .clone(),
        vec![],
        vec![],
        vec![sample_responses::bedrock()["output"]["message"].clone()],
        vec![sample_responses::cohere()["message"].clone()],
        vec![sample_responses::chat()["choices"][0]["message"].clone()],
        vec![sample_responses::mistral()["choices"][0]["message"].clone()],
    ];
    let results = [registry().call_blocking(ToolCall::new("1", "list_alarms", ""))];
    for ((dialect, response), turn) in dialects().into_iter().zip(turns) {
        let read = dialect.read(&response).unwrap();
        assert_eq!(read.messages, turn);
        // Apart from what the provider would reject.
        let expected = turn
            .iter()
            .chain(&dialect.results(&results))
            .map(|message| dialect.repeat(message).into_owned())
            .collect::<Vec<_>>();
        assert_eq!(dialect.follow_up(&read, &results), expected);
    }
}

/// Providers reject an empty message, but accept an unanswered turn.
#[test]
fn no_results_make_no_message() {
    for (dialect, response) in dialects() {
        assert_eq!(dialect.results(&[]), [] as [Value; 0]);
        let turn = dialect.read(&response).unwrap();
        assert_eq!(dialect.follow_up(&turn, &[]).len(), turn.messages.len());
    }
    let empty = json!({"content": [], "stop_reason": "end_turn"});
    assert_eq!(
        Anthropic::default().read(&empty).unwrap().messages,
        [] as [Value; 0]
    );
    let empty = json!({"candidates": [{"content": {"role": "model"}}]});
    assert_eq!(
        Gemini::default().read(&empty).unwrap().messages,
        [] as [Value; 0]
    );
    let empty = json!({"status": "incomplete"});
    assert_eq!(
        GeminiInteractions::default().read(&empty).unwrap().messages,
        [] as [Value; 0]
    );
    let empty = json!({"output": {"message": {"role": "assistant", "content": []}}});
    assert_eq!(
        Bedrock::default().read(&empty).unwrap().messages,
        [] as [Value; 0]
    );
}

/// Clients reject a result without structured content if the tool has an output schema.
#[test]
fn mcp_shows_no_output_schema_if_results_are_truncated() {
    let object = json!({"type": "object", "properties": {}});
    let tool = DynamicTool::builder("dynamic").description("Answers.");
    let tool = tool
        .output(object)
        .build(async |_, _| Ok::<_, Infallible>(json!({})));
    let tools = Registry::builder().tools(tools![get_forecast, cancel_booking]);
    let tools = tools.tool(tool.unwrap());
    let (whole, capped) = (tools.clone(), tools.output_cap(30));
    let (whole, capped) = (whole.build().unwrap(), capped.build().unwrap());
    for mcp in [Mcp::default(), Mcp::v2025_11_25()] {
        let promised = |registry: &Registry| {
            let tools = json!(registry.render(&mcp));
            let tools = tools.as_array().unwrap().clone().into_iter();
            let promising = tools.filter(|tool| tool.get("outputSchema").is_some());
            promising
                .map(|tool| tool["name"].clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(promised(&whole), ["dynamic", "get_forecast"]);
        assert!(promised(&capped).is_empty());
    }
    // Other dialects keep it, and a short result is still structured.
    assert!(capped.get("get_forecast").unwrap().output_json().is_some());
    let result = capped.call_blocking(ToolCall::new("1", "dynamic", ""));
    assert_eq!(
        Mcp::default().results(&[result])[0]["result"]["structuredContent"],
        json!({})
    );
}
