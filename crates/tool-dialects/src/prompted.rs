//! [`Prompted`]: calls in the text of models without tools of their own.

mod format;
mod scanner;
mod stream;

use std::borrow::Cow;
use std::fmt::Write;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tool_core::dialect::write::{
    Choice, HttpApi, JsonWriter, NamedTool, RequestParts, RequestWriter,
};
use tool_core::dialect::{
    AnswerWay, Dialect, HostedTool, Message, OmittedPart, ResponseError, StreamReader, Turn,
};
use tool_core::{ToolEntry, ToolResult};

pub use self::format::CallFormat;
use self::scanner::read;
use self::stream::TextCalls;
use crate::provider::chat;

/// Chat completions of a model or server that has no tools, or that leaks their calls as text.
///
/// The system prompt describes the tools, the calls are read in the text of the model, whole and streamed, and the results
/// follow in the form of the model's family ([`CallFormat`]). Prefer the tools of the server where it has some: it can make
/// sure that a call follows the schema.
///
/// What is no call stays text. A call that can't be read gets a result that says why, and how to write one.
///
/// ```
/// use serde_json::json;
/// use tool_core::dialect::Dialect;
/// use tool_core::{Registry, tool, tools};
/// use tool_dialects::{CallFormat, Prompted, server};
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let registry = Registry::builder().tools(tools![add]).build()?;
/// // With `tool-agent`: `Agent::new(registry, dialect, HttpModel::new(&dialect, "hermes3"))`.
/// let dialect = Prompted::new(server::OLLAMA, CallFormat::HERMES);
/// let request = registry.request(&dialect).build()?;
/// assert!(request.instructions().unwrap().contains("<tool_call>"));
///
/// let text = "Let me see.\n<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": 2, \"b\": 3}}\n</tool_call>";
/// let message = json!({"role": "assistant", "content": text});
/// let turn = dialect.read(&json!({"choices": [{"message": message, "finish_reason": "stop"}]}))?;
/// assert_eq!((&*turn.text, &*turn.calls[0].name), ("Let me see.\n", "add"));
///
/// let result = registry.call_blocking(turn.calls[0].clone());
/// let message = &dialect.results(&[result])[0];
/// assert_eq!(message["content"], "<tool_response>\n{\"name\":\"add\",\"content\":5}\n</tool_response>");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Prompted<D> {
    dialect: D,
    format: CallFormat,
}

impl<D: Dialect> Prompted<D> {
    /// Creates the dialect of a server of chat completions, which may be a [server by name](crate::server) or another dialect,
    /// for models of a family.
    ///
    /// ```
    /// use tool_dialects::server::{self, Server};
    /// use tool_dialects::{CallFormat, ChatRules, OpenAiChat, Prompted};
    ///
    /// // It can be a constant, and the dialect of a row.
    /// const LOCAL: Server = Server {
    ///     dialect: &Prompted::new(OpenAiChat::with(ChatRules::IMITATION), CallFormat::QWEN),
    ///     ..server::LLAMA_CPP
    /// };
    /// # let _ = LOCAL;
    /// ```
    pub const fn new(dialect: D, format: CallFormat) -> Prompted<D> {
        Prompted { dialect, format }
    }

    /// Describes the tools, and how to call them.
    fn instructions(&self, parts: &RequestParts<'_>) -> String {
        let format = &self.format;
        let mut tools = JsonWriter::new();
        self.write_tools(parts.tools(), &[], &mut tools);
        let tools = tools.into_string();
        let [before, behind] = format.tools;
        let (open, close) = if format.is_array {
            ("[", "]")
        } else {
            ("", "")
        };
        let mut text = format!(
            "You have tools. These are their descriptions, with the JSON Schemas of their arguments:\n\
             {before}{tools}{behind}\n\n\
             To call a tool, write only this, with the name of the tool and its arguments:\n\
             {start}{open}{{\"name\": \"tool_name\", \"{key}\": {{\"argument\": \"value\"}}}}{close}{end}\n\n\
             The next message has the result. ",
            start = format.start,
            key = format.arguments,
            end = format.end,
        );
        text.push_str(match parts.parallel() {
            Some(false) => "Call one tool at a time. ",
            _ => "You may call several tools at once. ",
        });
        let _ = match parts.choice() {
            Some(Choice::None) => write!(text, "Do not call a tool now: answer."),
            Some(Choice::Required) => write!(text, "You must call a tool now."),
            Some(Choice::Tool(NamedTool::Function(tool))) => {
                write!(text, "You must call the tool {} now.", tool.name)
            }
            _ => write!(text, "If you need no tool, answer without a call."),
        };
        text
    }

    /// Writes a result in the form of the family.
    fn result(&self, result: &ToolResult, text: &str) -> String {
        let format = &self.format;
        let mut text = Cow::Borrowed(text);
        // No tool has the empty name of a call that could not be read.
        if result.name().is_empty() {
            let (start, key, end) = (format.start, format.arguments, format.end);
            text = Cow::Owned(format!(
                "The call can't be read: it is no JSON object with a `name`. Write it again, as \
                 {start}{{\"name\": …, \"{key}\": {{…}}}}{end}"
            ));
        }
        let [before, behind] = format.result;
        if !format.result_keys.is_empty() {
            let content = match serde_json::from_str::<Box<RawValue>>(&text) {
                Ok(_) => text.into_owned(),
                Err(_) => Value::from(&*text).to_string(),
            };
            let mut out = JsonWriter::new();
            out.object(|out| {
                for key in format.result_keys {
                    match *key {
                        "content" => out.key(key).raw(&content),
                        "name" => out.key(key).string(result.name()),
                        _ => out.key(key).string(result.call_id()),
                    };
                }
            });
            text = Cow::Owned(out.into_string());
        }
        // A result must not end itself, and go on as something else.
        let end = behind.trim_ascii();
        if !end.is_empty() && text.contains(end) {
            text = Cow::Owned(text.replace(end, &end.replace('/', "\\/")));
        }
        format!("{before}{text}{behind}")
    }
}

impl<D: Dialect> Dialect for Prompted<D> {
    fn write_tools(&self, tools: &[ToolEntry], _: &[HostedTool], out: &mut JsonWriter) {
        out.array(|out| {
            for tool in tools {
                chat::write_tool(tool, out, chat::parameters);
            }
        });
    }

    fn write_request(&self, parts: &RequestParts<'_>, out: &mut RequestWriter) {
        let parts = parts.filtered(out);
        if parts.is_empty() {
            return self.dialect.write_request(&parts, out);
        }
        if parts
            .choice()
            .is_some_and(|choice| !matches!(choice, Choice::Auto))
            || parts.parallel() == Some(false)
        {
            out.note(
                "the system prompt says which calls are allowed, and the server does not check it",
            );
        }
        out.instruct(&self.instructions(&parts));
        // A schema for the whole response would leave no place for a call.
        if let Some(format) = parts.answer() {
            out.describe_answer(format, AnswerWay::Prompt);
        }
    }

    fn provider(&self) -> &'static str {
        self.dialect.provider()
    }

    fn telemetry_name(&self) -> &'static str {
        self.dialect.telemetry_name()
    }

    fn http_api(&self) -> Option<&HttpApi> {
        self.dialect.http_api()
    }

    fn read(&self, response: &Value) -> Result<Turn, ResponseError> {
        read(self.format, self.dialect.read(response)?)
    }

    fn stream(&self) -> Box<dyn StreamReader> {
        Box::new(TextCalls::new(self.dialect.stream(), self.format))
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        let mut messages = self.dialect.results(results).into_iter();
        let is_tool = self.format.role == "tool";
        let mut written: Vec<Value> = Vec::new();
        for (result, message) in results.iter().zip(messages.by_ref()) {
            let text = message["content"].as_str().unwrap_or(result.content());
            let text = self.result(result, text);
            if is_tool {
                let id = result.call_id();
                written.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
            } else if let Some(Value::String(before)) =
                written.last_mut().map(|last| &mut last["content"])
            {
                // Many templates reject two messages of the user in a row.
                before.push('\n');
                before.push_str(&text);
            } else {
                written.push(json!({"role": self.format.role, "content": text}));
            }
        }
        written.extend(messages);
        written
    }

    fn omitted(&self, results: &[ToolResult]) -> Vec<OmittedPart> {
        self.dialect.omitted(results)
    }

    fn user_message(&self, text: &str) -> Value {
        self.dialect.user_message(text)
    }

    /// Writes calls as the model would.
    fn write_message(&self, message: &Message) -> Option<Vec<Value>> {
        match message {
            Message::Model { text, calls } if !calls.is_empty() => {
                let text = format!("{text}{}", self.format.calls(calls));
                let calls = Vec::new();
                self.dialect.write_message(&Message::Model { text, calls })
            }
            message => self.dialect.write_message(message),
        }
    }

    fn read_message(&self, message: &Value) -> (Option<Message>, Vec<String>) {
        self.dialect.read_message(message)
    }

    fn repeat<'m>(&self, message: &'m Value) -> Cow<'m, Value> {
        self.dialect.repeat(message)
    }

    fn between(&self, before: &Value, message: &Value) -> Option<Value> {
        self.dialect.between(before, message)
    }
}
