//! What is saved of a run.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use super::{Round, Run, RunInfo, RunSettings};
use tool_core::dialect::{RequestOptions, Usage};
use tool_core::{ToolError, ToolErrorKind, ToolResult};

/// The version of the saved form. It grows when a program of an earlier version would misread a run: `ARCHITECTURE.md` says
/// how.
pub(super) const VERSION: u32 = 1;

/// The earliest version that can be read.
const FIRST_VERSION: u32 = 1;

/// What writes runs, for who can't read one.
pub(super) const PROGRAM: &str = concat!("tool-agent ", env!("CARGO_PKG_VERSION"));

/// The part of a [`Run`] that is saved.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct State {
    #[serde(flatten)]
    pub(super) info: RunInfo,
    pub(super) settings: RunSettings,
    /// Those of its requests. Boxed, because most runs have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) options: Option<Box<RequestOptions>>,
    /// Shared with requests to the model.
    pub(super) messages: Arc<Vec<Arc<Value>>>,
    pub(super) rounds: Vec<Round>,
    /// The texts of the user, also those of messages that a summary replaced, with the number of rounds before each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) said: Vec<(usize, String)>,
    /// The number of changes so far.
    pub(super) changes: u64,
    pub(super) spent: Spent,
    pub(super) is_cancelled: bool,
    /// The calls that failed in a row, by tool, since the last message of the user.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) failures: BTreeMap<String, u32>,
    /// The messages with which a part starts that can stand alone: a message of the user, or a response with the
    /// results of its calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) parts: Vec<usize>,
    /// Those of the parts that are responses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) responses: Vec<usize>,
    /// Those of the parts that have results of calls in the background.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) told: Vec<usize>,
    /// The number of rounds when old messages were last replaced by a summary.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) compacted_at: usize,
    /// The fields of the next request.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) continuation: Map<String, Value>,
    /// The `traceparent` of the span that drives it, or drove it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) trace: Option<String>,
    /// The calls in the background whose results the model does not have yet, in the order of their starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) background: Vec<At>,
}

/// The place of a call: the index of its round, and its index in it.
pub(crate) type At = (usize, usize);

/// A saved run. Its version is checked before the rest is read.
#[derive(Serialize, Deserialize)]
pub(super) struct SavedRun<S> {
    version: u32,
    #[serde(default)]
    program: Cow<'static, str>,
    #[serde(flatten)]
    state: S,
}

/// What was used since the last message of the user, and is limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Spent {
    pub(super) rounds: u32,
    pub(super) calls: u32,
    pub(super) tokens: u64,
    #[serde(default)]
    pub(super) micros: u64,
    /// How often the model was asked again, because a response was no answer.
    #[serde(default, skip_serializing_if = "is_none_asked")]
    pub(super) asked_again: u32,
}

// The signature is serde's.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_none_asked(count: &u32) -> bool {
    *count == 0
}

// The signature is serde's.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The messages contain the arguments of calls, which may be secret.
impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State")
            .field("info", &self.info)
            .field("settings", &self.settings)
            .field("messages", &self.messages.len())
            .field("rounds", &self.rounds)
            .field("changes", &self.changes)
            .field("spent", &self.spent)
            .field("is_cancelled", &self.is_cancelled)
            .finish_non_exhaustive()
    }
}

impl TryFrom<SavedRun<Value>> for Run {
    type Error = String;

    fn try_from(saved: SavedRun<Value>) -> Result<Run, String> {
        check_version(saved.version, &saved.program)?;
        let state = serde_json::from_value(saved.state).map_err(|error| error.to_string())?;
        let mut run = Run::of(state);
        for (round, index) in run.state.background.clone() {
            run.call_mut(round, index)?;
        }
        Ok(run)
    }
}

impl Serialize for Run {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let saved = SavedRun {
            version: VERSION,
            program: PROGRAM.into(),
            state: &self.state,
        };
        saved.serialize(serializer)
    }
}

/// Returns an error for a version that this crate can't read. `program` has written it.
pub(super) fn check_version(version: u32, program: &str) -> Result<(), String> {
    if (FIRST_VERSION..=VERSION).contains(&version) {
        return Ok(());
    }
    let program = if program.is_empty() {
        "another program"
    } else {
        program
    };
    Err(format!(
        "the run was saved by {program} in version {version} of its form, and {PROGRAM} reads versions {FIRST_VERSION} to \
         {VERSION}; load it with the program that saved it"
    ))
}

impl State {
    /// Starts a part that is a response.
    pub(super) fn start_response(&mut self) {
        self.parts.push(self.messages.len());
        self.responses.push(self.messages.len());
    }

    /// Counts the calls of a tool that failed in a row.
    pub(super) fn count_failure(&mut self, result: &ToolResult) {
        match result.error().map(ToolError::kind) {
            None => {
                self.failures.remove(result.name());
            }
            // Says nothing about the tool.
            Some(ToolErrorKind::Cancelled) => {}
            // It was refused because of another one.
            Some(_)
                if self
                    .failures
                    .values()
                    .any(|count| *count >= self.settings.max_failures) => {}
            Some(_) => {
                let failures = self.failures.entry(result.name().to_owned()).or_default();
                *failures = failures.saturating_add(1);
            }
        }
    }
}

impl Spent {
    pub(super) fn add(&mut self, usage: Option<Usage>, micros: u64) {
        let tokens = usage.map_or(0, Usage::total);
        self.tokens = self.tokens.saturating_add(tokens);
        self.micros = self.micros.saturating_add(micros);
    }
}
