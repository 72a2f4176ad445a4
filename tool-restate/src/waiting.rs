//! [`Waiting`]: what a message waits for, which comes in any order: a response, results and decisions.
//!
//! Restate saves in which order they came, and each attempt takes them in the same one.

use std::collections::HashSet;
use std::pin::Pin;
use std::time::Duration;

use restate_sdk::context::{CallFuture, DurableFuture, DurableFuturesUnordered};
use restate_sdk::prelude::*;
use serde::{Deserialize, Serialize};
use tool_agent::run::{Increment, Pending};
use tool_core::hooks::Decision;
use tool_core::{ToolCall, ToolResult};

/// A decision on a call that waits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Decide {
    /// The [fingerprint](tool_agent::run::Pending::fingerprint) of what the user has seen.
    pub fingerprint: String,
    /// What the user decided.
    pub decision: Decision,
    /// The id of the user, by which [`Agent::may_decide`](tool_agent::Agent::may_decide) decides. Only your own programs may say it.
    pub user: String,
}

/// What came, and is not in the run yet.
#[derive(Clone)]
pub(crate) enum News {
    /// The result of a call. `None` if an operator ended the call, or if its service is gone.
    Result(ToolCall, Option<ToolResult>),
    Decision(Decide),
    /// Nobody decided in time on the call with this fingerprint.
    TimeOver(String),
}

/// What came of one future.
enum Came {
    Response(Result<Json<Vec<Increment>>, TerminalError>),
    Result {
        call: ToolCall,
        /// The invocation, if the call runs in the background.
        invocation: Option<String>,
        result: Result<Json<ToolResult>, TerminalError>,
    },
    Decision(String, Result<Json<Decide>, TerminalError>),
    TimeOver(String, Result<(), TerminalError>),
}

type Coming<'c> = Pin<Box<dyn DurableFuture<Output = Came> + Send + 'c>>;

/// What a message waits for.
#[derive(Default)]
pub(crate) struct Waiting<'c> {
    coming: DurableFuturesUnordered<Coming<'c>>,
    pub(crate) news: Vec<News>,
    /// The number of calls that run in the foreground.
    foreground: usize,
    /// The invocations of the calls in the background.
    background: Vec<String>,
    /// The fingerprints of the calls on which somebody may decide, and of those whose time runs.
    decided: HashSet<String>,
    timed: HashSet<String>,
}

impl<'c> Waiting<'c> {
    /// Waits for the response of the model.
    pub(crate) async fn response(
        &mut self,
        asking: impl DurableFuture<Output = Result<Json<Vec<Increment>>, TerminalError>> + Send + 'c,
    ) -> Result<Vec<Increment>, TerminalError> {
        self.coming.push(Box::pin(asking.map(Came::Response)));
        loop {
            if let Some(response) = self.next().await? {
                return Ok(response);
            }
        }
    }

    /// Adds a call that the next request waits for.
    pub(crate) fn call(
        &mut self,
        call: ToolCall,
        calling: impl DurableFuture<Output = Result<Json<ToolResult>, TerminalError>> + Send + 'c,
    ) {
        self.foreground += 1;
        self.push(call, None, calling);
    }

    /// Adds a call that goes on while the model is asked.
    pub(crate) async fn background(
        &mut self,
        call: ToolCall,
        calling: impl CallFuture<Response = Json<ToolResult>> + Send + 'c,
    ) -> Result<(), TerminalError> {
        let handle = calling.invocation_handle().await?;
        let invocation = handle.invocation_id().to_owned();
        self.background.push(invocation.clone());
        self.push(call, Some(invocation), calling);
        Ok(())
    }

    fn push(
        &mut self,
        call: ToolCall,
        invocation: Option<String>,
        calling: impl DurableFuture<Output = Result<Json<ToolResult>, TerminalError>> + Send + 'c,
    ) {
        let came = |result| Came::Result {
            call,
            invocation,
            result,
        };
        self.coming.push(Box::pin(calling.map(came)));
    }

    /// Adds decisions on these calls, each of which is denied after a time.
    pub(crate) fn decisions(
        &mut self,
        ctx: &ObjectContext<'c>,
        pending: &[Pending],
        timeout: Duration,
    ) {
        for pending in pending {
            let fingerprint = || pending.fingerprint().to_owned();
            if self.decided.insert(fingerprint()) {
                let of = fingerprint();
                let signal = ctx.signal::<Json<Decide>>(&of);
                let came = |decided| Came::Decision(of, decided);
                self.coming.push(Box::pin(signal.map(came)));
            }
            if self.timed.insert(fingerprint()) {
                let of = fingerprint();
                let came = |slept| Came::TimeOver(of, slept);
                self.coming.push(Box::pin(ctx.sleep(timeout).map(came)));
            }
        }
    }

    /// Waits for the results of all calls in the foreground.
    pub(crate) async fn results(&mut self) -> Result<(), TerminalError> {
        while self.foreground > 0 {
            self.next().await?;
        }
        Ok(())
    }

    /// Returns `true` if a call has no result yet.
    pub(crate) fn has_calls(&self) -> bool {
        self.foreground > 0 || !self.background.is_empty()
    }

    /// Waits until something comes. Returns the response, if it is that; the rest is in the news.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<Increment>>, TerminalError> {
        let Some((_, came)) = self.coming.next().await? else {
            return Err(TerminalError::new("the conversation waits for nothing"));
        };
        self.news.push(match came {
            Came::Response(response) => {
                let Json(increments) = response?;
                return Ok(Some(increments));
            }
            Came::Result {
                call,
                invocation,
                result,
            } => {
                match invocation {
                    Some(ended) => self.background.retain(|open| *open != ended),
                    None => self.foreground -= 1,
                }
                // An error is that of the call: one that concerns this message comes from the line above.
                News::Result(call, result.ok().map(Json::into_inner))
            }
            Came::Decision(fingerprint, decided) => {
                self.decided.remove(&fingerprint);
                News::Decision(decided?.into_inner())
            }
            Came::TimeOver(fingerprint, slept) => {
                slept?;
                self.timed.remove(&fingerprint);
                News::TimeOver(fingerprint)
            }
        });
        Ok(None)
    }

    /// Cancels the calls in the background, because the message has failed.
    pub(crate) fn cancel(&self, ctx: &ObjectContext<'_>) {
        for invocation in &self.background {
            ctx.invocation_handle(invocation.clone()).cancel();
        }
    }
}
