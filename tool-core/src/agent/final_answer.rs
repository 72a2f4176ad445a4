//! [`WithFinalAnswer`]: reads a call of the tool for the final answer as an answer.

use serde_json::Value;

use crate::call::{ToolCall, ToolResult};
use crate::provider::answer::TOOL;
use crate::provider::dialect::{Dialect, JsonWriter, ResponseError, Usage};
use crate::provider::hosted_tool::HostedTool;
use crate::tool::ToolEntry;

/// Reads responses to requests for a typed answer.
///
/// Where the provider has no structured output, the model answers with a call. The text of the answer is
/// then the arguments of that call. Its result, and those of other calls in the response, are part of the
/// turn, because providers reject a conversation with a call that has none.
pub(super) struct WithFinalAnswer<'d>(pub(super) &'d dyn Dialect);

impl WithFinalAnswer<'_> {
    /// Returns the calls of a response in which the model answers with one.
    fn answering_calls(&self, response: &Value) -> Option<Vec<ToolCall>> {
        let calls = self.0.calls(response).ok()?;
        let is_answer = |call: &ToolCall| call.name == TOOL;
        calls.iter().any(is_answer).then_some(calls)
    }
}

impl Dialect for WithFinalAnswer<'_> {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        self.0.write_tools(tools, hosted, out);
    }

    fn calls(&self, response: &Value) -> Result<Vec<ToolCall>, ResponseError> {
        let calls = self.0.calls(response)?;
        let is_answer = |call: &ToolCall| call.name == TOOL;
        Ok(if calls.iter().any(is_answer) {
            Vec::new()
        } else {
            calls
        })
    }

    fn turn(&self, response: &Value) -> Vec<Value> {
        let mut turn = self.0.turn(response);
        if let Some(calls) = self.answering_calls(response) {
            let result = |call: &ToolCall| {
                let text = if call.name == TOOL {
                    "received"
                } else {
                    "not run, because the response has a final answer"
                };
                ToolResult::new(call, text)
            };
            let results: Vec<_> = calls.iter().map(result).collect();
            turn.extend(self.0.results(&results));
        }
        turn
    }

    fn text(&self, response: &Value) -> String {
        let calls = self.answering_calls(response).into_iter().flatten();
        match calls.into_iter().find(|call| call.name == TOOL) {
            Some(call) => call.arguments.into_text(),
            None => self.0.text(response),
        }
    }

    fn is_paused(&self, response: &Value) -> bool {
        self.0.is_paused(response)
    }

    fn usage(&self, response: &Value) -> Option<Usage> {
        self.0.usage(response)
    }

    fn stop_reason(&self, response: &Value) -> Option<String> {
        self.0.stop_reason(response)
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        self.0.results(results)
    }
}
