//! Agents as tools of other agents.

use std::error::Error;
use std::sync::Arc;

use serde_json::{Value, json};
use tool_core::dynamic::{DynamicTool, DynamicToolError};
use tool_core::hooks::DecisionDenied;
use tool_core::{CallContext, ToolError};

use super::events::{Caller, Listener};
use super::{Agent, AgentError, Event, Unfinished};
use crate::run::{DecideError, Journal, MemoryJournal, Run, RunInfo, RunOutcome, random_id};

/// The reason why there is no answer. A [`ToolError`] is returned unchanged.
type Failure = Box<dyn Error + Send + Sync>;

impl Agent {
    /// Turns the agent into a tool with one parameter, `question`. The result is the agent's answer.
    ///
    /// Each call has its own run, with the owner and the data of the calling run. Its id starts with the id of the
    /// calling run, which is its [parent](RunInfo::parent). The call fails if a run with this id exists and has another
    /// owner or parent. That could happen if a client chose the id. The run is saved in this agent's
    /// [journal](Agent::journal), or kept in memory until it ends. Its events are [passed on](Event::Inner). Cancelling
    /// the call cancels the run.
    ///
    /// If a call within it waits for a decision, the agent's call waits for the same [`Hold`](tool_core::hooks::Hold).
    /// Both agents ask their policies. If this agent's policy forbids a decision, the call keeps waiting. Outside of a
    /// run nothing could continue later, so the call fails as [`Held`](tool_core::ToolErrorKind::Held).
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_agent::Agent;
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_core::Registry;
    /// use tool_agent::dialects::OpenAiChat;
    ///
    /// let billing = ScriptedModel::default().say("It was paid on Monday.");
    /// let billing = Agent::new(Registry::new(), OpenAiChat::default(), billing);
    /// let tool = billing.into_tool("ask_billing", "Asks the department that knows about invoices.")?;
    ///
    /// let model = ScriptedModel::default()
    ///     .call("ask_billing", json!({"question": "Is 17 paid?"}))
    ///     .say("Yes, on Monday.");
    /// let registry = Registry::builder().tool(tool).build()?;
    /// let agent = Agent::new(registry, OpenAiChat::default(), model);
    /// assert_eq!(agent.ask_blocking("Is invoice 17 paid?")?, "Yes, on Monday.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the name is not valid.
    pub fn into_tool(
        mut self,
        name: impl Into<String>,
        description: impl Into<String>,
    ) -> Result<DynamicTool, DynamicToolError> {
        let is_saved = self.journal.is_some();
        // A call that waits is made again later, and finds its run here.
        let memory = (!is_saved).then(MemoryJournal::new);
        if let Some(memory) = &memory {
            self = self.journal(memory.clone());
        }
        let builder = DynamicTool::builder(name).description(description);
        // A repeated call continues its run.
        let builder = builder.idempotent(is_saved).parameters(json!({
            "type": "object",
            "properties": {
                "question": {"type": "string", "description": "A question that can be understood alone."},
            },
            "required": ["question"],
            "additionalProperties": false,
        }));
        builder.build(move |arguments: Value, call: CallContext| {
            let (agent, memory) = (self.clone(), memory.clone());
            async move {
                let mut run = agent.run_of_call(&arguments, &call).await?;
                let answer = agent.answer_call(&mut run, &call).await;
                if let Some(memory) = memory.filter(|_| run.pending().is_empty()) {
                    memory.remove(run.id()).await?;
                }
                answer
            }
        })
    }

    /// Drives the run of a call.
    async fn answer_call(&self, run: &mut Run, call: &CallContext) -> Result<String, Failure> {
        let mut agent = self.clone().cancel_with(call.cancellation());
        agent.listener = listener(call, self.listener.clone());
        let decisions = call.decisions().filter_map(|(hold, decision, by)| {
            Some((hold.key()?.to_owned(), decision.clone(), by.to_owned()))
        });
        let decisions: Vec<_> = decisions.collect();
        for (fingerprint, decision, by) in decisions {
            let decided = agent.decide(run, &fingerprint, decision.clone(), &*by);
            match decided.await {
                // Without policies, the program decided by `Run::decide`, so the inner call is decided in the same way.
                Err(AgentError::Decide(DecideError::Denied(DecisionDenied::NoPolicy)))
                    if run.info().owner().is_none() =>
                {
                    run.decide(&self.registry, &fingerprint, decision, by)
                        .map_err(AgentError::Decide)?;
                }
                // The decision was made in an earlier call, or this agent's policy forbids it. In either case the call
                // waits.
                Ok(())
                | Err(AgentError::Decide(DecideError::NotPending | DecideError::Denied(_))) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let outcome = agent.run(run).await?;
        match outcome {
            RunOutcome::Answered(answer) => Ok(answer),
            RunOutcome::Ended(result) => Ok(result.content().to_owned()),
            RunOutcome::Waiting(mut pending) if !pending.is_empty() => {
                let first = pending.swap_remove(0);
                let hold = first.hold().clone();
                Err(ToolError::held(hold, first.fingerprint()).into())
            }
            RunOutcome::Cancelled => Err(ToolError::cancelled(call.tool_name()).into()),
            outcome => Err(Unfinished::describe(&outcome).into()),
        }
    }

    /// Loads the run of a call, or creates it.
    async fn run_of_call(&self, arguments: &Value, call: &CallContext) -> Result<Run, Failure> {
        let outer = call.get::<RunInfo>();
        let owner = outer.and_then(RunInfo::owner);
        let parent = outer.map(RunInfo::id).or(call.idempotency_key());
        let id = match (call.idempotency_key(), outer) {
            (Some(key), _) => format!("{key}/{}", call.tool_name()),
            // Another tool makes this call, and nothing distinguishes it from the next.
            (None, Some(outer)) => format!("{}/{}", outer.id(), random_id()),
            (None, None) => random_id(),
        };
        if let Some(run) = self.load(&id).await? {
            if run.info().owner() != owner || run.info().parent() != parent {
                return Err(format!("the run {id:?} is not one of this call").into());
            }
            return Ok(run);
        }
        let mut builder = Run::builder(id);
        if let Some(outer) = outer {
            builder = builder.meta(outer.meta().clone());
        }
        if let Some(owner) = owner {
            builder = builder.owner(owner);
        }
        if let Some(parent) = parent {
            builder = builder.parent(parent);
        }
        let mut run = builder.build();
        let question = arguments["question"].as_str().unwrap_or_default();
        run.push(self.dialect().user_message(question))?;
        Ok(run)
    }
}

/// Returns a listener that calls the agent's own and passes events on to the calling run.
fn listener(call: &CallContext, own: Option<Listener>) -> Option<Listener> {
    let Some(outer) = call.get::<Caller>().cloned() else {
        return own;
    };
    Some(Arc::new(move |event: &Event| {
        if let Some(own) = &own {
            own(event);
        }
        outer.events.push(Event::Inner {
            position: outer.position.clone(),
            event: Box::new(event.clone()),
        });
    }))
}
