//! [`RunTools`]: the tools of a conversation, whose start stays the same in each request.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The tools of a run whose tools have changed. Lists are the JSON text of a request's tools.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct RunTools {
    /// The list that each request has.
    pub(super) start: String,
    /// The tools that the model had at its last response.
    pub(super) heard: String,
    /// The tools after the last message, if no response followed it yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) unheard: Option<String>,
    /// The messages that changed the tools. Each is sent before the message of the run with this index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) messages: Vec<(usize, Arc<Value>)>,
}

/// A change of the tools of a run.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum ToolsChange {
    /// Each request starts with this list from now on.
    Start(String),
    /// A message after all others changes the tools into this list.
    Message(String, Arc<Value>),
    /// The last message is taken back, because no response followed it.
    Back,
    /// The provider reads the conversation again.
    Forgotten,
}

impl RunTools {
    /// Returns the messages that changed the tools.
    pub(super) fn messages(this: Option<&RunTools>) -> &[(usize, Arc<Value>)] {
        this.map_or(&[], |tools| &tools.messages)
    }

    /// Remembers that the model has responded.
    pub(super) fn respond(&mut self) {
        if let Some(tools) = self.unheard.take() {
            self.heard = tools;
        }
    }

    /// Applies a change. `at` is the number of messages of the run.
    pub(super) fn change(
        this: &mut Option<Box<RunTools>>,
        change: ToolsChange,
        at: usize,
    ) -> Result<(), &'static str> {
        match (change, this.as_mut()) {
            (ToolsChange::Start(start), None) => {
                *this = Some(Box::new(RunTools {
                    heard: start.clone(),
                    start,
                    unheard: None,
                    messages: Vec::new(),
                }));
            }
            (ToolsChange::Message(tools, message), Some(known)) => {
                known.take_back();
                known.messages.push((at, message));
                known.unheard = Some(tools);
            }
            (ToolsChange::Back, Some(known)) => known.take_back(),
            (ToolsChange::Forgotten, Some(_)) => *this = None,
            _ => return Err("the tools of the run can't change so"),
        }
        Ok(())
    }

    fn take_back(&mut self) {
        if self.unheard.take().is_some() {
            self.messages.pop();
        }
    }
}
