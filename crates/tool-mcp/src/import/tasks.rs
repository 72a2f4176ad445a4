//! Calls that a server continues as tasks.

use std::sync::Arc;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    CancelTaskParams, CancelTaskRequest, ClientRequest, CustomResult, GetTaskParams,
    GetTaskRequest, InputResponses, ServerResult, UpdateTaskParams, UpdateTaskRequest,
};
use rmcp::service::ServiceError;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep, timeout};
use tool_core::CallContext;
use tool_core::call::Progress;

use super::link::Link;
use super::request::{Effect, RequestError, describe, effect, send, text};
use super::rounds::{INTERVAL, MAX_ROUNDS, REQUIRED, Required, Task, Unfinished, answer};
use super::shared::Shared;
use super::transport::Request;
use crate::gateway::MadeAgain;

/// A request for a task that gets no answer is repeated as often.
const REPEATS: u32 = 3;

/// Asks for a task until it has ended, and answers its questions. If an earlier run of the call ended with
/// requests to the caller, `requests` contains them.
pub(super) async fn until_ended(
    shared: &Arc<Shared>,
    context: &CallContext,
    mut task: Task,
    mut round: u32,
    mut requests: Map<String, Value>,
) -> Result<(ServerResult, Arc<Request>), Unfinished> {
    let limit = shared.settings.task_timeout;
    let mut guard = Guard {
        shared: shared.clone(),
        id: task.id.clone(),
        cancels: true,
    };
    let start = Instant::now();
    let mut asking = Duration::ZERO;
    let mut looks = 0_u32;
    let mut message = None;
    loop {
        let asked = Instant::now();
        let answers = if requests.is_empty() {
            None
        } else {
            ask(shared, context, &mut task, round, requests, &mut guard).await?
        };
        // A person needs more time than a server.
        asking += asked.elapsed();
        let step = async {
            if let Some(answers) = answers {
                update(shared, &task, answers).await?;
            }
            sleep(task.interval()).await;
            let get = || {
                let params = GetTaskParams::new(task.id.clone());
                ClientRequest::GetTaskRequest(GetTaskRequest::new(params))
            };
            about(shared, get).await
        };
        let left = limit.saturating_sub(start.elapsed().saturating_sub(asking));
        let Ok(got) = timeout(left, step).await else {
            let problem = format!("did not end within {limit:?}, and was cancelled");
            return Err(Unfinished::Task(problem));
        };
        let (result, carried) = got.map_err(|error| {
            let reason = describe(&error, &shared.secrets);
            Unfinished::Task(format!("can't be followed: {reason}"))
        })?;
        let mut state = match result {
            ServerResult::CustomResult(result) => result.0,
            result => json!(result),
        };
        task.interval = state["pollIntervalMs"].as_u64();
        looks += 1;
        if state["statusMessage"].is_string() && message.as_ref() != Some(&state["statusMessage"]) {
            let shown = text(
                &shared.secrets,
                state["statusMessage"].as_str().unwrap_or_default(),
            );
            context.report(&Progress::new(looks.into()).message(shown));
            message = Some(state["statusMessage"].take());
        }
        requests = Map::new();
        match state["status"].as_str() {
            Some("working") => {}
            Some("input_required") => {
                if let Value::Object(all) = state["inputRequests"].take() {
                    let new = all.into_iter();
                    requests = new
                        .filter(|(key, _)| !task.answered.contains(key))
                        .collect();
                }
                round += u32::from(!requests.is_empty());
                if round > MAX_ROUNDS {
                    let problem = format!("asked {MAX_ROUNDS} times for input, without a result");
                    return Err(Unfinished::Task(problem));
                }
            }
            Some("completed") if state["result"].is_object() => {
                guard.cancels = false;
                let result = CustomResult::new(state["result"].take());
                return Ok((ServerResult::CustomResult(result), carried));
            }
            Some("failed") => {
                guard.cancels = false;
                let error = serde_json::from_value(state["error"].take());
                let error = error.unwrap_or_else(|_| {
                    ErrorData::internal_error("the task failed without a reason", None)
                });
                let error = RequestError::Service(ServiceError::McpError(error));
                return Err(Unfinished::Failed(error));
            }
            Some("cancelled") => {
                guard.cancels = false;
                return Err(Unfinished::Task("was cancelled by the server".into()));
            }
            _ => {
                let error = RequestError::Service(ServiceError::UnexpectedResponse);
                return Err(Unfinished::Failed(error));
            }
        }
    }
}

/// Answers the questions of a task.
async fn ask(
    shared: &Shared,
    context: &CallContext,
    task: &mut Task,
    round: u32,
    requests: Map<String, Value>,
    guard: &mut Guard,
) -> Result<Option<InputResponses>, Unfinished> {
    let keys: Vec<_> = requests.keys().cloned().collect();
    let mut required = Required {
        round,
        requests,
        state: None,
        task: Some(task.clone()),
    };
    if shared.settings.answerer.passes_on() {
        context.keep(REQUIRED, &required);
        // The question may end this run of the call. The next one goes on with the task.
        guard.cancels = context.get::<MadeAgain>().is_none();
    }
    required.task = None;
    let answers = answer(shared, context, required).await?;
    guard.cancels = true;
    task.answered.extend(keys);
    Ok(answers.responses)
}

/// Sends the answers to a task. The state of the task shows whether the server accepts them.
async fn update(
    shared: &Arc<Shared>,
    task: &Task,
    answers: InputResponses,
) -> Result<(), RequestError> {
    let update = || {
        let params = UpdateTaskParams::new(task.id.clone(), answers.clone());
        ClientRequest::UpdateTaskRequest(UpdateTaskRequest::new(params))
    };
    match about(shared, update).await {
        Err(RequestError::Service(ServiceError::McpError(_))) | Ok(_) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Sends a request about a task. None of them does harm twice, so one without an answer is repeated, also after the
/// connection was lost and made again.
async fn about(
    shared: &Arc<Shared>,
    request: impl Fn() -> ClientRequest,
) -> Result<(ServerResult, Arc<Request>), RequestError> {
    let limit = shared.settings.list_timeout;
    let mut repeats = 0;
    loop {
        let restarting = |link: &Link| matches!(link, Link::Away { restarts: true, .. });
        let mut link = shared.link.subscribe();
        let settled = link.wait_for(|link| !restarting(link)).await;
        let Ok(Link::Up(live)) = settled.map(|link| link.clone()) else {
            return Err(RequestError::NotSent);
        };
        let (carried, events) = Request::new(None);
        let sent = send(&live, request(), carried.clone(), events, limit).await;
        let error = match sent {
            Ok(result) => return Ok((result, carried)),
            Err(error) => error,
        };
        let is_final = matches!(effect(&error), Effect::Answered)
            || matches!(error, RequestError::Unreadable(_))
            || repeats == REPEATS;
        if is_final {
            return Err(error);
        }
        repeats += 1;
        if let RequestError::NotSent | RequestError::Service(ServiceError::TransportClosed) = error
        {
            shared.wait_until_lost(&live).await;
        } else {
            sleep(INTERVAL).await;
        }
    }
}

/// Cancels a task, unless it has ended or another run of its call goes on with it.
struct Guard {
    shared: Arc<Shared>,
    id: String,
    cancels: bool,
}

impl Drop for Guard {
    fn drop(&mut self) {
        let Link::Up(live) = self.shared.link() else {
            return;
        };
        if !self.cancels {
            return;
        }
        let params = CancelTaskParams::new(std::mem::take(&mut self.id));
        let limit = self.shared.settings.list_timeout;
        self.shared.runtime.spawn(async move {
            let request = ClientRequest::CancelTaskRequest(CancelTaskRequest::new(params));
            let (carried, events) = Request::new(None);
            // Nobody waits for the answer.
            let _ = send(&live, request, carried, events, limit).await;
        });
    }
}
