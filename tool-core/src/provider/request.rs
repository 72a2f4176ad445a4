//! [`RequestParts`]: what a request is made of.

mod error;
mod fields;
mod options;
mod writer;

use std::borrow::Cow;

pub use self::error::RequestError;
pub(crate) use self::fields::RequestFields;
pub use self::options::{RequestOptions, ToolChoice};
pub use self::writer::RequestWriter;
use crate::provider::answer::{self, AnswerFormat, AnswerWay};
use crate::provider::hosted_tool::{self, HostedTool};
use crate::tool::ToolEntry;

/// A tool of a request that a setting names.
///
/// ```
/// use tool_core::dialect::write::{NamedTool, RequestParts};
///
/// /// The names of the allowed tools, in your own dialect.
/// fn allowed<'p>(parts: &'p RequestParts<'_>) -> Vec<&'p str> {
///     let tools = parts.only().unwrap_or_default().iter();
///     tools
///         .filter_map(|tool| match tool {
///             NamedTool::Function(tool) => Some(&*tool.name),
///             _ => None,
///         })
///         .collect()
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum NamedTool<'r> {
    /// A tool of the registry.
    Function(&'r ToolEntry),
    /// A tool that the provider runs.
    Hosted(&'r HostedTool),
}

impl NamedTool<'_> {
    /// Returns the name that the setting has.
    pub(super) fn name(&self) -> &str {
        match self {
            NamedTool::Function(tool) => &tool.name,
            NamedTool::Hosted(tool) => hosted_tool::names(tool)
                .first()
                .copied()
                .unwrap_or_default(),
        }
    }

    pub(super) fn is_same(self, other: NamedTool<'_>) -> bool {
        match (self, other) {
            (NamedTool::Function(one), NamedTool::Function(other)) => one.is_same(other),
            (NamedTool::Hosted(one), NamedTool::Hosted(other)) => one == other,
            _ => false,
        }
    }
}

/// A [`ToolChoice`] with its tool.
///
/// ```
/// use tool_core::dialect::write::{Choice, RequestParts, RequestWriter};
///
/// /// In `Dialect::write_request` of your own dialect.
/// fn write_choice(parts: &RequestParts<'_>, out: &mut RequestWriter) {
///     let word = match parts.choice() {
///         Some(Choice::Required) => "required",
///         Some(Choice::None) => "none",
///         None | Some(Choice::Auto) => return,
///         Some(_) => return out.note("this server can't require one tool"),
///     };
///     out.field(&["tool_choice"], |out| {
///         out.string(word);
///     });
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Choice<'r> {
    /// [`ToolChoice::Auto`].
    Auto,
    /// [`ToolChoice::Required`].
    Required,
    /// [`ToolChoice::None`].
    None,
    /// [`ToolChoice::Tool`].
    Tool(NamedTool<'r>),
}

/// The parts of a request, for [`Dialect::write_request`](crate::dialect::Dialect::write_request).
///
/// The tools that the dialect rejects are left out already, and names are replaced by their tools.
///
/// ```
/// use tool_core::dialect::write::{RequestParts, RequestWriter};
///
/// /// In `Dialect::write_request` of your own dialect.
/// fn write_tools(parts: &RequestParts<'_>, out: &mut RequestWriter) {
///     out.tools(&["functions"], parts, |out| {
///         out.array(|out| {
///             for tool in parts.tools() {
///                 out.object(|out| {
///                     out.key("name").string(&tool.name);
///                     out.key("schema").raw(tool.parameters_json());
///                 });
///             }
///         });
///     });
/// }
/// ```
#[derive(Clone, Debug)]
pub struct RequestParts<'r> {
    pub(super) tools: Cow<'r, [ToolEntry]>,
    pub(super) hosted: Cow<'r, [HostedTool]>,
    pub(super) choice: Option<Choice<'r>>,
    pub(super) only: Option<Vec<NamedTool<'r>>>,
    /// The tool for the final answer, if one is asked for. Most providers need none.
    pub(super) answer_tool: Option<&'r ToolEntry>,
    pub(super) answer: Option<AnswerFormat>,
    pub(super) options: &'r RequestOptions,
    pub(super) history: HistoryTools<'r>,
}

/// The tools that the conversation names, where the provider [needs](crate::dialect::Dialect::history_tools) them.
#[derive(Clone, Copy, Debug)]
pub(super) struct HistoryTools<'r> {
    pub(super) names: &'r [String],
    /// Stand in for tools that the request does not have.
    pub(super) missing: &'r [ToolEntry],
}

impl<'r> RequestParts<'r> {
    /// Returns the tools of the registry, sorted by name.
    pub fn tools(&self) -> &[ToolEntry] {
        &self.tools
    }

    /// Returns the hosted tools that the dialect knows.
    pub fn hosted(&self) -> &[HostedTool] {
        &self.hosted
    }

    /// Returns `true` if there are neither tools nor hosted tools.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.hosted.is_empty()
    }

    /// Sets which tools the model may or must call, where the provider needs another choice.
    pub fn with_choice(mut self, choice: Choice<'r>) -> RequestParts<'r> {
        self.choice = Some(choice);
        self
    }

    /// Returns which tools the model may or must call, if that is set.
    pub fn choice(&self) -> Option<Choice<'r>> {
        self.choice
    }

    /// Returns the allowed tools, if they are restricted. Not empty.
    pub fn only(&self) -> Option<&[NamedTool<'r>]> {
        self.only.as_deref()
    }

    /// Returns `true` if several calls in one response are allowed, if that is set.
    pub fn parallel(&self) -> Option<bool> {
        self.options.parallel
    }

    /// Returns `true` if the provider should cache the tools.
    pub fn is_cached(&self) -> bool {
        self.options.is_cached
    }

    /// Returns `true` if the request asks for the results of hosted tools.
    pub fn has_hosted_results(&self) -> bool {
        self.options.has_hosted_results
    }

    /// Returns the form of the final answer, if one is asked for.
    pub fn answer(&self) -> Option<AnswerFormat> {
        self.answer
    }

    /// Returns the parts with a tool for the final answer, for a provider without structured output. The
    /// model must call it or another tool. Notes the reason.
    pub fn with_answer_tool(&self, reason: &str, out: &mut RequestWriter) -> RequestParts<'r> {
        let mut parts = self.clone();
        let Some(tool) = self.answer_tool else {
            return parts;
        };
        let provider = out.provider;
        out.answer_way = Some(AnswerWay::Call);
        out.note(format!(
            "{provider} {reason}; the model answers with a call of the tool `{}`",
            answer::TOOL
        ));
        parts.tools.to_mut().push(tool.clone());
        parts.choice = match self.choice {
            None | Some(Choice::Auto | Choice::Required) => Some(Choice::Required),
            Some(Choice::None) => Some(Choice::Tool(NamedTool::Function(tool))),
            Some(Choice::Tool(tool)) => Some(Choice::Tool(tool)),
        };
        if let Some(only) = &mut parts.only {
            only.push(NamedTool::Function(tool));
        }
        parts
    }

    /// Returns the parts with no other tools than the [allowed](RequestParts::only) ones, for a
    /// provider that can't restrict calls. Notes it, unless all tools are allowed.
    ///
    /// A choice of one tool is not affected.
    pub fn filtered(&self, out: &mut RequestWriter) -> RequestParts<'_> {
        let mut parts = RequestParts {
            tools: Cow::Borrowed(&self.tools),
            hosted: Cow::Borrowed(&self.hosted),
            choice: self.choice,
            only: None,
            answer_tool: self.answer_tool,
            answer: self.answer,
            options: self.options,
            history: self.history,
        };
        let Some(only) = &self.only else {
            return parts;
        };
        if only.len() == self.tools.len() + self.hosted.len() {
            return parts;
        }
        parts.keep(only);
        out.left_out(&parts);
        let provider = out.provider;
        out.note(format!(
            "{provider} can't restrict calls to some of the tools; the other tools are left out of \
             the request, which changes the prompt that it caches"
        ));
        parts
    }

    /// Returns the parts with one tool alone, for a provider that can require a call but can't name its
    /// tool. Notes it.
    pub fn with_only<'p>(
        &'p self,
        tool: NamedTool<'p>,
        out: &mut RequestWriter,
    ) -> RequestParts<'p> {
        let mut parts = RequestParts {
            tools: Cow::Borrowed(&self.tools),
            hosted: Cow::Borrowed(&self.hosted),
            choice: Some(Choice::Required),
            only: None,
            answer_tool: self.answer_tool,
            answer: self.answer,
            options: self.options,
            history: self.history,
        };
        if self.tools.len() + self.hosted.len() > 1 {
            parts.keep(&[tool]);
            out.left_out(&parts);
            let provider = out.provider;
            out.note(format!(
                "{provider} can't require a call of one tool among several; the other tools are left \
                 out of the request, which changes the prompt that it caches"
            ));
        }
        parts
    }

    /// Returns the parts with stubs in place of the tools that the conversation names and the request lacks.
    pub fn with_history(mut self) -> RequestParts<'r> {
        if !self.history.missing.is_empty() {
            let missing = self.history.missing.iter().cloned();
            self.tools.to_mut().extend(missing);
        }
        self
    }

    /// Returns the parts without tools, for a server that has no calls of tools. Notes it.
    pub fn unsupported_tools(&self, out: &mut RequestWriter) -> RequestParts<'r> {
        let provider = out.provider;
        out.note(format!(
            "{provider} has no calls of tools; the tools are left out of the request"
        ));
        let parts = self.no_tools();
        out.left_out(&parts);
        parts
    }

    fn no_tools(&self) -> RequestParts<'r> {
        RequestParts {
            tools: Cow::Borrowed(&[]),
            hosted: Cow::Borrowed(&[]),
            choice: None,
            only: None,
            answer_tool: self.answer_tool,
            answer: self.answer,
            options: self.options,
            history: self.history,
        }
    }

    /// Returns the parts without tools, for a provider that can't forbid calls, or with all of them if the conversation
    /// needs them. Notes it.
    pub fn without_tools(&self, out: &mut RequestWriter) -> RequestParts<'r> {
        if !self.history.names.is_empty() {
            let provider = out.provider;
            out.note(format!(
                "{provider} can't forbid calls, and needs the tools because the conversation has calls; an agent \
                 denies calls, and a loop of your own should, too"
            ));
            return RequestParts {
                choice: None,
                only: None,
                ..self.clone()
            };
        }
        let parts = self.no_tools();
        if !self.is_empty() {
            out.left_out(&parts);
            let provider = out.provider;
            out.note(format!(
                "{provider} can't forbid calls; the tools are left out of the request, which it may \
                 reject if the conversation has calls"
            ));
        }
        parts
    }

    /// Removes all other tools.
    fn keep(&mut self, only: &[NamedTool<'_>]) {
        let names = self.history.names;
        let has = |tool: &ToolEntry| {
            names.iter().any(|name| *name == *tool.name)
                || only
                    .iter()
                    .any(|other| matches!(other, NamedTool::Function(other) if other.is_same(tool)))
        };
        let has_hosted = |tool: &HostedTool| {
            only.iter()
                .any(|other| matches!(other, NamedTool::Hosted(other) if *other == tool))
        };
        let tools = self.tools.iter().filter(|tool| has(tool)).cloned();
        self.tools = tools.collect();
        let hosted = self.hosted.iter().filter(|tool| has_hosted(tool)).cloned();
        self.hosted = hosted.collect();
    }
}
