//! [`Change`]: what can happen to a run.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::info::RunInfo;
use super::settings::RunSettings;
use super::tools::ToolsChange;
use tool_core::dialect::{End, RequestOptions, Unanswered, Usage};
use tool_core::hooks::{Decision, Hold};
use tool_core::{ToolCall, ToolResult};

/// A change. Indices refer to the calls of the last round.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum Change {
    Created {
        version: u32,
        /// The program that wrote the run.
        #[serde(default)]
        program: Cow<'static, str>,
        #[serde(flatten)]
        info: RunInfo,
        settings: RunSettings,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        options: Option<Box<RequestOptions>>,
    },
    /// The dialect, if the run was saved before it had one.
    Dialect(String),
    Settings(RunSettings),
    Options(Option<Box<RequestOptions>>),
    Message(Arc<Value>),
    /// Boxed because it is large and the other variants are small and frequent.
    Response(Box<ResponseChange>),
    /// A change of calls in an earlier round.
    InRound(usize, Box<Change>),
    Started(Vec<usize>),
    Repeated(Vec<usize>),
    Held(usize, Hold),
    Decided(usize, Decision, String),
    /// Takes back the decision at this index and all later ones. The call waits again.
    Revoked(usize, usize),
    Ended(usize, Arc<ToolResult>),
    /// A call runs in the background, and the model gets this in place of the result.
    Acknowledged(usize, Arc<ToolResult>),
    /// The answer to a call that waited for the background, and messages with the late results that the provider takes
    /// by the id of the call.
    Waited(usize, Arc<ToolResult>, Vec<Arc<Value>>),
    /// Messages about ended background calls: late results that the provider takes by the id of the call, and a message
    /// with the others.
    Told(Vec<Arc<Value>>),
    Closed(Vec<Arc<Value>>),
    /// Answers to requests of the last response other than calls.
    Answered(Vec<Arc<Value>>),
    /// The model is asked again, because the last response is no answer. `continues` is set if the next response
    /// continues its text.
    AskedAgain {
        message: Arc<Value>,
        continues: bool,
    },
    /// Removes the last response from the messages, because nothing will answer it.
    GivenUp,
    /// A summary replaces old messages in requests.
    Compacted {
        old: Range<usize>,
        summary: Arc<Value>,
        usage: Option<Usage>,
        micros: u64,
    },
    /// The conversation goes on in the format of another provider.
    Translated(Box<TranslatedChange>),
    /// The tools changed.
    Tools(ToolsChange),
    Cancelled,
    /// The `traceparent` of the span that drives the run from now on.
    Traced(String),
}

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct ResponseChange {
    /// Each with `true` if it may run concurrently with its neighbours.
    pub(super) calls: Vec<(Arc<ToolCall>, bool)>,
    /// The calls that end the run if they succeed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) ending: Vec<usize>,
    /// The calls that wait for background calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) waiting: Vec<usize>,
    #[serde(default, skip_serializing_if = "is_free")]
    pub(super) micros: u64,
    pub(super) text: String,
    pub(super) usage: Option<Usage>,
    pub(super) stop_reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) end: Option<End>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) explanation: Option<String>,
    pub(super) is_paused: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) unanswered: Vec<Unanswered>,
    /// The messages that repeat the response. If there are calls, they are added once all have results.
    pub(super) turn: Vec<Arc<Value>>,
    /// The fields of the next request.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) continuation: Map<String, Value>,
}

/// The messages in the format of another provider, with their parts as in the state.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct TranslatedChange {
    pub(super) dialect: String,
    pub(super) messages: Vec<Arc<Value>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) parts: Vec<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) responses: Vec<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) told: Vec<usize>,
    /// The messages of the last response, if its calls have no results yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) turn: Vec<Arc<Value>>,
    /// The calls that get another id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) ids: Vec<((usize, usize), String)>,
}

// serde requires this signature.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_free(micros: &u64) -> bool {
    *micros == 0
}
