//! [`Attempt`]: one conversation of a model, with the [calls](MadeCall) that it made.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};
use tool_agent::run::Run;

use crate::report::{CallOutcome, CallReport};

/// One attempt of a model, for checks by code.
///
/// ```
/// use tool_eval::Attempt;
///
/// fn calls_little(attempt: &Attempt<'_>) -> Result<(), String> {
///     match attempt.calls().len() {
///         ..=3 => Ok(()),
///         calls => Err(format!("{calls} calls, where 3 are enough")),
///     }
/// }
/// # let _ = calls_little;
/// ```
#[derive(Debug)]
pub struct Attempt<'a> {
    pub(crate) run: &'a Run,
    pub(crate) calls: &'a [MadeCall],
}

impl Attempt<'_> {
    /// Returns the calls in order, including rejected ones.
    pub fn calls(&self) -> &[MadeCall] {
        self.calls
    }

    /// Returns the text of the last response.
    pub fn answer(&self) -> &str {
        self.run.rounds().last().map_or("", |round| round.text())
    }

    /// Returns the run, which has the calls as the model wrote them.
    pub fn run(&self) -> &Run {
        self.run
    }
}

/// A call of the model.
///
/// ```
/// use tool_eval::Case;
///
/// let case = Case::new("lights", "Turn on the light.").check(|attempt| {
///     let mut calls = attempt.calls().iter();
///     match calls.find(|call| call.tool() == "turn_on" && !call.is_rejected()) {
///         Some(call) if call.arguments()["name"] == "light" => Ok(()),
///         _ => Err("the light stays off".into()),
///     }
/// });
/// # let _ = case;
/// ```
pub struct MadeCall {
    pub(crate) tool: String,
    pub(crate) decoded: Decoded,
    /// The arguments in the form for people.
    pub(crate) shown: String,
    /// The reason why the call was rejected.
    pub(crate) rejected: Option<String>,
    pub(crate) round: usize,
    pub(crate) is_corrected: bool,
}

impl MadeCall {
    /// Returns the name of the tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Returns the arguments as the tool decodes them, including defaults for absent ones. For a rejected call, returns
    /// them as the model wrote them; empty if they are not JSON. They may contain secrets.
    pub fn arguments(&self) -> &Map<String, Value> {
        &self.decoded.filled
    }

    /// Returns `true` if the call was rejected, because its tool does not exist or its arguments are invalid.
    pub fn is_rejected(&self) -> bool {
        self.rejected.is_some()
    }

    /// Returns `true` if the call was rejected and a later call corrected it.
    pub fn is_corrected(&self) -> bool {
        self.is_corrected
    }

    pub(crate) fn report(&self) -> CallReport {
        CallReport {
            tool: self.tool.clone(),
            arguments: self.shown.clone(),
            outcome: match (&self.rejected, self.is_corrected) {
                (None, _) => CallOutcome::Valid,
                (Some(_), true) => CallOutcome::Corrected,
                (Some(_), false) => CallOutcome::Rejected,
            },
            rejected: self.rejected.clone(),
        }
    }
}

/// Leaves out the arguments, which may be secret.
impl fmt::Debug for MadeCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MadeCall")
            .field("tool", &self.tool)
            .field("arguments", &self.shown)
            .field("rejected", &self.rejected)
            .finish_non_exhaustive()
    }
}

/// Arguments in the form in which a tool decodes them.
pub(crate) struct Decoded {
    /// Including defaults for absent parameters.
    pub(crate) filled: Map<String, Value>,
    /// The parameters that the model or the case wrote.
    pub(crate) written: BTreeSet<String>,
    /// The arguments without secrets, if the tool has any.
    pub(crate) shown: Option<Map<String, Value>>,
}

impl Decoded {
    /// Returns a value in the form for people.
    pub(crate) fn shown(&self, name: &str) -> String {
        /// Maximum number of characters of a value in a message.
        const LONGEST: usize = 200;
        let value = match &self.shown {
            // A parameter that the schema does not describe may contain a secret under another name.
            Some(shown) if self.written.contains(name) => {
                let hidden = || Some(Value::from("[secret]"));
                shown.get(name).cloned().or_else(hidden)
            }
            _ => self.filled.get(name).cloned(),
        };
        let mut text = value.map_or_else(|| "null".to_owned(), |value| value.to_string());
        if text.chars().count() > LONGEST {
            text = text.chars().take(LONGEST).chain(['…']).collect();
        }
        text
    }
}
