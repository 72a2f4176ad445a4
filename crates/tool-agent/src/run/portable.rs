//! [`PortableCall`]: a call on its way to another process.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::RunInfo;
use tool_core::ToolCall;
use tool_core::hooks::{Decision, Hold};

/// A call with everything another process needs to run it: its idempotency key, the decisions on it, and the run's id,
/// owner and data. It has no context values, because the process that runs the call creates its own for the owner.
///
/// Its sender decides which call runs and in whose name, so accept it only from your own programs.
///
/// ```
/// use serde_json::json;
/// use tool_agent::Agent;
/// use tool_agent::run::{PortableCall, Run, RunInfo, Step};
/// use tool_agent::dialects::OpenAiChat;
/// use tool_agent::testing::ScriptedModel;
/// use tool_core::{Registry, tool, tools};
///
/// /// Pays an invoice.
/// #[tool(destructive)]
/// fn pay(invoice: u32, #[param(context)] run: &RunInfo) -> String {
///     format!("{invoice} is paid for {}", run.owner().unwrap_or("nobody"))
/// }
///
/// let registry = Registry::builder().tools(tools![pay]).context_per_call::<RunInfo>().build()?;
/// let model = ScriptedModel::default().call("pay", json!({"invoice": 17}));
/// let agent = Agent::new(registry.clone(), OpenAiChat::default(), model)
///     .contexts(async |_run, call| Ok(call));
/// let mut run = Run::builder("run-1").owner("user-7").build();
/// run.push(agent.dialect().user_message("Pay 17."))?;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// agent.steps(&run)?.respond(&mut run).await?;
/// # Ok::<(), tool_agent::AgentError>(())
/// # })?;
/// let Step::Call(calls) = run.next() else { panic!() };
/// run.start(&calls)?;
///
/// // Send it to the process that has the tool and its own registry, and send the result back.
/// let sent = serde_json::to_string(&PortableCall::new(run.info(), &calls[0]))?;
/// let call = serde_json::from_str::<PortableCall>(&sent)?.into_call();
/// let result = serde_json::to_string(&registry.call_blocking(call))?;
///
/// run.finish(agent.dialect(), serde_json::from_str(&result)?)?;
/// assert_eq!(run.messages().last().unwrap()["content"], "17 is paid for user-7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct PortableCall {
    call: ToolCall,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    decisions: Vec<(Hold, Decision, String)>,
    run: RunInfo,
}

impl PortableCall {
    /// Copies a call of a run.
    pub fn new(run: &RunInfo, call: &ToolCall) -> PortableCall {
        let decisions = call.decisions();
        let decisions = decisions.map(|(hold, decision, by)| {
            let by = by.to_owned();
            (hold.clone(), decision.clone(), by)
        });
        PortableCall {
            decisions: decisions.collect(),
            key: call.key().map(str::to_owned),
            call: call.clone(),
            run: run.clone(),
        }
    }

    /// Returns the call, as the model made it.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// Returns the run's id, owner and data.
    pub fn run(&self) -> &RunInfo {
        &self.run
    }

    /// Returns the idempotency key.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Returns the call with its key and its decisions, and with the [`RunInfo`] and its
    /// [scope](RunInfo::result_scope) as context values.
    pub fn into_call(self) -> ToolCall {
        let PortableCall {
            call,
            key,
            decisions,
            run,
        } = self;
        let mut call = call.with(run.result_scope()).with(run);
        if let Some(key) = key {
            call = call.idempotency_key(key);
        }
        for (hold, decision, by) in decisions {
            call = call.decided_by(hold, decision, by);
        }
        call
    }
}

/// Leaves out the decisions, because their arguments may be secret.
impl fmt::Debug for PortableCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PortableCall")
            .field("call", &self.call)
            .field("key", &self.key)
            .field("run", &self.run)
            .finish_non_exhaustive()
    }
}
