//! Tests of what models read: the tools, and the reply to a wrong call.

use serde_json::json;
use tool_core::ToolCall;

#[test]
fn a_wrong_call_is_told_all_that_is_wrong() {
    let tools = trips::tools().build().unwrap();
    let call = ToolCall::new("call_1", "get_forecast", json!({"days": 300}));
    let result = tools.call_blocking(call);
    assert_eq!(result.error().unwrap().violations().len(), 2);
}

#[test]
fn what_models_read_was_reviewed() {
    let tools = trips::tools().build().unwrap();
    tool_docs::testing::check(&tools)
        .lock("tools.lock.json")
        .run();
}
