//! What a server asks during a call, round by round, and the answers.

use std::collections::BTreeSet;
use std::error::Error;
use std::time::Duration;

use rmcp::model::InputResponses;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tool_core::CallContext;

use super::capabilities::Sample;
use super::elicit::{self, Elicitation};
use super::request::RequestError;
use super::shared::Shared;

pub(super) type CallError = Box<dyn Error + Send + Sync>;

/// A server that asks more often than this in one call does not get an answer.
pub(super) const MAX_ROUNDS: u32 = 10;

/// The parts of a request that is made again.
#[derive(Default)]
pub(super) struct Answers {
    pub(super) responses: Option<InputResponses>,
    pub(super) state: Option<String>,
}

/// Why a request of a call has no result.
pub(super) enum Unfinished {
    Failed(RequestError),
    /// The end of its task, as a predicate. Any effect may have happened.
    Task(String),
    Other(CallError),
}

impl<E: Into<CallError>> From<E> for Unfinished {
    fn from(error: E) -> Unfinished {
        Unfinished::Other(error.into())
    }
}

/// The key of the server's requirements, for the next run of the call.
pub(super) const REQUIRED: &str = "import/required";

/// The server's requirements for completing a call.
#[derive(Deserialize, Serialize)]
pub(super) struct Required {
    /// The number of the next request.
    pub(super) round: u32,
    pub(super) requests: Map<String, Value>,
    pub(super) state: Option<String>,
    /// The task that needs it.
    pub(super) task: Option<Task>,
}

/// Answers the requests of a server, one after the other.
pub(super) async fn answer(
    shared: &Shared,
    context: &CallContext,
    required: Required,
) -> Result<Answers, CallError> {
    let mut responses = InputResponses::new();
    let mut questions = Vec::new();
    let capabilities = &shared.settings.capabilities;
    for (key, request) in &required.requests {
        let question = match request["method"].as_str() {
            Some("roots/list") => {
                responses.insert(key.clone(), capabilities.roots());
                continue;
            }
            Some("sampling/createMessage") if capabilities.samples() => {
                let sample = Sample {
                    server: shared.settings.name.clone(),
                    call: Some(context.clone()),
                    params: request["params"].clone(),
                };
                let answer = capabilities.sample(sample).await?;
                responses.insert(key.clone(), serde_json::to_value(answer)?);
                continue;
            }
            Some("elicitation/create") => elicit::read_value(&request["params"]),
            _ => None,
        };
        let unsupported =
            "the server asks for something that is not supported: only questions to the user are";
        questions.push((key, question.ok_or(unsupported)?));
    }
    for (key, request) in questions {
        let question = Elicitation {
            server: shared.settings.name.clone(),
            call: Some(context.clone()),
            request,
        };
        let round = required.round;
        let answerer = &shared.settings.answerer;
        let answer = answerer
            .answer(&format!("import/{round}/{key}"), question)
            .await;
        responses.insert(key.clone(), serde_json::to_value(answer)?);
    }
    Ok(Answers {
        responses: (!responses.is_empty()).then_some(responses),
        state: required.state,
    })
}

/// The time between two requests for a task of a server that names none.
pub(super) const INTERVAL: Duration = Duration::from_secs(1);

/// The bounds of the time that a server names.
const SHORTEST: Duration = Duration::from_millis(100);

const LONGEST: Duration = Duration::from_secs(60);

/// A task of a server, also for the next run of its call.
#[derive(Clone, Deserialize, Serialize)]
pub(super) struct Task {
    pub(super) id: String,
    /// In milliseconds.
    pub(super) interval: Option<u64>,
    /// The keys of the questions that have answers. The server may still list them for some time.
    pub(super) answered: BTreeSet<String>,
}

impl Task {
    /// Reads the result of a request that became a task.
    pub(super) fn read(result: &Value) -> Option<Task> {
        Some(Task {
            id: result["taskId"].as_str()?.to_owned(),
            interval: result["pollIntervalMs"].as_u64(),
            answered: BTreeSet::new(),
        })
    }

    pub(super) fn interval(&self) -> Duration {
        let interval = self.interval.map_or(INTERVAL, Duration::from_millis);
        interval.clamp(SHORTEST, LONGEST)
    }
}
