//! [`Increment`]: one change of a run.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::change::Change;
use super::state::check_version;

/// One change of a [`Run`](super::Run), for a [`Journal`](super::Journal) to save.
///
/// Treat the saved form as opaque: only [`Run::replay`](super::Run::replay) reads it.
///
/// ```
/// use serde_json::json;
/// use tool_agent::run::{Increment, Run};
///
/// let mut run = Run::new("conversation-1");
/// run.push(json!({"role": "user", "content": "Hello?"}))?;
///
/// // A journal keeps each increment as JSON, under its number.
/// let saved: Vec<String> = run.unsaved().iter().map(|new| json!(new).to_string()).collect();
/// let loaded: Result<Vec<Increment>, _> = saved.iter().map(|json| serde_json::from_str(json)).collect();
/// let same = Run::replay(loaded?)?;
/// assert_eq!(same.messages(), run.messages());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Serialize, Deserialize)]
pub struct Increment {
    pub(super) number: u64,
    /// Boxed because a run keeps many increments.
    pub(super) change: Box<Change>,
}

impl Increment {
    /// Returns the position among the run's increments, starting at 1 and without gaps. A journal accepts only the
    /// number that follows its last one.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Reads saved increments. If that fails, reports the version in the first increment, which explains more than the
    /// position of a syntax error.
    #[cfg(all(feature = "sqlite", not(target_family = "wasm")))]
    pub(super) fn parse_all(saved: &[String]) -> Result<Vec<Increment>, String> {
        let increments = saved.iter().map(|json| serde_json::from_str(json));
        let increments: Result<_, _> = increments.collect();
        increments.map_err(|error| {
            let first = saved
                .first()
                .and_then(|json| serde_json::from_str(json).ok());
            unreadable(first.as_ref(), &error)
        })
    }
}

/// Leaves out the change, which may contain secrets.
impl fmt::Debug for Increment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Increment")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

/// Describes why increments can't be read. `first` is the first of them.
pub(super) fn unreadable(first: Option<&Value>, error: &serde_json::Error) -> String {
    let created = first.map_or(&Value::Null, |first| &first["change"]["Created"]);
    let version = created["version"]
        .as_u64()
        .and_then(|version| version.try_into().ok());
    let program = created["program"].as_str().unwrap_or_default();
    let checked = version.map_or(Ok(()), |version| check_version(version, program));
    checked.err().unwrap_or_else(|| error.to_string())
}
