//! Closures of an agent that are not async.

use tool_agent::Agent;

fn settings(agent: Agent) {
    let agent = agent.contexts(|_run, call| Ok(call));
    let _ = agent.may_decide(|request| request.is_owner());
}

fn main() {}
// 2 errors
