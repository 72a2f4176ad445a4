//! [`Run::keep_tools`]: requests whose tools stay those with which the conversation started.

use std::sync::Arc;

use serde_json::Value;
use tool_core::dialect::write::ToolChange;
use tool_core::dialect::{Dialect, RequestError, ToolRequest};

use super::Run;
use super::change::Change;
use super::tools::{RunTools, ToolsChange};

impl Run {
    /// Returns the request for the next step with the tools that the conversation started with, so that the provider keeps
    /// what it has cached. `tools` is the request with the tools that the run has now, and `allowed` makes it one that
    /// allows no others. May add a message to the [sent](Run::sent) ones.
    pub(crate) fn keep_tools(
        &mut self,
        dialect: &(impl Dialect + ?Sized),
        tools: Arc<ToolRequest>,
        allowed: impl FnOnce() -> Result<Arc<ToolRequest>, RequestError>,
    ) -> Result<Arc<ToolRequest>, RequestError> {
        let is_moved = self.state.tools.as_ref().is_some_and(|known| {
            let last = known.messages.last().filter(|_| known.unheard.is_some());
            last.is_some_and(|(at, _)| *at != self.state.messages.len())
        });
        if !is_moved && let Some(sent) = self.sent.request_of(&tools) {
            return Ok(sent);
        }
        let sent = self.with_start(dialect, &tools, allowed)?;
        // Without the note of a change, which only this request has.
        let kept = match &self.state.tools {
            Some(_) => &sent,
            None => &tools,
        };
        let kept = Arc::clone(kept);
        self.sent.keep(tools, kept);
        Ok(sent)
    }

    fn with_start(
        &mut self,
        dialect: &(impl Dialect + ?Sized),
        tools: &Arc<ToolRequest>,
        allowed: impl FnOnce() -> Result<Arc<ToolRequest>, RequestError>,
    ) -> Result<Arc<ToolRequest>, RequestError> {
        let now = tools.tools().as_str();
        let known = self.state.tools.as_deref();
        // Nothing is cached before the first response.
        let first = self.sent.tools().filter(|_| !self.state.rounds.is_empty());
        let Some(heard) = known
            .map(|known| &*known.heard)
            .or(first)
            .map(str::to_owned)
        else {
            return Ok(Arc::clone(tools));
        };
        let mut request = Arc::clone(tools);
        match change(dialect, &heard, now) {
            ToolChange::Same => {
                if known.is_some_and(|known| known.unheard.is_some()) {
                    self.record(Change::Tools(ToolsChange::Back));
                }
            }
            ToolChange::Message(message) => {
                self.start_with(heard);
                let change = ToolsChange::Message(now.to_owned(), Arc::new(message));
                self.record(Change::Tools(change));
            }
            // Whether a choice may name tools of messages is not known.
            ToolChange::Allowed if RunTools::messages(known).is_empty() => {
                self.start_with(heard);
                request = allowed()?;
            }
            change => {
                self.forget_tools();
                let advice = match change {
                    ToolChange::Rewritten {
                        advice: Some(advice),
                    } => format!("; {advice}"),
                    _ => String::new(),
                };
                let provider = dialect.provider();
                request = Arc::new(request.with_note(format!(
                    "the tools of the conversation changed, so that {provider} does not find it in its cache{advice}"
                )));
            }
        }
        self.prepare(dialect);
        Ok(match &self.state.tools {
            Some(known) => Arc::new(request.with_tools(&known.start)),
            None => request,
        })
    }

    fn start_with(&mut self, tools: String) {
        if self.state.tools.is_none() {
            self.record(Change::Tools(ToolsChange::Start(tools)));
        }
    }

    /// Forgets the tools that an earlier server has cached.
    pub(super) fn forget_tools(&mut self) {
        if self.state.tools.is_some() {
            self.record(Change::Tools(ToolsChange::Forgotten));
        }
    }
}

/// Compares two lists of tools.
fn change(dialect: &(impl Dialect + ?Sized), before: &str, now: &str) -> ToolChange {
    if before == now {
        return ToolChange::Same;
    }
    let elements = |list| serde_json::from_str::<Vec<Value>>(list);
    match (elements(before), elements(now)) {
        (Ok(before), Ok(now)) => dialect.change_tools(&before, &now),
        _ => ToolChange::Rewritten { advice: None },
    }
}
