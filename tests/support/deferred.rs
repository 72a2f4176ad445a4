//! A registry with deferred tools, and responses of models that search for them.

use serde_json::{Value, json};
use tool_core::{Registry, tool, tools};

/// Rolls a die.
#[tool(unlinked)]
pub(crate) fn roll_die() -> u8 {
    4
}

/// The weather in the next days.
#[tool(unlinked, defer, read_only)]
pub(crate) fn get_forecast(city: &str, #[param(range = 1..=14)] days: u8) -> String {
    format!("sunny in {city} for {days} days")
}

/// Lists the open orders of a customer.
#[tool(unlinked)]
pub(crate) fn list_orders(customer: u32) -> Vec<u32> {
    vec![customer]
}

/// Cancels an order.
#[tool(unlinked, destructive)]
pub(crate) fn cancel_order(order: u32) -> String {
    format!("order {order} is cancelled")
}

/// `roll_die` is listed, `get_forecast` deferred by itself, and the group `crm` as a whole.
pub(crate) fn registry() -> Registry {
    Registry::builder()
        .tools(tools![roll_die, get_forecast])
        .group("crm", tools![list_orders, cancel_order])
        .describe_group("crm", "Customers and their orders.")
        .defer_groups(["crm"])
        .build()
        .unwrap()
}

/// As in Anthropic's guide "Tool search tool".
pub(crate) fn anthropic_response() -> Value {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": [
            {"type": "text", "text": "I search for a tool."},
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "tool_search_tool_bm25",
             "input": {"query": "weather"}},
            {"type": "tool_search_tool_result", "tool_use_id": "srvtoolu_1",
             "content": {"type": "tool_search_tool_search_result", "tool_references": [
                 {"type": "tool_reference", "tool_name": "get_forecast"}]}},
            {"type": "server_tool_use", "id": "srvtoolu_2", "name": "tool_search_tool_bm25",
             "input": {"query": "mail"}},
            {"type": "tool_search_tool_result", "tool_use_id": "srvtoolu_2",
             "content": {"type": "tool_search_tool_result_error", "error_code": "unavailable",
                         "error_message": null}},
            {"type": "tool_use", "id": "toolu_1", "name": "get_forecast",
             "input": {"city": "Lisbon", "days": 3}},
        ],
        "stop_reason": "tool_use", "stop_sequence": null,
        "usage": {"input_tokens": 472, "output_tokens": 187},
    })
}

/// As in OpenAI's guide "Tool search".
pub(crate) fn openai_response() -> Value {
    let loaded = json!([{"type": "namespace", "name": "crm",
        "description": "Customers and their orders.", "tools": [
            {"type": "function", "name": "list_orders",
             "description": "Lists the open orders of a customer.", "defer_loading": true,
             "parameters": {"type": "object", "properties": {"customer": {"type": "integer"}}},
             "strict": false}]}]);
    json!({
        "id": "resp_1", "object": "response", "status": "completed", "error": null,
        "incomplete_details": null, "model": "gpt-5.4",
        "output": [
            {"type": "tool_search_call", "id": "tsc_1", "call_id": null, "execution": "server",
             "status": "completed", "arguments": {"paths": ["crm"]}},
            {"type": "tool_search_output", "id": "tso_1", "call_id": null,
             "execution": "server", "status": "completed", "tools": loaded},
            {"type": "function_call", "id": "fc_1", "call_id": "call_1", "status": "completed",
             "name": "list_orders", "namespace": "crm", "arguments": "{\"customer\":7}"},
        ],
        "parallel_tool_calls": true,
    })
}
