//! Runs a call to its end, with confirmations and the decisions of others.

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use tool_core::hooks::Hold;
use tool_core::{Registry, ToolCall};

use super::approvals::{Found, HeldCall, Missing, log};
use super::ask::{Asker, ToolElicitor};
use super::request::named;
use super::result::{Purpose, finished};
use super::store::StoreError;
use super::tasks::Finished;

/// Runs a call to its end. Asks its user whether to run it if a hook wants a confirmation, and looks for
/// another user's decision if a hook holds it. A caller never decides on a hold, and a user without a name
/// decides on nothing.
pub(super) async fn run_call(
    purpose: Purpose,
    registry: &Registry,
    call: ToolCall,
    asker: &Arc<Asker>,
    waiting: Result<&Arc<HeldCall>, &Missing>,
) -> Finished {
    let mut call = call.elicit_with(Arc::new(ToolElicitor(asker.clone())));
    if let Ok(waiting) = waiting {
        call = waiting.guard(call);
    }
    loop {
        // Only calls that hooks or their tools hold are made again.
        let again = (waiting.is_ok() || registry.has_before_hooks()).then(|| call.clone());
        let result = registry.call(call).await;
        let hold = result.error().and_then(|error| error.hold()).cloned();
        let Some(hold) = hold else {
            if let Ok(waiting) = waiting {
                waiting.end().await;
            }
            return finished(result, Some(asker), purpose);
        };
        let Some(again) = again else {
            return Ok(not_approved(&hold, Missing::Approvals));
        };
        call = if hold.is_confirmation() {
            let Some(user) = named(&again).cloned() else {
                return Ok(not_approved(&hold, Missing::User));
            };
            match asker.decide(&hold).await {
                Ok(decision) => again.decided_by(hold, decision, user.as_str()),
                // The result says that the call needs approval.
                Err(_) => return finished(result, Some(asker), purpose),
            }
        } else {
            let waiting = match waiting {
                Ok(waiting) => waiting,
                Err(missing) => return Ok(not_approved(&hold, *missing)),
            };
            match find_decision(again, &hold, waiting, asker).await {
                Ok(call) => call,
                Err(result) => return Ok(result),
            }
        };
    }
}

/// Returns a call with the decision on its hold, for which a task waits. Without one, returns a result that says so.
async fn find_decision(
    call: ToolCall,
    hold: &Hold,
    waiting: &Arc<HeldCall>,
    asker: &Arc<Asker>,
) -> Result<ToolCall, Box<CallToolResult>> {
    // Before the first look, so that no decision is missed.
    let mut changed = waiting.changed();
    loop {
        let id = match waiting.find(call.clone(), hold).await {
            Ok(Found::Decided(call)) => {
                if let Some(task) = asker.task() {
                    task.set_message(None);
                }
                return Ok(*call);
            }
            Ok(Found::Waiting(id)) => id,
            Err(error) => return Err(not_asked(hold, &error)),
        };
        let Some(task) = asker.task() else {
            let text = format!(
                "{} was not run: it waits for approval {id}: {}. Somebody else decides. Make the same call with the \
                 same arguments later to get the result.",
                hold.tool(),
                hold.reason()
            );
            let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
            let mut meta = MetaObject::default();
            meta.insert(APPROVAL.into(), id.into());
            result.meta = Some(meta);
            return Err(Box::new(result));
        };
        task.set_message(Some(&format!("waits for approval {id}")));
        changed.wait(&id).await;
    }
}

/// The key of the id of an approval in the metadata of a result.
const APPROVAL: &str = "tool-core/approval";

/// Returns the result of a held call that nobody can approve.
fn not_approved(hold: &Hold, missing: Missing) -> Box<CallToolResult> {
    let text = format!(
        "{} was not run: it needs approval: {}. Nobody can approve it here, so don't repeat the call. (For the developer of \
         the server: {}.)",
        hold.tool(),
        hold.reason(),
        missing.advice()
    );
    Box::new(CallToolResult::error(vec![ContentBlock::text(text)]))
}

/// Returns the result of a held call that can't wait at the moment.
fn not_asked(hold: &Hold, error: &StoreError) -> Box<CallToolResult> {
    let problem = match error {
        StoreError::Full => "too many calls wait for approval",
        StoreError::Failed(_) => {
            log(error);
            "nobody can be asked for approval at the moment"
        }
    };
    let text = format!(
        "{} was not run: it needs approval: {}. But {problem}; try again later.",
        hold.tool(),
        hold.reason()
    );
    Box::new(CallToolResult::error(vec![ContentBlock::text(text)]))
}
