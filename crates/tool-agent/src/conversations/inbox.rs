//! The calls of conversations that wait for decisions.

use tool_core::hooks::{Decision, Inbox, InboxError, WaitingCall};
use tool_core::runtime::BoxFuture;

use super::{ConversationError, Conversations};
use crate::AgentError;
use crate::run::{DecideError, JournalError, Page, RunState};

/// Number of runs that are read at once.
const PAGE: usize = 100;

impl Inbox for Conversations {
    fn waiting(&self, user: &str, limit: usize) -> BoxFuture<Result<Vec<WaitingCall>, InboxError>> {
        let (own, user) = (self.clone(), user.to_owned());
        Box::pin(async move {
            let agent = &own.0.agent;
            let mut found = Vec::new();
            let mut page = Page::new(PAGE);
            while found.len() < limit {
                let heads = agent.in_state(RunState::Waiting, page).await;
                let heads = heads.map_err(|error| inbox_error(error.into()))?;
                let Some(last) = heads.last() else { break };
                page = Page::new(PAGE).after(last);
                for head in &heads {
                    for pending in &head.waiting {
                        if found.len() < limit && agent.may(pending, &user).await {
                            // `decide` splits it at the first space, which no fingerprint contains.
                            let id = format!("{} {}", pending.fingerprint(), head.id);
                            let (owner, hold) = (pending.owner(), pending.hold());
                            found.push(WaitingCall::new(id, owner, hold, head.saved_ms));
                        }
                    }
                }
            }
            Ok(found)
        })
    }

    /// Decides like [`Conversation::decide`](super::Conversation::decide), which lets the conversation go on.
    fn decide(
        &self,
        id: &str,
        decision: Decision,
        user: &str,
    ) -> BoxFuture<Result<(), InboxError>> {
        let (own, id, user) = (self.clone(), id.to_owned(), user.to_owned());
        Box::pin(async move {
            let (fingerprint, run) = id.split_once(' ').ok_or(InboxError::Unknown)?;
            let deciding = own.decide_on(run, fingerprint, decision, &user);
            let decided = deciding.await.map_err(inbox_error)?;
            decided.ok_or(InboxError::Unknown)
        })
    }
}

impl Conversations {
    /// Decides on a call. Returns `None` if the run does not exist.
    async fn decide_on(
        &self,
        run: &str,
        fingerprint: &str,
        decision: Decision,
        user: &str,
    ) -> Result<Option<()>, ConversationError> {
        let is_open = self.slot(run).lock().await.strong_count() > 0;
        // An interrupted conversation continues once it is open. So first the policy is asked, about what is saved.
        if !is_open {
            let agent = &self.0.agent;
            let Some(saved) = agent.load(run).await? else {
                return Ok(None);
            };
            let checked = agent.check_decision(&saved, fingerprint, user).await;
            checked.map_err(AgentError::from)?;
        }
        let Some(conversation) = self.open(run).await? else {
            return Ok(None);
        };
        let deciding = conversation.decide(fingerprint, decision, user);
        deciding.await.map(Some)
    }
}

fn inbox_error(error: ConversationError) -> InboxError {
    match error {
        ConversationError::Agent(AgentError::Decide(error)) => match error {
            DecideError::NotPending => InboxError::Decided,
            DecideError::Denied(denied) => InboxError::Denied(denied),
            other => InboxError::Invalid(other.into()),
        },
        // Another process went on with it.
        ConversationError::Agent(AgentError::Journal(JournalError::Conflict(_))) => {
            InboxError::Decided
        }
        other => InboxError::Failed(other.into()),
    }
}
