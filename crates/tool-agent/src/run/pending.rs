//! [`Pending`]: a call that waits for a decision.

use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::Run;
use super::round::CallState;
use tool_core::ToolCall;
use tool_core::call::CallPosition;
use tool_core::hooks::Hold;

/// A call that waits for a [decision](Run::decide).
///
/// ```
/// use tool_agent::run::{Pending, Run};
///
/// /// Shows a person the call, with the fingerprint that identifies the decision.
/// fn question(pending: &Pending) -> (String, &str) {
///     let call = format!("{}({})", pending.call().name, pending.arguments());
///     (format!("{call}: {}. Allow it?", pending.reason()), pending.fingerprint())
/// }
///
/// assert!(Run::new("conversation-1").pending().iter().map(question).next().is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pending {
    run: String,
    owner: Option<String>,
    call: ToolCall,
    hold: Hold,
    fingerprint: String,
}

impl Pending {
    /// Creates it for a call in the round with this number, starting at 1.
    pub(super) fn new(run: &Run, round: usize, call: ToolCall, hold: &Hold) -> Pending {
        let index = call.position().map_or(0, CallPosition::index);
        let mut hash = Sha256::new();
        let kind = if hold.is_confirmation() {
            " confirm"
        } else {
            ""
        };
        hash.update(format!("{round} {index} {}{kind}", hold.number()));
        // Includes the lengths, so that different lists of strings never have the same bytes.
        for text in [
            run.id(),
            &call.id,
            hold.tool(),
            hold.raw_arguments(),
            hold.reason(),
            hold.key().unwrap_or_default(),
        ] {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        if hold.server().is_some() || hold.approval().is_some() {
            let request = hold
                .approval()
                .map(|request| (request.reason(), request.item()));
            hash.update(json!([hold.server(), request]).to_string());
        }
        let bytes = hash.finalize();
        Pending {
            run: run.id().to_owned(),
            owner: run.info().owner().map(str::to_owned),
            call,
            hold: hold.clone(),
            fingerprint: bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        }
    }

    /// Returns the id of the run.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// Returns the [owner](super::RunBuilder::owner) of the run.
    pub fn owner(&self) -> Option<&str> {
        self.owner.as_deref()
    }

    /// Returns the call as the model made it, with its [position](ToolCall::position).
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// Returns the arguments for the tool in the form for a person, as JSON without invisible characters. See
    /// [`Hold::arguments`].
    pub fn arguments(&self) -> &str {
        self.hold.arguments()
    }

    /// Returns the arguments for the tool byte for byte, except for secrets. See [`Hold::raw_arguments`].
    pub fn raw_arguments(&self) -> &str {
        self.hold.raw_arguments()
    }

    /// Returns the reason given by the hook or the provider.
    pub fn reason(&self) -> &str {
        self.hold.reason()
    }

    /// Returns the SHA-256 hash, in hexadecimal, of everything that the person sees: the run, the call, its [raw
    /// arguments](Pending::raw_arguments) and the reason.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Returns the hold. It tells [who](Hold::is_confirmation) may decide.
    pub fn hold(&self) -> &Hold {
        &self.hold
    }
}

impl Run {
    /// Returns the calls that wait for decisions.
    pub fn pending(&self) -> Vec<Pending> {
        let held = self
            .open_calls()
            .filter_map(|at| match &self.call_at(at).state {
                CallState::Held(hold) => {
                    Some(Pending::new(self, at.0 + 1, self.positioned(at), hold))
                }
                _ => None,
            });
        held.collect()
    }
}
