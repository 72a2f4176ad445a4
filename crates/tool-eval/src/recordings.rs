//! [`Recordings`]: the responses of each attempt, so that CI needs no key.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tool_agent::testing::Recording;

use crate::error::EvalError;
use crate::storage::{read_text, replace};

/// The version of the file.
const VERSION: u32 = 1;

/// The responses of a model, by case and attempt. A [replay](crate::Candidate::replay) succeeds only if the tools, the
/// messages and the results in the request are the same as recorded.
///
/// They contain the user's words and the arguments of calls, which may be secret.
///
/// ```no_run
/// use tool_agent::Agent;
/// use tool_eval::{Candidate, EvalError, Recordings};
///
/// /// Used in CI, where there is no key.
/// fn recorded(agent: Agent) -> Result<Candidate, EvalError> {
///     let recordings = Recordings::read("qwen3.recording.json")?;
///     Ok(Candidate::new("qwen3", agent).replay(recordings))
/// }
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recordings {
    version: u32,
    /// A digest of the model's settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) settings: Option<String>,
    attempts: Vec<RecordedAttempt>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedAttempt {
    case: String,
    repeat: u32,
    responses: Vec<Recording>,
}

impl Default for Recordings {
    fn default() -> Recordings {
        Recordings {
            version: VERSION,
            settings: None,
            attempts: Vec::new(),
        }
    }
}

impl Recordings {
    pub(crate) fn add(&mut self, case: &str, repeat: u32, responses: Vec<Recording>) {
        self.attempts.push(RecordedAttempt {
            case: case.to_owned(),
            repeat,
            responses,
        });
    }

    /// Reads a file written by [`write`](Recordings::write).
    ///
    /// # Errors
    ///
    /// Returns an error if the file can't be read, contains no recordings, or was written by a later version.
    pub fn read(path: impl AsRef<Path>) -> Result<Recordings, EvalError> {
        let path = path.as_ref();
        Recordings::parse(path, &read_text(path)?)
    }

    fn parse(path: &Path, text: &str) -> Result<Recordings, EvalError> {
        let recordings: Recordings = serde_json::from_str(text).map_err(|error| {
            EvalError::of_file(
                path,
                format!("has no recordings; record them again: {error}"),
            )
        })?;
        if recordings.version != VERSION {
            let message = format!(
                "the recordings have version {}, this program reads {VERSION}; record them again",
                recordings.version
            );
            return Err(EvalError::of_file(path, message));
        }
        Ok(recordings)
    }

    /// Writes the file. It is replaced atomically.
    ///
    /// # Errors
    ///
    /// Returns an error if the file can't be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), EvalError> {
        replace(path.as_ref(), self)
    }
}

/// The source of answers in place of a model.
#[derive(Clone, Debug)]
pub(crate) enum Replay {
    Attempts(Recordings),
    /// The same answers for each attempt, written by hand.
    Always(Vec<Recording>),
}

impl Replay {
    /// Reads a file of either kind. An array is written by hand.
    pub(crate) fn read(path: &Path) -> Result<Replay, EvalError> {
        let text = read_text(path)?;
        if !text.trim_start().starts_with('[') {
            return Recordings::parse(path, &text).map(Replay::Attempts);
        }
        serde_json::from_str(&text)
            .map(Replay::Always)
            .map_err(|error| {
                EvalError::of_file(path, format!("has no recordings; correct it: {error}"))
            })
    }

    /// Returns the responses for an attempt.
    pub(crate) fn of(&self, case: &str, repeat: u32) -> Option<Vec<Recording>> {
        let recordings = match self {
            Replay::Always(recordings) => return Some(recordings.clone()),
            Replay::Attempts(recordings) => recordings,
        };
        let mut attempts = recordings.attempts.iter();
        let found = attempts.find(|attempt| attempt.case == case && attempt.repeat == repeat);
        found.map(|attempt| attempt.responses.clone())
    }
}
