//! [`Dialect`]: the wire format of a provider.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::call::ToolResult;
use crate::content::Content;
use crate::provider::hosted_tool::HostedTool;
use crate::provider::http_api::HttpApi;
use crate::provider::message::Message;
use crate::provider::omitted::OmittedPart;
use crate::provider::request::{Choice, RequestParts, RequestWriter};
use crate::provider::response::ResponseError;
use crate::provider::rules::BrokenRule;
use crate::provider::stream::{StreamReader, Unsupported};
use crate::provider::turn::Turn;
use crate::provider::writer::JsonWriter;
use crate::tool::ToolEntry;

/// The format in which a provider expects tools and results, and sends calls.
///
/// Implement it for a provider that is not here:
///
/// ```
/// use serde_json::{Value, json};
/// use tool_core::dialect::write::JsonWriter;
/// use tool_core::dialect::{Dialect, HostedTool, ResponseError, Turn};
/// use tool_core::{ToolCall, ToolEntry, ToolResult};
///
/// struct Custom;
///
/// impl Dialect for Custom {
///     fn write_tools(&self, tools: &[ToolEntry], _: &[HostedTool], out: &mut JsonWriter) {
///         out.object(|out| {
///             for tool in tools {
///                 out.key(&tool.name).raw(tool.parameters_json());
///             }
///         });
///     }
///
///     fn read(&self, response: &Value) -> Result<Turn, ResponseError> {
///         let Some(name) = response["call"].as_str() else {
///             return Err(ResponseError::new("not a custom response: `call` is missing"));
///         };
///         let mut turn = Turn::new(vec![response.clone()]);
///         turn.calls.push(ToolCall::new("only", name, response["with"].clone()));
///         Ok(turn)
///     }
///
///     fn results(&self, results: &[ToolResult]) -> Vec<Value> {
///         results.iter().map(|result| json!({ "returned": result.content() })).collect()
///     }
/// }
///
/// assert_eq!(Custom.read(&json!({"call": "add"})).unwrap().calls[0].name, "add");
/// ```
pub trait Dialect: Send + Sync {
    /// Writes the value of the request's `tools` field. `hosted` contains the hosted tools that this
    /// dialect [supports](Dialect::hosts).
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter);

    /// Writes the fields of a request that belong to its tools: the tools themselves, which of them the
    /// model may call, and so on. [`Registry::request`](crate::Registry::request) calls it.
    ///
    /// If the provider lacks a setting, it is replaced or left out, and [noted](RequestWriter::note). By
    /// default, a request has the tools alone, under `tools`: all of them, the
    /// [allowed](RequestParts::filtered) ones, or none. Other settings are noted.
    fn write_request(&self, parts: &RequestParts<'_>, out: &mut RequestWriter) {
        let parts = match parts.choice() {
            Some(Choice::None) => parts.without_tools(out),
            _ => parts.filtered(out),
        };
        out.tools(&["tools"], &parts, |json| {
            self.write_tools(parts.tools(), parts.hosted(), json);
        });
        out.ignores(&parts);
    }

    /// Returns `true` if the provider has this hosted tool. By default it has none. For an
    /// [unchecked](HostedTool::unchecked) tool, only the shape should matter.
    fn hosts(&self, _tool: &HostedTool) -> bool {
        false
    }

    /// Returns why the provider rejects a `DynamicTool`, which is then left out. Only its name and
    /// its keys can be a reason: dialects rewrite schemas. By default, every tool is accepted.
    fn problem(&self, _tool: &ToolEntry) -> Option<String> {
        None
    }

    /// Returns how the provider is sent [deferred](crate::RegistryBuilder::defer) tools. By default, two tools
    /// stand in for them.
    fn deferral(&self) -> Deferral {
        Deferral::Emulated
    }

    /// Returns the name of the provider in messages.
    fn provider(&self) -> &'static str {
        "this provider"
    }

    /// Returns the name of the provider in spans and metrics: its `gen_ai.provider.name` in OpenTelemetry's conventions,
    /// such as `anthropic`. [`provider`](Dialect::provider) by default.
    fn telemetry_name(&self) -> &'static str {
        self.provider()
    }

    /// Returns the provider's HTTP API, for `HttpModel` (feature `http`). By default there is
    /// none. The dialect of a server that imitates a provider returns the provider's.
    fn http_api(&self) -> Option<&HttpApi> {
        None
    }

    /// Reads a whole response: its calls, its text and everything else that the next request needs.
    /// [`stream`](Dialect::stream) reads the events of a stream.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::Dialect;
    /// use tool_dialects::Anthropic;
    ///
    /// let response = json!({"role": "assistant", "stop_reason": "end_turn", "content": [
    ///     {"type": "text", "text": "Done."},
    /// ]});
    /// let turn = Anthropic::default().read(&response)?;
    /// assert_eq!(turn.text, "Done.");
    /// assert_eq!(turn.stop.as_deref(), Some("end_turn"));
    /// assert!(turn.calls.is_empty());
    /// # Ok::<(), tool_core::dialect::ResponseError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the JSON is not a response of this provider, is one of its error
    /// messages, or contains a call without a name or id. A response without an answer is none:
    /// [`Turn::end`] says why.
    fn read(&self, response: &Value) -> Result<Turn, ResponseError>;

    /// Returns a reader for one streamed response, which emits text and calls as they arrive and
    /// returns the whole response at the end. By default, a dialect has none: the reader returns an
    /// error.
    ///
    /// The reader takes the JSON of each event. Splitting the body of an HTTP response into server-sent
    /// events is the task of a library, such as `eventsource-stream`.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::{Dialect, StreamEvent};
    /// use tool_dialects::OpenAiChat;
    ///
    /// let dialect = OpenAiChat::default();
    /// let mut reader = dialect.stream();
    /// let chunk = |delta, stop| {
    ///     json!({"choices": [{"index": 0, "delta": delta, "finish_reason": stop}]})
    /// };
    /// let events = reader.event(&chunk(json!({"role": "assistant", "content": "Hel"}), None))?;
    /// assert_eq!(events, [StreamEvent::Text("Hel".into())]);
    /// reader.event(&chunk(json!({"content": "lo"}), None))?;
    /// reader.event(&chunk(json!({}), Some("stop")))?;
    /// let (turn, _response) = reader.finish()?;
    /// assert_eq!(turn.text, "Hello");
    /// # Ok::<(), tool_core::dialect::ResponseError>(())
    /// ```
    fn stream(&self) -> Box<dyn StreamReader> {
        Box::new(Unsupported)
    }

    /// Returns the results as messages or items of the next request.
    ///
    /// [Parts](ToolResult::parts) of results are written in the provider's form. Where a provider accepts
    /// only text in a result, a message of the user follows all results, with the parts behind labels that
    /// name their calls. There, the parts have the authority of the user: do not return a picture or a
    /// document from an untrusted source to a model that can do harm.
    ///
    /// A part that the provider has no form for, or is known to reject, is replaced by a note in the result;
    /// see [`omitted`](Dialect::omitted). A text file is sent as text then, as is a link.
    ///
    /// ```
    /// use tool_core::dialect::Dialect;
    /// use tool_dialects::OpenAiChat;
    /// use tool_core::{ToolCall, ToolResult};
    ///
    /// let result = ToolResult::new(&ToolCall::new("call_1", "add", "{}"), 5);
    /// let messages = OpenAiChat::default().results(&[result]);
    /// assert_eq!((&messages[0]["tool_call_id"], &messages[0]["content"]), (&"call_1".into(), &"5".into()));
    /// ```
    fn results(&self, results: &[ToolResult]) -> Vec<Value>;

    /// Returns the parts that [`results`](Dialect::results) replaces by notes: the provider has no form for
    /// them, or a [rule](crate::rules) about their type or size. The application may convert them or choose
    /// another model.
    ///
    /// ```
    /// use tool_core::dialect::Dialect;
    /// use tool_dialects::Anthropic;
    /// use tool_core::content::Audio;
    /// use tool_core::{ToolCall, ToolResult};
    ///
    /// let call = ToolCall::new("call_1", "read_aloud", "");
    /// let results = [ToolResult::new(&call, Audio::mp3([0; 96]))];
    /// let dialect = Anthropic::default();
    /// let note = "[audio/mpeg audio, 96 bytes, omitted: Anthropic has no form for it]";
    /// assert_eq!(dialect.omitted(&results)[0].note, note);
    /// let messages = dialect.results(&results);
    /// assert_eq!(messages[0]["content"][0]["content"][0]["text"], note);
    /// ```
    fn omitted(&self, _results: &[ToolResult]) -> Vec<OmittedPart> {
        Vec::new()
    }

    /// Returns a message of the user with this text.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::Dialect;
    /// use tool_dialects::Gemini;
    ///
    /// let message = Gemini::default().user_message("Hello!");
    /// assert_eq!(message, json!({"role": "user", "parts": [{"text": "Hello!"}]}));
    /// ```
    fn user_message(&self, text: &str) -> Value {
        json!({"role": "user", "content": text})
    }

    /// Writes a message that another provider's conversation has. Returns `None` if the provider has no form for it, such
    /// as for a system prompt among the messages.
    ///
    /// By default, only a message of the user is written, with notes in place of its parts other than text. A conversation
    /// can move to your own dialect once it writes turns of the model, too.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::ToolCall;
    /// use tool_core::dialect::{Dialect, Message};
    /// use tool_dialects::Anthropic;
    ///
    /// let calls = vec![ToolCall::new("call_1", "get_time", "{}")];
    /// let turn = Message::Model { text: "Let me see.".into(), calls };
    /// let messages = Anthropic::default().write_message(&turn).unwrap();
    /// assert_eq!(messages[0]["content"], json!([
    ///     {"type": "text", "text": "Let me see."},
    ///     {"type": "tool_use", "id": "call_1", "name": "get_time", "input": {}},
    /// ]));
    /// ```
    fn write_message(&self, message: &Message) -> Option<Vec<Value>> {
        let Message::User(parts) = message else {
            return None;
        };
        let lines: Vec<_> = parts.iter().map(Content::line).collect();
        Some(vec![self.user_message(&lines.join("\n"))])
    }

    /// Reads a message of a conversation that goes on at another provider: the inverse of
    /// [`write_message`](Dialect::write_message). Also returns the names of the parts that are left out, because only this
    /// provider understands them. A call of a function is a part with the name `call`, because its caller has it from
    /// [`read`](Dialect::read).
    ///
    /// By default, a text of the user is read as [`user_message`](Dialect::user_message) writes it, and any other
    /// message is left out as a whole. A conversation loses less if your own dialect reads more.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::{Dialect, Message};
    /// use tool_dialects::Anthropic;
    ///
    /// let message = json!({"role": "assistant", "content": [
    ///     {"type": "thinking", "thinking": "The time?", "signature": "EuYB"},
    ///     {"type": "text", "text": "Let me see."},
    ///     {"type": "tool_use", "id": "call_1", "name": "get_time", "input": {}},
    /// ]});
    /// let (read, left_out) = Anthropic::default().read_message(&message);
    /// let (text, calls) = ("Let me see.".into(), Vec::new());
    /// assert_eq!(read, Some(Message::Model { text, calls }));
    /// assert_eq!(left_out, ["thinking", "call"]);
    /// ```
    fn read_message(&self, message: &Value) -> (Option<Message>, Vec<String>) {
        match message["content"].as_str() {
            Some(text) if self.user_message(text) == *message => {
                (Some(Message::User(vec![Content::text(text)])), Vec::new())
            }
            _ => (None, vec!["message".to_owned()]),
        }
    }

    /// Returns a message of a conversation as a request repeats it. By default, that is the message.
    ///
    /// A provider may reject what its own model wrote: arguments that are not a JSON object, a name that no tool can
    /// have, or a key that only responses have. It would reject every later request of the conversation, too. Such parts
    /// are replaced by the nearest form that the provider accepts, and the rest is unchanged. The same message always
    /// becomes the same bytes, on which prompt caches depend.
    ///
    /// [`follow_up`](Dialect::follow_up) applies it to new messages, and an agent to all messages of a run. Apply it to
    /// a conversation that was saved without it.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::Dialect;
    /// use tool_dialects::OpenAiChat;
    ///
    /// let message = |name: &str, arguments: &str| {
    ///     let function = json!({"name": name, "arguments": arguments});
    ///     let call = json!({"id": "call_1", "type": "function", "function": function});
    ///     json!({"role": "assistant", "content": "", "tool_calls": [call]})
    /// };
    /// let dialect = OpenAiChat::default();
    /// let accepted = message("get_time", "{}");
    /// assert_eq!(*dialect.repeat(&accepted), accepted);
    /// assert_eq!(*dialect.repeat(&message("functions.get_time", "")), accepted);
    /// ```
    fn repeat<'m>(&self, message: &'m Value) -> Cow<'m, Value> {
        Cow::Borrowed(message)
    }

    /// Returns a message that must stand between two others, where the provider rejects one after the other. By default,
    /// none must.
    ///
    /// A message of the user after results is such a pair: the model answers results first, unless a limit ended the
    /// run or its calls were cancelled. An agent applies this to all messages of a run.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::Dialect;
    /// use tool_dialects::{Mistral, OpenAiChat};
    ///
    /// let result = json!({"role": "tool", "tool_call_id": "abcDEF123", "content": "12 degrees"});
    /// let question = json!({"role": "user", "content": "And tomorrow?"});
    /// let between = Mistral::default().between(&result, &question).unwrap();
    /// assert_eq!(between["role"], "assistant");
    /// assert_eq!(OpenAiChat::default().between(&result, &question), None);
    /// ```
    fn between(&self, _before: &Value, _message: &Value) -> Option<Value> {
        None
    }

    /// Returns everything that the next request adds to the conversation: the messages of the turn, then
    /// the results of its calls, as a request [repeats](Dialect::repeat) them.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::Registry;
    /// use tool_core::dialect::Dialect;
    /// use tool_dialects::OpenAiChat;
    ///
    /// let dialect = OpenAiChat::default();
    /// let mut messages = vec![dialect.user_message("What time is it?")];
    /// let response = json!({"choices": [{"message": {"role": "assistant", "tool_calls": [
    ///     {"id": "call_1", "type": "function", "function": {"name": "get_time", "arguments": "{}"}},
    /// ]}}]});
    /// let turn = dialect.read(&response)?;
    /// let calls = turn.calls.iter().cloned();
    /// let results: Vec<_> = calls.map(|call| Registry::new().call_blocking(call)).collect();
    /// messages.extend(dialect.follow_up(&turn, &results));
    /// let roles: Vec<_> = messages.iter().map(|message| &message["role"]).collect();
    /// assert_eq!(roles, ["user", "assistant", "tool"]);
    /// # Ok::<(), tool_core::dialect::ResponseError>(())
    /// ```
    fn follow_up(&self, turn: &Turn, results: &[ToolResult]) -> Vec<Value> {
        let messages = turn.messages.iter();
        let mut messages: Vec<_> = messages
            .map(|message| self.repeat(message).into_owned())
            .collect();
        let results = self.results(results).into_iter();
        messages.extend(results.map(|message| match self.repeat(&message) {
            Cow::Owned(repeated) => repeated,
            Cow::Borrowed(_) => message,
        }));
        messages
    }

    /// Returns the names of the tools that a request must have, because the messages have calls of them. `has_tools` says
    /// whether it has others. By default, there are none: most providers look at the tools and at the messages apart.
    /// [`RequestBuilder::history`](crate::registry::RequestBuilder::history) sets the messages.
    fn history_tools(&self, _has_tools: bool, _messages: &[&Value]) -> Vec<String> {
        Vec::new()
    }

    /// Returns how a conversation gets other tools while the provider keeps what it has cached. Tools are at the start of a
    /// prompt, so that another list makes it read the whole conversation again. `before` are the elements of the tools
    /// that the model has, and `now` those that it should have, in this dialect's form. By default, the list is rewritten.
    ///
    /// ```
    /// use serde_json::{Value, json};
    /// use tool_core::dialect::Dialect;
    /// use tool_core::dialect::write::ToolChange;
    /// use tool_dialects::Anthropic;
    ///
    /// let tool = |name: &str| json!({"name": name, "input_schema": {"type": "object"}});
    /// let (before, now) = ([tool("get_order")], [tool("get_order"), tool("refund")]);
    /// let dialect = Anthropic::default().inline_tools();
    /// let ToolChange::Message(message) = dialect.change_tools(&before, &now) else { panic!() };
    /// assert_eq!(message["content"][0]["type"], "tool_addition");
    /// ```
    fn change_tools(&self, _before: &[Value], _now: &[Value]) -> ToolChange {
        ToolChange::Rewritten { advice: None }
    }

    /// Returns the provider's rules that these tools break together, such as a limit on their number.
    fn broken_rules(&self, _tools: &[ToolEntry], _hosted: &[HostedTool]) -> Vec<BrokenRule> {
        Vec::new()
    }
}

/// How a provider is sent [deferred](crate::RegistryBuilder::defer) tools.
///
/// ```
/// use tool_core::dialect::write::Deferral;
/// use tool_core::dialect::Dialect;
/// use tool_dialects::{Anthropic, Gemini};
///
/// // Anthropic searches deferred tools itself. Elsewhere two tools do it.
/// assert_eq!(Anthropic::default().deferral(), Deferral::Native);
/// assert_eq!(Gemini::default().deferral(), Deferral::Emulated);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Deferral {
    /// The dialect is given the two tools `search_tools` and `call_tool` in place of the deferred ones.
    Emulated,
    /// The dialect is given all tools. It marks the [deferred](ToolEntry::is_deferred) ones, and adds the
    /// provider's search.
    Native,
    /// The dialect is given all tools, and sends them alike, even tools [for
    /// apps](crate::ToolSpec::is_for_models) alone, because its client decides what a model gets.
    Ignored,
}

/// How the tools of a conversation change; see [`Dialect::change_tools`].
///
/// ```
/// use serde_json::json;
/// use tool_core::dialect::Dialect;
/// use tool_core::dialect::write::ToolChange;
/// use tool_dialects::{Gemini, OpenAiResponses};
///
/// let tool = |name: &str| json!({"type": "function", "name": name});
/// let (before, now) = ([tool("get_order"), tool("refund")], [tool("get_order")]);
/// // OpenAI takes a list of the allowed tools. Gemini would have to be sent other tools.
/// let openai = OpenAiResponses::default();
/// assert_eq!(openai.change_tools(&before, &now), ToolChange::Allowed);
/// assert_eq!(Gemini::default().change_tools(&before, &now), ToolChange::Rewritten { advice: None });
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ToolChange {
    /// The tools are the same apart from marks.
    Same,
    /// This message at the end of the conversation changes them.
    Message(Value),
    /// Each request has the old list and allows the new tools alone; see
    /// [`RequestOptions::only_these`](crate::dialect::RequestOptions::only_these).
    Allowed,
    /// Requests have the new list, and the provider reads the conversation again.
    Rewritten {
        /// What the developer can do about it, if anything.
        advice: Option<&'static str>,
    },
}

/// Forwards to a dialect that is chosen at run time.
macro_rules! forwards {
    ($($pointer:ty),*) => {$(
        impl<D: Dialect + ?Sized> Dialect for $pointer {
            fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
                (**self).write_tools(tools, hosted, out);
            }

            fn write_request(&self, parts: &RequestParts<'_>, out: &mut RequestWriter) {
                (**self).write_request(parts, out);
            }

            fn hosts(&self, tool: &HostedTool) -> bool {
                (**self).hosts(tool)
            }

            fn problem(&self, tool: &ToolEntry) -> Option<String> {
                (**self).problem(tool)
            }

            fn deferral(&self) -> Deferral {
                (**self).deferral()
            }

            fn provider(&self) -> &'static str {
                (**self).provider()
            }

            fn telemetry_name(&self) -> &'static str {
                (**self).telemetry_name()
            }

            fn http_api(&self) -> Option<&HttpApi> {
                (**self).http_api()
            }

            fn read(&self, response: &Value) -> Result<Turn, ResponseError> {
                (**self).read(response)
            }

            fn stream(&self) -> Box<dyn StreamReader> {
                (**self).stream()
            }

            fn results(&self, results: &[ToolResult]) -> Vec<Value> {
                (**self).results(results)
            }

            fn omitted(&self, results: &[ToolResult]) -> Vec<OmittedPart> {
                (**self).omitted(results)
            }

            fn user_message(&self, text: &str) -> Value {
                (**self).user_message(text)
            }

            fn write_message(&self, message: &Message) -> Option<Vec<Value>> {
                (**self).write_message(message)
            }

            fn read_message(&self, message: &Value) -> (Option<Message>, Vec<String>) {
                (**self).read_message(message)
            }

            fn repeat<'m>(&self, message: &'m Value) -> Cow<'m, Value> {
                (**self).repeat(message)
            }

            fn between(&self, before: &Value, message: &Value) -> Option<Value> {
                (**self).between(before, message)
            }

            fn follow_up(&self, turn: &Turn, results: &[ToolResult]) -> Vec<Value> {
                (**self).follow_up(turn, results)
            }

            fn history_tools(&self, has_tools: bool, messages: &[&Value]) -> Vec<String> {
                (**self).history_tools(has_tools, messages)
            }

            fn change_tools(&self, before: &[Value], now: &[Value]) -> ToolChange {
                (**self).change_tools(before, now)
            }

            fn broken_rules(&self, tools: &[ToolEntry], hosted: &[HostedTool]) -> Vec<BrokenRule> {
                (**self).broken_rules(tools, hosted)
            }
        }
    )*};
}

forwards!(Box<D>, &D);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    /// A method that is not forwarded would have its default.
    #[test]
    fn a_pointer_to_a_dialect_forwards_every_method() {
        let methods = |start: &str| -> BTreeSet<&str> {
            let (_, rest) = include_str!("wire.rs").split_once(start).unwrap();
            let (body, _) = rest.split_once("\n}\n").unwrap();
            let lines = body.lines().map(str::trim_start);
            let names = lines.filter_map(|line| line.strip_prefix("fn "));
            names
                .map(|rest| rest.split(['(', '<']).next().unwrap())
                .collect()
        };
        let declared = methods("pub trait Dialect");
        assert!(declared.len() > 10);
        assert_eq!(methods("Dialect for $pointer {"), declared);
    }
}
