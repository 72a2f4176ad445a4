//! [`RequestWriter`]: what a dialect writes of a request.

use super::fields::RequestFields;
use super::{Choice, RequestParts};
use crate::provider::answer::{AnswerFormat, AnswerWay};
use crate::provider::entry;
use crate::provider::hosted_tool::HostedTool;
use crate::provider::writer::JsonWriter;
use crate::schema::messages;
use crate::tool::ToolEntry;

/// Collects the fields of a request; see
/// [`Dialect::write_request`](crate::dialect::Dialect::write_request).
///
/// ```
/// use tool_core::dialect::AnswerWay;
/// use tool_core::dialect::write::{RequestParts, RequestWriter};
///
/// /// In `Dialect::write_request` of your own dialect.
/// fn write_settings(parts: &RequestParts<'_>, out: &mut RequestWriter) {
///     if let Some(is_allowed) = parts.parallel() {
///         out.field(&["parallel"], |out| {
///             out.boolean(is_allowed);
///         });
///     }
///     if parts.is_cached() {
///         out.header("x-cache", "tools");
///     }
///     if let Some(format) = parts.answer() {
///         out.describe_answer(format, AnswerWay::Prompt);
///     }
/// }
/// ```
#[derive(Debug)]
pub struct RequestWriter {
    pub(super) provider: &'static str,
    pub(in crate::provider) tools: Option<String>,
    pub(in crate::provider) fields: RequestFields,
    pub(in crate::provider) notes: Vec<String>,
    pub(in crate::provider) answer_way: Option<AnswerWay>,
    pub(in crate::provider) instructions: Option<String>,
    /// The tools that are sent, if some are left out.
    pub(in crate::provider) sent: Option<(Vec<ToolEntry>, Vec<HostedTool>)>,
}

impl RequestWriter {
    pub(in crate::provider) fn new(provider: &'static str) -> RequestWriter {
        RequestWriter {
            provider,
            tools: None,
            fields: RequestFields::default(),
            notes: Vec::new(),
            answer_way: None,
            instructions: None,
            sent: None,
        }
    }

    /// Writes the tools at a path of the request, such as `["tools"]`.
    ///
    /// An empty array is left out of the request: providers reject it.
    pub fn tools(
        &mut self,
        path: &'static [&'static str],
        parts: &RequestParts<'_>,
        write: impl FnOnce(&mut JsonWriter),
    ) {
        let mut json = JsonWriter::with_capacity(entry::capacity(parts.tools()));
        write(&mut json);
        self.fields.tools = path;
        self.tools = Some(json.into_string());
    }

    /// Writes a field at a path of the request, such as `["toolConfig", "toolChoice"]`.
    pub fn field(&mut self, path: &'static [&'static str], write: impl FnOnce(&mut JsonWriter)) {
        let mut json = JsonWriter::new();
        write(&mut json);
        self.fields.others.push((path, json.into_string()));
    }

    /// Adds a header of the request. Several values of one header are joined with commas.
    pub fn header(&mut self, name: &'static str, value: &str) {
        self.fields.headers.add(name, value);
    }

    /// Adds a note about a setting that the provider lacks; see
    /// [`ToolRequest::notes`](crate::dialect::ToolRequest::notes).
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Names the server in later notes, in place of the [provider](crate::dialect::Dialect::provider).
    pub fn server(&mut self, name: &'static str) {
        self.provider = name;
    }

    /// Has the system prompt describe the final answer, because the provider does not take its schema: it takes the
    /// schema of no answer, or not of this one. The provider may make sure that the answer is JSON
    /// ([`AnswerWay::Json`]), in a field that the dialect writes, or do nothing ([`AnswerWay::Prompt`]).
    pub fn describe_answer(&mut self, format: AnswerFormat, way: AnswerWay) {
        let schema = format.schema().to_json();
        self.answer_way = Some(way);
        self.instruct(&format!(
            "Your final answer must be a JSON object and nothing else. It must match this JSON Schema:\n{schema}"
        ));
    }

    /// Adds a paragraph to what the system prompt must say; see
    /// [`ToolRequest::instructions`](crate::dialect::ToolRequest::instructions).
    pub fn instruct(&mut self, text: &str) {
        let instructions = self.instructions.get_or_insert_default();
        if !instructions.is_empty() {
            instructions.push_str("\n\n");
        }
        instructions.push_str(text);
    }

    /// Notes the settings that are not the default, for a provider that has none of them.
    pub fn ignores(&mut self, parts: &RequestParts<'_>) {
        match parts.choice() {
            None | Some(Choice::Auto) => {}
            Some(_) => self.lacks("tool choice"),
        }
        self.ignores_parallel(parts);
        if let Some(format) = parts.answer() {
            let provider = self.provider;
            self.note(format!(
                "{provider} has no structured output; the system prompt describes the answer"
            ));
            self.describe_answer(format, AnswerWay::Prompt);
        }
    }

    /// Notes that the provider can't allow or forbid several calls in a response.
    pub fn ignores_parallel(&mut self, parts: &RequestParts<'_>) {
        if parts.parallel() == Some(false) {
            self.lacks("setting that forbids several calls in a response");
        }
    }

    /// Notes that a request without tools has neither a choice nor a setting for parallel calls.
    pub fn ignores_without_tools(&mut self, parts: &RequestParts<'_>) {
        if let Some(Choice::Required) = parts.choice() {
            self.note("there are no tools, so that no call can be required");
        }
    }

    /// Notes that the provider rejects the schema of the answer, even as the schema of a tool. The system prompt
    /// describes the answer.
    pub fn rejects_answer(&mut self, format: AnswerFormat, problem: &str) {
        let provider = self.provider;
        self.note(format!(
            "{provider} does not accept the schema of the answer ({problem}); the system prompt describes the answer"
        ));
        self.describe_answer(format, AnswerWay::Prompt);
    }

    /// Notes that the provider can't require a call of a hosted tool.
    pub fn cannot_require(&mut self, tool: &HostedTool) {
        let (provider, tool) = (self.provider, tool.to_string());
        let tool = messages::shorten(&tool);
        self.note(format!(
            "{provider} can't require a call of the hosted tool {tool}; the choice is left out"
        ));
    }

    /// Notes that the provider has no such setting.
    pub fn lacks(&mut self, what: &str) {
        let provider = self.provider;
        self.note(format!("{provider} has no {what}; it is left out"));
    }

    /// Remembers the tools that are sent, because others are left out.
    pub(super) fn left_out(&mut self, parts: &RequestParts<'_>) {
        self.sent = Some((parts.tools.to_vec(), parts.hosted.to_vec()));
    }
}
