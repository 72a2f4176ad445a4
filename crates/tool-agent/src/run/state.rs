//! The saved state of a run.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::info::RunInfo;
use super::round::Round;
use super::settings::RunSettings;
use super::tools::RunTools;
use tool_core::dialect::{RequestOptions, Usage};
use tool_core::{ToolError, ToolErrorKind, ToolResult};

/// The version of the saved form. Increase it if programs of an earlier version would misread a run. `ARCHITECTURE.md`
/// describes how.
pub(super) const VERSION: u32 = 1;

/// The earliest version that can be read.
const FIRST_VERSION: u32 = 1;

/// The program that writes runs, named in errors if another can't read one.
pub(super) const PROGRAM: &str = concat!("tool-agent ", env!("CARGO_PKG_VERSION"));

/// The saved part of a [`Run`](super::Run).
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct State {
    #[serde(flatten)]
    pub(super) info: RunInfo,
    pub(super) settings: RunSettings,
    /// The run's own request settings. Boxed because most runs have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) options: Option<Box<RequestOptions>>,
    /// Shared with requests to the model.
    pub(super) messages: Arc<Vec<Arc<Value>>>,
    pub(super) rounds: Vec<Round>,
    /// The user's texts, each with the number of rounds before it. Includes messages that a summary replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) said: Vec<(usize, String)>,
    /// The number of changes so far.
    pub(super) changes: u64,
    pub(super) spent: Spent,
    pub(super) is_cancelled: bool,
    /// The number of consecutive failures by tool, since the last message of the user.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) failures: BTreeMap<String, u32>,
    /// The starts of parts, which make sense alone. A part is a message of the user, or a response with the results of
    /// its calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) parts: Vec<usize>,
    /// The starts of the parts that are responses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) responses: Vec<usize>,
    /// The starts of the parts with results of background calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) told: Vec<usize>,
    /// The number of rounds at the last summary.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) compacted_at: usize,
    /// The number of rounds whose messages the run wrote itself, for another provider.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) translated: usize,
    /// The fields of the next request.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) continuation: Map<String, Value>,
    /// Set once the tools have changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<Box<RunTools>>,
    /// The `traceparent` of the span that drives or last drove the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) trace: Option<String>,
    /// The background calls whose results the model has not got yet, in the order of their starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) background: Vec<At>,
}

/// A call's position: the index of its round, and its index in the round.
pub(crate) type At = (usize, usize);

/// A saved run. The version is checked before the rest is read.
#[derive(Serialize, Deserialize)]
pub(super) struct SavedRun<S> {
    pub(super) version: u32,
    #[serde(default)]
    pub(super) program: Cow<'static, str>,
    #[serde(flatten)]
    pub(super) state: S,
}

/// Limited usage since the last message of the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Spent {
    pub(super) rounds: u32,
    pub(super) calls: u32,
    pub(super) tokens: u64,
    #[serde(default)]
    pub(super) micros: u64,
    /// Number of repeated requests because a response was no answer.
    #[serde(default, skip_serializing_if = "is_none_asked")]
    pub(super) asked_again: u32,
}

// serde requires this signature.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_none_asked(count: &u32) -> bool {
    *count == 0
}

// serde requires this signature.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Leaves out the messages, because arguments of calls may be secret.
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

/// Returns an error if this crate can't read the version. `program` wrote it.
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
    /// Starts a part for a response.
    pub(super) fn start_response(&mut self) {
        self.parts.push(self.messages.len());
        self.responses.push(self.messages.len());
    }

    /// Counts consecutive failures of a tool.
    pub(super) fn count_failure(&mut self, result: &ToolResult) {
        match result.error().map(ToolError::kind) {
            None => {
                self.failures.remove(result.name());
            }
            // A cancellation is not the tool's failure.
            Some(ToolErrorKind::Cancelled) => {}
            // This call was refused because of another tool's failures.
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
